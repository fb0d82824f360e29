import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { formBoundary, formFieldsBytesMax, readForm } from './form.ts'
import { headersOf } from '../request/headers.ts'

const field = (name: string, value: string): string =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const file = (bytes: string, name = 'cat.jpg'): string =>
  `--b\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: image/jpeg\r\n\r\n${bytes}\r\n`

async function* pieces(text: string, size: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text, 'latin1')
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size))
}

async function read(text: string, size = 1000): Promise<{ fields: unknown; fileName: string; bytes: string }> {
  const form = await readForm(pieces(text, size), 'b')
  let bytes = ''
  for await (const piece of form.file) bytes += piece.toString('latin1')
  return { fields: Object.fromEntries(form.fields), fileName: form.fileName, bytes }
}

const code = (wanted: string) => (error: unknown) => {
  assert.equal((error as { code?: string }).code, wanted)
  return true
}

test('a form is read the same however it is cut in pieces', async () => {
  const content = fc.string({ unit: fc.constantFrom('\r', '\n', '-', 'b', 'x', '\r\n--', '\u00ff'), maxLength: 200 })
  await fc.assert(
    fc.asyncProperty(content, content, fc.integer({ min: 1, max: 90 }), async (value, bytes, size) => {
      fc.pre(!`\r\n${value}\r\n`.includes('\r\n--b') && !`\r\n${bytes}\r\n`.includes('\r\n--b'))
      fc.pre(!value.includes('\u00ff'))
      const found = await read(`${field('Key', value)}${file(bytes)}--b--\r\n`, size)
      assert.deepEqual(found, { fields: { key: value }, fileName: 'cat.jpg', bytes })
    }),
    { numRuns: 500 },
  )
})

test('text before the first boundary and behind the last one does not count', async () => {
  const found = await read(`preamble\r\n${field('key', 'k')}${file('x')}--b--  \r\nepilogue`, 3)
  assert.deepEqual(found, { fields: { key: 'k' }, fileName: 'cat.jpg', bytes: 'x' })
})

test('of the name of the file only the last part of a path is kept', async () => {
  assert.equal((await read(`${file('', 'C:\\pictures\\cat.jpg')}--b--`)).fileName, 'cat.jpg')
  assert.equal((await read(`${file('', '/folder/of/a/user/a%22b.jpg')}--b--`)).fileName, 'a"b.jpg')
})

test('a form needs exactly one file, and one field of a name', async () => {
  await assert.rejects(read(`${field('key', 'k')}--b--`), code('InvalidArgument'))
  await assert.rejects(read(`${file('1')}${file('2')}--b--`), code('InvalidArgument'))
  await assert.rejects(read(`${field('a', '1')}${field('A', '2')}${file('')}--b--`), code('MalformedPOSTRequest'))
})

test('fields behind the file are passed over', async () => {
  assert.deepEqual((await read(`${file('1')}${field('key', 'late')}--b--`)).fields, {})
})

test('a form that ends too early is refused, its file too', async () => {
  for (const text of ['--b', `${field('key', 'k')}--b\r\nContent-`, file('1'), `${file('1')}--b`]) {
    await assert.rejects(read(text), code('IncompleteBody'), text)
  }
})

test('fields and headers are bounded', async () => {
  const long = 'x'.repeat(formFieldsBytesMax)
  await assert.rejects(read(`${field('key', long)}${file('')}--b--`), code('MaxPostPreDataLengthExceededError'))
  await assert.rejects(read(long.repeat(2)), code('MaxPostPreDataLengthExceededError'))
  await assert.rejects(read(`--b\r\nX: ${long}`), code('MalformedPOSTRequest'))
  await assert.rejects(read(`${file('x')}--b--${long.repeat(2)}`), code('MalformedPOSTRequest'))
})

test('the boundary is that of the content type', () => {
  const boundary = (type: string): string => formBoundary(headersOf({ 'Content-Type': type }))
  assert.equal(boundary('multipart/form-data; boundary=----Web'), '----Web')
  assert.equal(boundary('multipart/form-data; charset=utf-8; boundary="a b"'), 'a b')
  assert.throws(() => boundary('multipart/form-data'), code('MalformedPOSTRequest'))
  assert.throws(() => boundary('application/x-www-form-urlencoded'), code('PreconditionFailed'))
})
