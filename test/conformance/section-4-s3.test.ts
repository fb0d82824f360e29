/** Section 4.5 of the specification, and what sections 5, 7 and 8 say of it: the S3 data plane, with the SDK. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { Agent } from 'node:https'
import { asNumber, asText, recordsOf } from '../support/body.ts'
import { fresh } from '../support/product.ts'
import { openTarget, uuidOf } from './target.ts'

const target = await openTarget()
const { api } = target
const bucket = fresh('conformance').replaceAll('_', '-')

const clients: S3Client[] = []
after(() => {
  for (const client of clients) client.destroy()
})

function clientWith(accessKeyId: string, secretAccessKey: string): S3Client {
  const client = new S3Client({
    endpoint: target.s3 ?? '',
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler({ httpsAgent: new Agent({ rejectUnauthorized: false }) }),
  })
  clients.push(client)
  return client
}
const s3 = clientWith(target.accessKey, target.secretKey)
const status = (failure: unknown) => (failure as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode

test('4.5 it is served over HTTPS', () => {
  assert.match(target.s3 ?? '', /^https:/)
})

test('4.5 create bucket, list buckets', async () => {
  await s3.send(new CreateBucketCommand({ Bucket: bucket }))
  const { Buckets } = await s3.send(new ListBucketsCommand({}))
  assert.ok(Buckets?.some(({ Name }) => Name === bucket))
})

test('4.5 a bucket made by an S3 client is one of the management interface, 10 TB large', async () => {
  const { body } = await api.get(`/api/protocols/s3/buckets?name=${bucket}&fields=name,size,volume.name`)
  assert.equal(recordsOf(body)[0]?.['size'], 10 * 2 ** 40)
  assert.notEqual(asText(recordsOf(body)[0]?.['volume']?.['name']), '')
})

test('4.5 upload object, list objects, and get it back', async () => {
  const bytes = Buffer.from('some bytes of an object')
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key: 'folder/one.txt', Body: bytes }))
  const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket: bucket }))
  assert.deepEqual(
    Contents?.map(({ Key, Size }) => [Key, Size]),
    [['folder/one.txt', bytes.length]],
  )
  const got = await s3.send(new GetObjectCommand({ Bucket: bucket, Key: 'folder/one.txt' }))
  assert.equal(await got.Body?.transformToString(), bytes.toString())
})

test('1.3 objects take space of their volume, and snapshots of the volume apply to them', async () => {
  const { body } = await api.get(
    `/api/protocols/s3/buckets?name=${bucket}&fields=volume.name,logical_used_size,object_count`,
  )
  const record = recordsOf(body)[0]
  assert.equal(record?.['object_count'], 1)
  const volume = `/api/storage/volumes/${await uuidOf(api, '/api/storage/volumes', asText(record['volume']?.['name']))}`
  const used = async () => asNumber((await api.get(`${volume}?fields=space.used`)).body['space']?.['used'])
  const before = await used()
  assert.ok(before >= asNumber(record['logical_used_size']))
  const name = fresh('snap')
  assert.equal((await api.call('POST', `${volume}/snapshots`, { name })).status, 201)
  await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key: 'folder/one.txt' }))
  assert.equal(await used(), before, 'the snapshot still holds it')
  const { body: snapshot } = await api.get(`${volume}/snapshots/${name}?fields=size`)
  assert.ok(asNumber(snapshot['size']) > 0)
  assert.equal((await api.call('DELETE', `${volume}/snapshots/${name}`)).status, 200)
})

test('8 a bucket cannot shrink below what it holds', async () => {
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key: 'two', Body: Buffer.alloc(100_000) }))
  const { body } = await api.get(`/api/protocols/s3/buckets?name=${bucket}&fields=uuid,svm.uuid`)
  const record = recordsOf(body)[0]
  const path = `/api/protocols/s3/buckets/${asText(record?.['svm']?.['uuid'])}/${asText(record?.['uuid'])}`
  const refused = await api.call('PATCH', path, { size: 99_999 })
  assert.equal(refused.status, 422)
  assert.equal(refused.body['error']?.['target'], 'size')
  assert.equal((await api.call('PATCH', path, { size: 100_000 })).status, 200)
  await assert.rejects(
    s3.send(new PutObjectCommand({ Bucket: bucket, Key: 'three', Body: 'x' })),
    'a full bucket takes no more',
  )
  assert.equal((await api.call('PATCH', path, { size: 200_000 })).status, 200)
  await s3.send(new PutObjectCommand({ Bucket: bucket, Key: 'three', Body: 'x' }))
})

test('5.5 access is by key pair, and private by default', async () => {
  await assert.rejects(
    clientWith(target.accessKey, 'wrong').send(new ListBucketsCommand({})),
    (failure) => status(failure) === 403,
  )
  await assert.rejects(
    clientWith('AKIANOBODY0000000000', 'wrong').send(new ListBucketsCommand({})),
    (failure) => status(failure) === 403,
  )
  const svm = await uuidOf(api, '/api/svm/svms', 'svm1')
  const users = `/api/protocols/s3/services/${svm}/users`
  const name = fresh('stranger')
  const made = recordsOf((await api.call('POST', users, { name })).body)[0]
  const stranger = clientWith(asText(made?.['access_key']), asText(made?.['secret_key']))
  await assert.rejects(
    stranger.send(new GetObjectCommand({ Bucket: bucket, Key: 'two' })),
    (failure) => status(failure) === 403,
  )
  await api.call('DELETE', `${users}/${name}`)
})

test('5.6 statements run in order, deny wins, and what nothing allows is refused', async () => {
  const svm = await uuidOf(api, '/api/svm/svms', 'svm1')
  const service = `/api/protocols/s3/services/${svm}`
  const name = fresh('reader')
  const user = recordsOf((await api.call('POST', `${service}/users`, { name })).body)[0]
  const reader = clientWith(asText(user?.['access_key']), asText(user?.['secret_key']))
  const { body } = await api.get(`/api/protocols/s3/buckets?name=${bucket}&fields=uuid`)
  const path = `/api/protocols/s3/buckets/${svm}/${asText(recordsOf(body)[0]?.['uuid'])}`
  const get = (key: string) =>
    reader.send(new GetObjectCommand({ Bucket: bucket, Key: key })).then(
      async ({ Body: content }) => {
        await content?.transformToByteArray()
        return 200
      },
      (failure: unknown) => status(failure),
    )
  const settle = async (key: string, wanted: number) => {
    // A changed policy can take a short time to reach open connections.
    for (let tries = 0; tries < 1000 && (await get(key)) !== wanted; tries++)
      await new Promise((resolve) => setTimeout(resolve, 50))
    assert.equal(await get(key), wanted, key)
  }
  const allow = {
    effect: 'allow',
    principals: [name],
    actions: ['s3:GetObject'],
    resources: [`arn:aws:s3:::${bucket}/*`],
  }
  const change = async (statements: object[]) => {
    const reply = await api.call('PATCH', path, { policy: { statements } })
    assert.equal(reply.status, 200, reply.text)
  }
  await change([allow])
  await settle('two', 200)
  await assert.rejects(
    reader.send(new PutObjectCommand({ Bucket: bucket, Key: 'four', Body: 'x' })),
    (failure) => status(failure) === 403,
  )
  await change([allow, { ...allow, effect: 'deny', resources: [`arn:aws:s3:::${bucket}/two`] }])
  await settle('two', 403)
  await settle('three', 200)
  await change([])
  await settle('three', 403)
  await api.call('DELETE', `${service}/users/${name}`)
})

test('5.5 one user works against any object store server of the cluster', async () => {
  const { body } = await api.get('/api/protocols/s3/services?fields=name')
  assert.ok(recordsOf(body).length > 0)
})

test('delete the objects and the bucket', async () => {
  for (const Key of ['two', 'three']) await s3.send(new DeleteObjectCommand({ Bucket: bucket, Key }))
  await s3.send(new DeleteBucketCommand({ Bucket: bucket }))
  const { Buckets } = await s3.send(new ListBucketsCommand({}))
  assert.ok(!Buckets?.some(({ Name }) => Name === bucket))
})
