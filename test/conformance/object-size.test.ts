/** Section 8 of the specification: how large an object may be, and how a server is told to take larger ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3'
import { BothSides, outcomeOf, until } from './both-sides.ts'
import { announce } from './raw.ts'
import { GB, openTarget, TB } from './target.ts'

const MB = 2 ** 20
const target = await openTarget()
const both = await BothSides.of(target)
const { s3, service } = both

/** What a request that announces so many bytes is told before it sends them. */
async function announced(path: string, bytes: number, query = ''): Promise<string> {
  const { status, text } = await announce(target, path, bytes, query)
  if (status === 100) return 'continue'
  const max = /<MaxSizeAllowed>(.*)<\/MaxSizeAllowed>/.exec(text)?.[1]
  return `${/<Code>(.*)<\/Code>/.exec(text)?.[1] ?? status}${max === undefined ? '' : ` ${max}`}`
}

async function withLimit(bytes: number | string, run: () => Promise<void>): Promise<void> {
  await both.patch(service, { object_size_max: bytes })
  try {
    await run()
  } finally {
    await both.patch(service, { object_size_max: 5 * GB })
  }
}

test('8 an object has at most 5 GiB, and what is announced larger is refused before its body', async () => {
  assert.equal((await both.shown(service, 'object_size_max'))['object_size_max'], 5 * GB)
  await both.withBucket(async ({ name }) => {
    assert.equal(await announced(`/${name}/large`, 6 * GB), `EntityTooLarge ${5 * GB}`)
    assert.equal(await announced(`/${name}/small`, 6), 'continue')
  })
})

test('8 parts do not make it larger, unless the server is told so', async () => {
  await both.withBucket(async ({ name }) => {
    const upload = { Bucket: name, Key: 'parts' }
    const { UploadId = '' } = await s3.send(new CreateMultipartUploadCommand(upload))
    await s3.send(new UploadPartCommand({ ...upload, UploadId, PartNumber: 1, Body: Buffer.alloc(5 * MB) }))
    const second = () => announced(`/${name}/parts`, 5 * GB, `partNumber=2&uploadId=${encodeURIComponent(UploadId)}`)
    assert.equal(await second(), `EntityTooLarge ${5 * GB}`)
    await withLimit('5t', async () => {
      await until('done', async () => assert.notEqual(await second(), `EntityTooLarge ${5 * GB}`))
      assert.match(await second(), /^continue$|^QuotaExceeded$/, 'room is another matter')
      assert.equal(
        await announced(`/${name}/large`, 6 * GB),
        `EntityTooLarge ${5 * GB}`,
        'one request has its own limit',
      )
    })
    await s3.send(new AbortMultipartUploadCommand({ ...upload, UploadId }))
  })
})

test('8 a server may take only smaller objects', async () => {
  await both.withBucket(async ({ name }) => {
    const put = (bytes: number) =>
      s3.send(new PutObjectCommand({ Bucket: name, Key: 'small', Body: Buffer.alloc(bytes) }))
    await s3.send(new PutObjectCommand({ Bucket: name, Key: 'large', Body: Buffer.alloc(1001) }))
    await withLimit(1000, async () => {
      await until('EntityTooLarge', () => put(1001))
      await put(1000)
      const copy = { Bucket: name, Key: 'copy', CopySource: `${name}/large` }
      assert.equal(await outcomeOf(s3.send(new CopyObjectCommand(copy))), 'EntityTooLarge', 'also where no byte moves')
      assert.equal(await announced(`/${name}/small`, 1001), 'EntityTooLarge 1000')
    })
    await withLimit('6m', async () => {
      await until('done', () => put(1001))
      const upload = { Bucket: name, Key: 'parts' }
      const { UploadId } = await s3.send(new CreateMultipartUploadCommand(upload))
      const part = (PartNumber: number, bytes: number) =>
        s3.send(new UploadPartCommand({ ...upload, UploadId, PartNumber, Body: Buffer.alloc(bytes) }))
      await part(1, 5 * MB)
      assert.equal(await outcomeOf(part(2, MB + 1)), 'EntityTooLarge')
      const Parts = [await part(1, 5 * MB), await part(2, MB)].map(({ ETag }, at) => ({ ETag, PartNumber: at + 1 }))
      await both.patch(service, { object_size_max: '5m' })
      const complete = () =>
        s3.send(new CompleteMultipartUploadCommand({ ...upload, UploadId, MultipartUpload: { Parts } }))
      await until('EntityTooLarge', complete)
      await s3.send(new AbortMultipartUploadCommand({ ...upload, UploadId }))
    })
  })
})

test('8 the limit is at least a byte and at most 5 TiB', async () => {
  for (const object_size_max of [0, 5 * TB + 1]) {
    assert.equal((await target.api.call('PATCH', service, { object_size_max })).status, 422)
  }
})
