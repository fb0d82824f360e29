/** Many writers at the edge of a bucket, over several worker processes: never more than its size, never less than fits. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { CreateBucketCommand, DeleteObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { asNumber, asText, recordsOf } from '../support/body.ts'
import { basic } from '../support/cluster.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { listAll, sdkFor } from './sdk.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const WRITERS = 8
const OBJECT_BYTES = 100_000
const timeout = 120_000

const skip = reasonUnlessWhole('test/simulation/volumes-model.test.ts')
describeUnless(skip, 'at the edge of a bucket', {}, () => {
  let product: Product
  let api: RestClient
  let writers: S3Client[] = []

  before(async () => {
    product = await startProduct({ environment: { HOLDFAST_WORKERS: '3' } })
    api = new RestClient(product.management, basic(product.user, product.password))
    writers = Array.from({ length: WRITERS }, () => sdkFor(product, { tries: 1 }))
  })
  after(async () => {
    for (const writer of writers) writer.destroy()
    api.close()
    await product.stop()
  })

  async function makeBucket(name: string, size: number): Promise<string> {
    await sdkFor(product).send(new CreateBucketCommand({ Bucket: name }))
    const { body } = await api.get(`/api/protocols/s3/buckets?name=${name}&fields=uuid,svm.uuid`)
    const [record] = recordsOf(body)
    const path = `/api/protocols/s3/buckets/${asText(record?.['svm']?.['uuid'])}/${asText(record?.['uuid'])}`
    assert.equal((await api.call('PATCH', path, { size })).status, 200)
    return path
  }

  async function used(path: string): Promise<{ readonly usedBytes: number; readonly sizeBytes: number }> {
    const { body } = await api.get(`${path}?fields=logical_used_size,size`)
    return { usedBytes: asNumber(body['logical_used_size']), sizeBytes: asNumber(body['size']) }
  }

  /** Whether there was room. */
  async function put(client: S3Client, bucket: string, key: string, bytes = OBJECT_BYTES): Promise<boolean> {
    try {
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: key, Body: Buffer.alloc(bytes, key) }))
      return true
    } catch (failure) {
      assert.equal((failure as Error).name, 'QuotaExceeded')
      return false
    }
  }

  async function contents(bucket: string): Promise<{ readonly keys: string[]; readonly bytes: number }> {
    const listed = await listAll(writers[0] as S3Client, bucket)
    return { keys: [...listed.keys()], bytes: [...listed.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) }
  }

  it('of forty writes at once as many succeed as fit, and those are there', { timeout }, async () => {
    const fitting = 10
    const path = await makeBucket('edge', fitting * OBJECT_BYTES + 1234)
    const keys = writers.flatMap((client, writer) =>
      Array.from({ length: 5 }, (_, at) => ({ client, key: `${writer}/${at}` })),
    )
    const written = await Promise.all(
      keys.map(async ({ client, key }) => ((await put(client, 'edge', key)) ? [key] : [])),
    )
    assert.equal(written.flat().length, fitting)
    const there = await contents('edge')
    assert.deepEqual(there.keys.toSorted(), written.flat().toSorted())
    assert.equal((await used(path)).usedBytes, fitting * OBJECT_BYTES)
    const client = writers[0] as S3Client
    assert.equal(await put(client, 'edge', 'too much by one', 1235), false)
    assert.equal(await put(client, 'edge', 'the rest', 1234), true)
    assert.deepEqual(await used(path), { usedBytes: there.bytes + 1234, sizeBytes: there.bytes + 1234 })
  })

  it('what was refused is written once the bucket has grown', { timeout }, async () => {
    const path = await makeBucket('grown', OBJECT_BYTES)
    const client = writers[0] as S3Client
    assert.equal(await put(client, 'grown', 'one'), true)
    const others = () => Promise.all(writers.map((one, at) => put(one, 'grown', `more/${at}`)))
    assert.ok((await others()).every((done) => !done))
    assert.equal((await api.call('PATCH', path, { size: (1 + WRITERS) * OBJECT_BYTES })).status, 200)
    assert.ok((await others()).every(Boolean))
  })

  it('its size holds while it is changed under the writers', { timeout }, async () => {
    const path = await makeBucket('moving', 6 * OBJECT_BYTES)
    const writes = { isOver: false }
    const kept = new Set<string>()
    const writing = writers.map(async (client, writer) => {
      for (let at = 0; !writes.isOver; at++) {
        const key = `${writer}/${at % 3}`
        if (await put(client, 'moving', key)) kept.add(key)
        if (at % 4 !== 3) continue
        await client.send(new DeleteObjectCommand({ Bucket: 'moving', Key: key }))
        kept.delete(key)
      }
    })
    const statuses = new Set<number>()
    try {
      for (let at = 0; at < 60; at++) {
        const size = (3 + ((at * 5) % 11)) * OBJECT_BYTES
        statuses.add((await api.call('PATCH', path, { size })).status)
        const { usedBytes, sizeBytes } = await used(path)
        assert.ok(usedBytes <= sizeBytes, `${usedBytes} of ${sizeBytes}`)
      }
    } finally {
      writes.isOver = true
      await Promise.all(writing)
    }
    assert.deepEqual(statuses, new Set([200, 422]), 'some sizes were below what it held')
    const there = await contents('moving')
    assert.deepEqual(there.keys.toSorted(), [...kept].toSorted())
    assert.equal((await used(path)).usedBytes, there.bytes)
  })
})
