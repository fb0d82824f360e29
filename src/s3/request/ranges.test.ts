import assert from 'node:assert/strict'
import { test } from 'node:test'
import { S3Error } from '../errors.ts'
import { contentRange, readCopyRange, readRange } from './ranges.ts'

test('a range is first to last, open, or a suffix, and ends with the object', () => {
  assert.deepEqual(readRange('bytes=0-0', 10), { start: 0, end: 0 })
  assert.deepEqual(readRange('bytes=2-5', 10), { start: 2, end: 5 })
  assert.deepEqual(readRange('bytes=2-', 10), { start: 2, end: 9 })
  assert.deepEqual(readRange('bytes=2-100', 10), { start: 2, end: 9 })
  assert.deepEqual(readRange('bytes=-3', 10), { start: 7, end: 9 })
  assert.deepEqual(readRange('bytes=-100', 10), { start: 0, end: 9 })
  assert.deepEqual(readRange('BYTES=1-2', 10), { start: 1, end: 2 })
  assert.deepEqual(readRange(`bytes=0-${'9'.repeat(400)}`, 10), { start: 0, end: 9 })
})

test('no range, a malformed one, another unit, and several are the whole object', () => {
  const headers = [
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=5-2',
    'bytes= 1-2',
    'bytes=1 -2',
    'bytes= -1',
    'items=0-1',
    'bytes=0-1,3-4',
    '0-1',
  ]
  for (const header of headers) assert.equal(readRange(header, 10), undefined, header)
})

test('a range past the end answers 416 with the size', () => {
  for (const [header, size] of [
    ['bytes=10-', 10],
    ['bytes=10-20', 10],
    ['bytes=-0', 10],
    ['bytes=0-', 0],
    ['bytes=-1', 0],
  ] as const) {
    assert.throws(
      () => readRange(header, size),
      (error) =>
        error instanceof S3Error &&
        error.code === 'InvalidRange' &&
        error.status === 416 &&
        error.headers['Content-Range'] === `bytes */${size}` &&
        error.fields['ActualObjectSize'] === String(size),
    )
  }
})

test('a copy range must have both ends within the source', () => {
  assert.equal(readCopyRange(undefined, 10), undefined)
  assert.deepEqual(readCopyRange('bytes=0-9', 10), { start: 0, end: 9 })
  for (const bad of ['bytes=0-10', 'bytes=5-', 'bytes=-5', 'bytes=3-2', 'x', 'bytes=0-1,2-3']) {
    assert.throws(() => readCopyRange(bad, 10), { code: 'InvalidArgument' }, bad)
  }
})

test('Content-Range names both ends and the size', () => {
  assert.equal(contentRange({ start: 2, end: 5 }, 10), 'bytes 2-5/10')
})
