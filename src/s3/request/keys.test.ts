import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyText } from '../../../test/support/any-text.ts'
import {
  bucketNameProblem,
  checkBucketName,
  findHostBucket,
  readCopySource,
  readTarget,
  splitTarget,
  urlEncodedKey,
} from './keys.ts'

function keyOf(rawPath: string): string | undefined {
  return readTarget(rawPath).key?.toString('utf8')
}

test('a target is split at the first question mark, an absolute one loses its origin', () => {
  assert.deepEqual(splitTarget('/b/k?a=1?2'), { rawPath: '/b/k', rawQuery: 'a=1?2' })
  assert.deepEqual(splitTarget('http://host:80/b?acl'), { rawPath: '/b', rawQuery: 'acl' })
  assert.deepEqual(splitTarget('https://host?x'), { rawPath: '/', rawQuery: 'x' })
})

test('a path names the service, a bucket, or an object', () => {
  assert.deepEqual(readTarget('/'), {})
  assert.deepEqual(readTarget('/bucket'), { bucket: 'bucket' })
  assert.deepEqual(readTarget('/bucket/'), { bucket: 'bucket' })
  assert.deepEqual(readTarget('/bucket/k'), { bucket: 'bucket', key: Buffer.from('k') })
})

test('slashes and dots in a key are just characters', () => {
  for (const key of ['a//b', '/a', '//', 'x/../y/./z', '..', '.', 'dir/', 'fd', 'fd/x']) {
    assert.equal(keyOf(`/bucket/${key}`), key)
  }
})

test('a key is decoded exactly once, and a plus is a plus', () => {
  assert.equal(keyOf('/bucket/a%2Fb%252F+%20%e2%82%ac'), 'a/b%2F+ €')
  assert.equal(keyOf('/bucket%2Fkey'), 'key')
})

test('any key that is encoded in a path comes back byte for byte', () => {
  fc.assert(
    fc.property(anyText({ minLength: 1, maxLength: 100 }), (key) => {
      fc.pre(!key.includes('\u0000'))
      assert.equal(keyOf(`/bucket/${urlEncodedKey(Buffer.from(key))}`), key)
    }),
  )
})

test('bad percent encoding, bad UTF-8 and NUL are InvalidURI', () => {
  for (const path of ['/b/%', '/b/%4', '/b/%zz', '/b/%ff', '/b/%00', '/b/%c0%af', '/b/%ed%a0%80', '/%ff/k', 'b/k']) {
    assert.throws(() => readTarget(path), { code: 'InvalidURI' }, path)
  }
})

test('a key of 1,024 bytes is fine and one more is KeyTooLongError', () => {
  assert.equal(keyOf(`/b/${'%41'.repeat(1024)}`)?.length, 1024)
  assert.throws(() => keyOf(`/b/${'a'.repeat(1025)}`), { code: 'KeyTooLongError' })
  assert.throws(() => keyOf(`/b/${'é'.repeat(513)}`.replaceAll('é', '%C3%A9')), { code: 'KeyTooLongError' })
})

test('a host below the name of a server names the bucket, and the whole path is the key', () => {
  const domains = [{ name: 's3.example.com', isVirtualHosted: true }]
  const read = (rawPath: string, host: string): unknown => readTarget(rawPath, findHostBucket(host, domains))
  assert.deepEqual(read('/a/b', 'bucket.s3.example.com:9000'), { bucket: 'bucket', key: Buffer.from('a/b') })
  assert.deepEqual(read('/', 'my.bucket.S3.Example.com.'), { bucket: 'my.bucket' })
  assert.deepEqual(read('/a/b', 's3.example.com'), { bucket: 'a', key: Buffer.from('b') })
  assert.deepEqual(read('//b', 'bucket.s3.example.com'), { bucket: 'bucket', key: Buffer.from('/b') })
  assert.deepEqual(read('/a', 'bucket.other.com'), { bucket: 'a' })
  assert.deepEqual(read('/a', 'evils3.example.com'), { bucket: 'a' })
})

test('the name of a server is no bucket of another one, and of several domains the longest counts', () => {
  const domains = [
    { name: 'example.com', isVirtualHosted: true },
    { name: 'S3.example.com.', isVirtualHosted: true },
    { name: 'path.example.com', isVirtualHosted: false },
  ]
  const bucket = (host: string): string | undefined => findHostBucket(host, domains)
  assert.equal(bucket('s3.example.com:80'), undefined)
  assert.equal(bucket('path.example.com'), undefined)
  assert.equal(bucket('example.com'), undefined)
  assert.equal(bucket('.example.com'), undefined)
  assert.equal(bucket('b.s3.example.com.:80'), 'b')
  assert.equal(bucket('b.example.com'), 'b')
  assert.equal(bucket(''), undefined)
})

test('an empty bucket with a key is refused', () => {
  assert.throws(() => readTarget('//key'), { code: 'InvalidBucketName' })
})

test('bucket names follow the rules of Amazon', () => {
  for (const good of ['abc', 'a1b', 'my-bucket.v2', '1234', 'a'.repeat(63)])
    assert.equal(bucketNameProblem(good), undefined, good)
  const bad = [
    '',
    'ab',
    'a'.repeat(64),
    'Abc',
    'a_b',
    '-abc',
    'abc-',
    '.abc',
    'abc.',
    'a..b',
    'a.-b',
    'a-.b',
    '1.2.3.4',
    'a b',
    'é12',
  ]
  for (const name of bad) assert.throws(() => checkBucketName(name), { code: 'InvalidBucketName' }, name)
})

test('a copy source is decoded once, with or without a leading slash, with a version', () => {
  assert.deepEqual(readCopySource('/bucket/a%20b%3F+c'), {
    bucket: 'bucket',
    key: Buffer.from('a b?+c'),
    versionId: undefined,
  })
  assert.deepEqual(readCopySource('bucket%2Fkey?versionId=null'), {
    bucket: 'bucket',
    key: Buffer.from('key'),
    versionId: 'null',
  })
  for (const bad of ['', '/', 'bucket', 'bucket/', '/bucket/', 'bucket/key?x=1']) {
    assert.throws(() => readCopySource(bad), { code: 'InvalidArgument' }, bad)
  }
})
