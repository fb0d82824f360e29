import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3'
import type { CopyObjectCommandOutput, PutObjectCommandOutput, S3ServiceException } from '@aws-sdk/client-s3'
import { otherVolume, send, startTestPlane, volumeBytes } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'objects'
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
  await t.addBucket('other', { volume: otherVolume })
  await t.addBucket('small', { limitBytes: 1000 })
})
after(() => t.close())

function put(Key: string, Body: string | Buffer, more: object = {}): Promise<PutObjectCommandOutput> {
  return t.s3.send(new PutObjectCommand({ Bucket, Key, Body, ...more }))
}

async function read(Key: string, more: object = {}): Promise<string> {
  const { Body } = await t.s3.send(new GetObjectCommand({ Bucket, Key, ...more }))
  return (await Body?.transformToString()) ?? ''
}

function failing(code: string, status: number): (failure: S3ServiceException) => true {
  return (failure) => {
    assert.equal(failure.name, code)
    assert.equal(failure.$metadata.httpStatusCode, status)
    return true
  }
}

test('keys are bytes: dots, double slashes, blanks, plus signs and letters of any kind come back as they were', async () => {
  const named = [
    'a//b',
    'x/../y',
    './z',
    'dir/',
    'a+b c%d&e=f',
    'ä/日本/🎉 ?#',
    'fd',
    'fd/x',
    'k'.repeat(1024),
    '%00',
    '"<>&\'',
  ]
  for (const key of named) {
    await put(key, key)
    assert.equal(await read(key), key)
  }
})

test('a key of 1,025 bytes is KeyTooLongError, one with a NUL is InvalidURI', async () => {
  await assert.rejects(put('k'.repeat(1025), ''), failing('KeyTooLongError', 400))
  const { status, text } = await send(t, 'PUT', `/${Bucket}/a%00b`, { body: 'x' })
  assert.equal(status, 400)
  assert.match(text, /<Code>InvalidURI<\/Code>/)
})

test('an empty object has no blob and reads as nothing', async () => {
  const before = (await t.blobs()).length
  await put('empty', '')
  assert.equal((await t.blobs()).length, before)
  assert.equal(await read('empty'), '')
})

test('a range is 206 with what was asked for, and 416 past the end', async () => {
  await put('ten', '0123456789')
  const got = await t.s3.send(new GetObjectCommand({ Bucket, Key: 'ten', Range: 'bytes=2-4' }))
  assert.equal(got.$metadata.httpStatusCode, 206)
  assert.equal(got.ContentRange, 'bytes 2-4/10')
  assert.equal(await got.Body?.transformToString(), '234')
  assert.equal(await read('ten', { Range: 'bytes=-3' }), '789')
  await assert.rejects(read('ten', { Range: 'bytes=10-' }), failing('InvalidRange', 416))
  assert.equal(await read('ten', { PartNumber: 1 }), '0123456789')
  await assert.rejects(read('ten', { PartNumber: 2 }), failing('InvalidPartNumber', 416))
})

test('conditions on reads answer 304 and 412', async () => {
  const { ETag } = await put('when', 'x')
  await assert.rejects(read('when', { IfNoneMatch: ETag }), (failure: S3ServiceException) => {
    assert.equal(failure.$metadata.httpStatusCode, 304)
    return true
  })
  await assert.rejects(read('when', { IfMatch: '"other"' }), failing('PreconditionFailed', 412))
  assert.equal(await read('when', { IfMatch: ETag }), 'x')
  await assert.rejects(read('absent', { IfNoneMatch: '*' }), failing('NoSuchKey', 404))
})

test('HeadObject of an absent key is 404 without a body', async () => {
  await assert.rejects(t.s3.send(new HeadObjectCommand({ Bucket, Key: 'absent' })), failing('NotFound', 404))
  const { status, headers, text } = await send(t, 'HEAD', `/${Bucket}/absent`)
  assert.equal(status, 404)
  assert.equal(text, '')
  assert.match(String(headers['x-amz-request-id']), /^[0-9A-F]{16}$/)
})

test('of many writers with If-None-Match: * exactly one succeeds', async () => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 16 }, (_, at) => put('once', `writer ${at}`, { IfNoneMatch: '*' })),
  )
  const refused = outcomes.filter((one) => one.status === 'rejected')
  assert.equal(refused.length, 15)
  for (const { reason } of refused) failing('PreconditionFailed', 412)(reason as S3ServiceException)
})

test('If-Match wants the current object: 412 for another, 404 for none', async () => {
  const { ETag } = await put('guarded', '1')
  await assert.rejects(put('guarded', '2', { IfMatch: '"abc"' }), failing('PreconditionFailed', 412))
  await put('guarded', '2', { IfMatch: ETag })
  await assert.rejects(put('nothing', '2', { IfMatch: ETag }), failing('NoSuchKey', 404))
  const remove = (IfMatch: string | undefined): Promise<unknown> =>
    t.s3.send(new DeleteObjectCommand({ Bucket, Key: 'guarded', IfMatch }))
  await assert.rejects(remove(ETag), failing('PreconditionFailed', 412))
  await remove('*')
  await assert.rejects(read('guarded'), failing('NoSuchKey', 404))
})

test('a body that is not what its headers say is refused and leaves nothing', async () => {
  const blobs = (await t.blobs()).length
  const cases: [string, Record<string, string>, string?][] = [
    ['BadDigest', { 'content-md5': createHash('md5').update('other').digest('base64') }],
    ['InvalidDigest', { 'content-md5': 'abc' }],
    ['BadDigest', { 'x-amz-checksum-crc32': 'AAAAAA==' }],
    ['InvalidRequest', { 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-checksum-crc32c': 'AAAAAA==' }],
    ['XAmzContentSHA256Mismatch', {}, 'f'.repeat(64)],
  ]
  for (const [code, headers, hash] of cases) {
    const { status, text } = await send(t, 'PUT', `/${Bucket}/bad`, {
      body: 'body',
      headers,
      ...(hash === undefined ? {} : { hash }),
    })
    assert.equal(status, 400)
    assert.match(text, new RegExp(`<Code>${code}</Code>`))
  }
  assert.equal((await t.blobs()).length, blobs)
  await assert.rejects(read('bad'), failing('NoSuchKey', 404))
})

test('a stream of known length is taken without Content-Length, one of unknown length is 411', async () => {
  const bytes = randomBytes(300_000)
  const stream = (): Readable => Readable.from([bytes.subarray(0, 100_000), bytes.subarray(100_000)])
  await t.s3.send(new PutObjectCommand({ Bucket, Key: 'stream', Body: stream(), ContentLength: bytes.length }))
  const { Body } = await t.s3.send(new GetObjectCommand({ Bucket, Key: 'stream' }))
  assert.ok(bytes.equals((await Body?.transformToByteArray()) ?? new Uint8Array()))
  const endless = await send(t, 'PUT', `/${Bucket}/stream`, { headers: { 'transfer-encoding': 'chunked' } })
  assert.equal(endless.status, 411)
})

test('a copy shares its bytes with the source, and outlives it', async () => {
  await put('source', 'copied', { Metadata: { from: 'source' }, ContentType: 'text/plain' })
  const blobs = (await t.blobs()).length
  const copy = await t.s3.send(new CopyObjectCommand({ Bucket, Key: 'copy', CopySource: `${Bucket}/source` }))
  assert.equal((await t.blobs()).length, blobs)
  assert.match(copy.CopyObjectResult?.ETag ?? '', /^"[0-9a-f]{32}"$/)
  await t.s3.send(new DeleteObjectCommand({ Bucket, Key: 'source' }))
  const got = await t.s3.send(new GetObjectCommand({ Bucket, Key: 'copy' }))
  assert.equal(await got.Body?.transformToString(), 'copied')
  assert.deepEqual([got.Metadata, got.ContentType], [{ from: 'source' }, 'text/plain'])
})

test('a copy into another volume moves the bytes', async () => {
  await put('near', 'far away')
  const blobs = (await t.blobs()).length
  await t.s3.send(new CopyObjectCommand({ Bucket: 'other', Key: 'far', CopySource: `${Bucket}/near` }))
  assert.equal((await t.blobs()).length, blobs + 1)
  assert.equal(
    await (await t.s3.send(new GetObjectCommand({ Bucket: 'other', Key: 'far' }))).Body?.transformToString(),
    'far away',
  )
})

test('a copy can replace metadata and compute another checksum; onto itself it must change something', async () => {
  await put('self', 'me', { Metadata: { a: '1' } })
  const copy = (more: object): Promise<CopyObjectCommandOutput> =>
    t.s3.send(new CopyObjectCommand({ Bucket, Key: 'self', CopySource: `${Bucket}/self`, ...more }))
  await assert.rejects(copy({}), failing('InvalidRequest', 400))
  await copy({ MetadataDirective: 'REPLACE', Metadata: { b: '2' } })
  assert.deepEqual((await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'self' }))).Metadata, { b: '2' })
  const { CopyObjectResult } = await copy({ ChecksumAlgorithm: 'SHA256' })
  assert.equal(CopyObjectResult?.ChecksumSHA256, createHash('sha256').update('me').digest('base64'))
  await assert.rejects(
    copy({ MetadataDirective: 'REPLACE', CopySourceIfMatch: '"x"' }),
    failing('PreconditionFailed', 412),
  )
  await assert.rejects(
    t.s3.send(new CopyObjectCommand({ Bucket, Key: 'c', CopySource: `${Bucket}/absent` })),
    failing('NoSuchKey', 404),
  )
  await put('taken', '')
  await assert.rejects(
    t.s3.send(new CopyObjectCommand({ Bucket, Key: 'taken', CopySource: `${Bucket}/self`, IfNoneMatch: '*' })),
    failing('PreconditionFailed', 412),
  )
})

test('DeleteObjects tells for each key what became of it', async () => {
  await put('d1', '1')
  const { ETag } = await put('d2', '2')
  const { Deleted, Errors } = await t.s3.send(
    new DeleteObjectsCommand({
      Bucket,
      Delete: {
        Objects: [{ Key: 'd1' }, { Key: 'd2', ETag: '"other"' }, { Key: 'absent' }, { Key: 'k'.repeat(1025) }],
      },
    }),
  )
  assert.deepEqual(
    Deleted?.map((one) => one.Key),
    ['d1', 'absent'],
  )
  assert.deepEqual(
    Errors?.map((one) => one.Code),
    ['PreconditionFailed', 'KeyTooLongError'],
  )
  const quiet = await t.s3.send(
    new DeleteObjectsCommand({ Bucket, Delete: { Quiet: true, Objects: [{ Key: 'd2', ETag: ETag ?? '' }] } }),
  )
  assert.equal(quiet.Deleted, undefined)
  await assert.rejects(read('d2'), failing('NoSuchKey', 404))
})

test('DeleteObjects needs a checksum, a well-formed document, and at most 1,000 keys', async () => {
  const post = (body: string, headers: Record<string, string>): ReturnType<typeof send> =>
    send(t, 'POST', `/${Bucket}?delete`, { body, headers })
  const document = (count: number): string => `<Delete>${'<Object><Key>x</Key></Object>'.repeat(count)}</Delete>`
  const md5 = (body: string): Record<string, string> => ({
    'content-md5': createHash('md5').update(body).digest('base64'),
  })
  assert.match((await post(document(1), {})).text, /<Code>InvalidRequest<\/Code>/)
  assert.match((await post(document(1001), md5(document(1001)))).text, /<Code>MalformedXML<\/Code>/)
  assert.match((await post('<Delete><Obj', md5('<Delete><Obj'))).text, /<Code>MalformedXML<\/Code>/)
  assert.equal((await post(document(1000), md5(document(1000)))).status, 200)
})

test('a full bucket refuses before the body is sent, and parallel writers never overfill it', async () => {
  const into = (Key: string, size: number): Promise<unknown> =>
    t.s3.send(new PutObjectCommand({ Bucket: 'small', Key, Body: Buffer.alloc(size) }))
  await assert.rejects(into('big', 1001), failing('QuotaExceeded', 403))
  const outcomes = await Promise.allSettled(Array.from({ length: 8 }, (_, at) => into(`part${at}`, 300)))
  assert.equal(outcomes.filter((one) => one.status === 'fulfilled').length, 3)
  const blobs = (await t.blobs()).length
  await assert.rejects(into('one more', 200), failing('QuotaExceeded', 403))
  assert.equal((await t.blobs()).length, blobs)
  // What is replaced makes room.
  const kept = ['part0', 'part1', 'part2', 'part3', 'part4', 'part5', 'part6', 'part7']
  const there = kept[outcomes.findIndex((one) => one.status === 'fulfilled')] ?? ''
  await into(there, 400)
})

test('a full volume refuses, parallel writers never overfill it, and what was refused leaves no blob', async () => {
  const limit = (sizeBytes: number): Promise<unknown> =>
    t.catalog.commit([{ do: 'resize-volume', volume: otherVolume, sizeBytes }])
  const used = (await t.catalog.volume(otherVolume))?.usedBytes ?? 0
  await limit(used + 1000)
  const blobs = (await t.blobs()).length
  const outcomes = await Promise.allSettled(
    Array.from({ length: 8 }, (_, at) =>
      t.s3.send(new PutObjectCommand({ Bucket: 'other', Key: `full${at}`, Body: Buffer.alloc(300) })),
    ),
  )
  assert.equal(outcomes.filter((one) => one.status === 'fulfilled').length, 3)
  for (const one of outcomes)
    if (one.status === 'rejected') failing('QuotaExceeded', 403)(one.reason as S3ServiceException)
  assert.equal((await t.blobs()).length, blobs + 3)
  await limit(volumeBytes)
})

test('an object beyond 5 GiB or beyond the volume is refused by its announced size', async () => {
  const announce = (size: number): ReturnType<typeof send> =>
    send(t, 'PUT', `/${Bucket}/huge`, { headers: { 'content-length': String(size), expect: '100-continue' } })
  assert.match((await announce(5 * 2 ** 30 + 1)).text, /<Code>EntityTooLarge<\/Code>/)
  assert.match((await announce(volumeBytes + 1)).text, /<Code>QuotaExceeded<\/Code>/)
})

test('what is not built is refused by its name, not ignored', async () => {
  await assert.rejects(put('enc', 'x', { ServerSideEncryption: 'AES256' }), failing('NotImplemented', 501))
  await assert.rejects(put('acl', 'x', { ACL: 'public-read' }), failing('AccessControlListNotSupported', 400))
  await assert.rejects(put('acl', 'x', { ACL: 'bucket-owner-read' }), failing('AccessControlListNotSupported', 400))
  for (const Key of ['enc', 'acl']) await assert.rejects(read(Key), failing('NoSuchKey', 404))
  await put('acl', 'x', { ACL: 'bucket-owner-full-control' })
  const { status, text } = await send(t, 'POST', `/${Bucket}/acl?restore`, { body: '' })
  assert.equal(status, 501)
  assert.match(text, /RestoreObject is not implemented/)
})

test('every checksum that was sent comes back in checksum mode, and CRC64NVME when none was', async () => {
  for (const ChecksumAlgorithm of ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const) {
    await put('sum', 'sum', { ChecksumAlgorithm })
    const head = await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'sum', ChecksumMode: 'ENABLED' }))
    assert.ok(head[`Checksum${ChecksumAlgorithm}`])
    assert.equal(head.ChecksumType, 'FULL_OBJECT')
    assert.equal(await read('sum', { ChecksumMode: 'ENABLED' }), 'sum')
  }
  const { headers } = await send(t, 'PUT', `/${Bucket}/none`, { body: '123456789' })
  assert.equal(headers['x-amz-checksum-crc64nvme'], 'rosUhgp5mIg=')
})
