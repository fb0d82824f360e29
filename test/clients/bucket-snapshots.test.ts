import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { asText, recordsOf } from '../support/body.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const skip = reasonUnlessWhole('src/s3/operations/snapshot-buckets.test.ts')
describeUnless(skip, 'snapshots of a bucket', {}, () => {
  let product: Product
  let rest: RestClient
  let volume: string
  let papers: string

  async function connect(folder?: string): Promise<void> {
    const environment = {
      HOLDFAST_WORKERS: '1',
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    }
    product = await startProduct({ environment, ...(folder === undefined ? {} : { folder }) })
    const password = Buffer.from(`${product.user}:${product.password}`).toString('base64')
    rest = new RestClient(product.management, `Basic ${password}`)
  }
  before(async () => {
    await connect()
    const { body } = await rest.call('GET', '/api/storage/volumes?name=vol1&fields=uuid')
    volume = `/api/storage/volumes/${asText(recordsOf(body)[0]?.['uuid'])}`
    for (const bucket of ['papers', 'other']) assert.equal((await s3('PUT', `/${bucket}`)).status, 200)
    papers = await bucketPath('papers')
  })
  after(async () => {
    rest.close()
    await product.stop()
  })

  const s3 = (method: string, target: string, body?: string) =>
    send({ url: product.s3Http ?? '' }, method, target, body === undefined ? {} : { body })
  const read = async (target: string) => {
    const { status, text } = await s3('GET', target)
    return status === 200 ? text : status
  }

  async function bucketPath(name: string): Promise<string> {
    const { body } = await rest.call('GET', `/api/protocols/s3/buckets?name=${name}&fields=uuid,svm.uuid`)
    const [row] = recordsOf(body)
    return `/api/protocols/s3/services/${asText(row?.['svm']?.['uuid'])}/buckets/${asText(row?.['uuid'])}`
  }

  const take = (name: string) =>
    rest.call('POST', `${papers}/snapshots?return_timeout=15&return_records=true`, { name })
  async function names(): Promise<string[]> {
    const { body } = await rest.call('GET', `${papers}/snapshots?fields=name`)
    return recordsOf(body).map(({ name }) => asText(name))
  }

  it('are taken by name, shown as the interface shows them, and survive a kill', async () => {
    await s3('PUT', '/papers/a', 'first')
    const { status, text, body } = await take('before')
    assert.equal(status, 201, text)
    const uuid = asText(recordsOf(body)[0]?.['uuid'])
    await product.stop({ signal: 'SIGKILL', keepFolder: true })
    rest.close()
    await connect(product.folder)
    const one = await rest.call('GET', `${papers}/snapshots/${uuid}`)
    assert.equal(one.status, 200, one.text)
    assert.equal(one.body['name'], 'before')
    assert.equal(one.body['bucket_uuid'], papers.split('/').at(-1))
    assert.equal(one.body['svm']?.['name'], 'svm1')
    assert.match(asText(one.body['create_time']), /^\d{4}-/)
    assert.deepEqual(await names(), ['before'])
  })

  it('are buckets that clients can read, and that show nothing of other buckets', async () => {
    await s3('PUT', '/papers/a', 'second')
    await s3('PUT', '/papers/b', 'new')
    await s3('PUT', '/other/a', 'x')
    assert.equal(await read('/papers-s3snap-before/a'), 'first')
    assert.equal(await read('/papers-s3snap-before/b'), 404)
    assert.equal(await read('/other-s3snap-before/a'), 404)
    assert.equal((await s3('PUT', '/papers-s3snap-before/a', 'never')).status, 403)
  })

  it('have names that fit behind that of the bucket, each once', async () => {
    for (const name of ['Upper', 'under_score', 'ends-', '.dot', 'has-s3snap-in', 'x'.repeat(31), '']) {
      const { status, text } = await take(name)
      assert.equal(status, 422, `${name}: ${text}`)
    }
    assert.equal((await take('before')).status, 409)
    const ofVolume = await rest.call('POST', `${volume}/snapshots?return_timeout=15`, { name: 'all' })
    assert.ok(ofVolume.status < 300, ofVolume.text)
    assert.equal((await take('all')).status, 409)
    const elsewhere = papers.replace(/buckets\/.*/, 'buckets/00000000-0000-4000-8000-000000000000/snapshots')
    assert.equal((await rest.call('GET', elsewhere)).status, 404)
  })

  it('take the bucket back, and only that', async () => {
    const { status, text } = await rest.call('PATCH', `${papers}?restore_to.snapshot.name=before&return_timeout=15`, {})
    assert.equal(status, 200, text)
    assert.equal(await read('/papers/a'), 'first')
    assert.equal(await read('/papers/b'), 404)
    assert.equal(await read('/papers-s3snap-all/b'), 'new')
    assert.equal(await read('/other/a'), 'x')
    const other = await bucketPath('other')
    assert.equal((await rest.call('PATCH', `${other}?restore_to.snapshot.name=before`, {})).status, 422)
  })

  it('keep their bucket from being deleted, and go when the volume goes back past them', async () => {
    assert.equal((await take('later')).status, 201)
    await s3('DELETE', '/papers/a')
    const kept = await rest.call('DELETE', papers)
    assert.equal(kept.status, 409, kept.text)
    assert.match(kept.text, /has snapshots/)
    const asked = await s3('DELETE', '/papers')
    assert.equal(asked.status, 409, asked.text)
    assert.match(asked.text, /BucketNotEmpty/)

    const back = await rest.call('PATCH', `${volume}?restore_to.snapshot.name=all&return_timeout=15`, {})
    assert.equal(back.status, 200, back.text)
    assert.deepEqual(await names(), ['before'])
    assert.equal(await read('/papers/b'), 'new')

    const { body } = await rest.call('GET', `${papers}/snapshots`)
    const uuid = asText(recordsOf(body)[0]?.['uuid'])
    const gone = await rest.call('DELETE', `${papers}/snapshots/${uuid}?return_timeout=15`)
    assert.equal(gone.status, 200, gone.text)
    assert.equal(await read('/papers-s3snap-before/a'), 404)
    for (const key of ['a', 'b']) await s3('DELETE', `/papers/${key}`)
    assert.equal((await s3('DELETE', '/papers')).status, 204)
  })
})
