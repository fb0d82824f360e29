import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, before, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as wait } from 'node:timers/promises'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { asText, recordsOf } from '../support/body.ts'
import { startProduct, type Product, type ProductOptions } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const OBJECTS = 900
const environment: ProductOptions['environment'] = {
  HOLDFAST_WORKERS: '2',
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
}

const skip = reasonUnlessWhole('test/simulation/volumes-model.test.ts')
describeUnless(skip, 'a part that is taken back to a snapshot', {}, () => {
  let product: Product
  let rest: RestClient
  let volume: string

  async function connect(folder?: string): Promise<void> {
    product = await startProduct({ environment: environment ?? {}, ...(folder === undefined ? {} : { folder }) })
    const password = Buffer.from(`${product.user}:${product.password}`).toString('base64')
    rest = new RestClient(product.management, `Basic ${password}`)
  }
  before(async () => {
    await connect()
    const { body } = await rest.call('GET', '/api/storage/volumes?name=vol1&fields=uuid')
    volume = `/api/storage/volumes/${asText(recordsOf(body)[0]?.['uuid'])}`
    for (const bucket of ['papers', 'other']) assert.equal((await s3('PUT', `/${bucket}`)).status, 200)
  })
  after(async () => {
    rest.close()
    await product.stop()
  })

  const s3 = (method: string, target: string, body?: string, headers: Record<string, string> = {}) =>
    send({ url: product.s3Http ?? '' }, method, target, { headers, ...(body === undefined ? {} : { body }) })
  const read = async (target: string) => {
    const { status, text } = await s3('GET', target)
    return status === 200 ? text : status
  }

  /** Keys and ETags, of up to a thousand. */
  async function listing(bucket: string, prefix = ''): Promise<string[]> {
    const { text, status } = await s3('GET', `/${bucket}?list-type=2&prefix=${prefix}`)
    assert.equal(status, 200, text)
    return [...text.matchAll(/<Key>(.*?)<\/Key>.*?<ETag>(.*?)<\/ETag>/gs)].map(([, key, etag]) => `${key} ${etag}`)
  }

  async function writeAll(prefix: string, body: string, from: number, to: number): Promise<void> {
    for (let at = from; at < to; at += 50) {
      const batch = Array.from({ length: 50 }, (_, n) => s3('PUT', `/papers/${prefix}k${at + n}`, body))
      for (const { status } of await Promise.all(batch)) assert.equal(status, 200)
    }
  }

  async function snapshot(name: string): Promise<void> {
    const { status, text } = await rest.call('POST', `${volume}/snapshots?return_timeout=15`, { name })
    assert.ok(status < 300, text)
  }

  const restore = (path: string, name = 'before', timeout = 15) =>
    rest.call(
      'PATCH',
      `${volume}?restore_to.snapshot.name=${name}&restore_to.path=${path}&return_timeout=${timeout}`,
      {},
    )

  async function bucketPath(name: string): Promise<string> {
    const { body } = await rest.call('GET', `/api/protocols/s3/buckets?name=${name}&fields=uuid,svm.uuid`)
    const [row] = recordsOf(body)
    const svm = asText(row?.['svm']?.['uuid'])
    return `/api/protocols/s3/services/${svm}/buckets/${asText(row?.['uuid'])}`
  }

  it('shows the old state or that of the snapshot, beside keys that are written meanwhile, and survives a kill', async () => {
    await writeAll('in/', 'first', 0, OBJECTS)
    await writeAll('out/', 'first', 0, 50)
    await snapshot('before')
    const then = await listing('papers', 'in/')
    await writeAll('in/', 'second', 0, OBJECTS / 2)
    await writeAll('out/', 'second', 0, 50)
    await s3('DELETE', `/papers/in/k${OBJECTS - 1}`)
    await s3('PUT', '/papers/in/new', 'new')
    await snapshot('later')
    await s3('PUT', '/papers/in/newer', 'newer')
    const now = await listing('papers', 'in/')
    const later = await listing('papers-s3snap-later', 'in/')

    const begun = await restore('/papers/in/', 'before', 0)
    assert.equal(begun.status, 202, begun.text)
    const seen: string[][] = []
    for (let looks = 0; looks < 3; looks += 1) seen.push(await listing('papers', 'in/'))
    assert.equal((await s3('PUT', '/papers/out/meanwhile', 'x')).status, 200)
    await product.stop({ signal: 'SIGKILL', keepFolder: true })
    rest.close()
    await connect(product.folder)

    // Taken up by itself, and only then can be written again.
    for (let tries = 0; tries < 200; tries += 1) {
      seen.push(await listing('papers', 'in/'))
      assert.equal((await s3('PUT', '/papers/out/meanwhile', 'y')).status, 200)
      if ((await s3('PUT', '/papers/in/after', 'x')).status === 200) break
      await wait(50)
    }
    for (const one of seen) assert.ok([now, then].some((all) => isDeepStrictEqual(one, all)))
    assert.equal((await s3('DELETE', '/papers/in/after')).status, 204)
    assert.deepEqual(await listing('papers', 'in/'), then)
    assert.deepEqual(await listing('papers-s3snap-later', 'in/'), later)
    assert.equal(await read('/papers/in/k0'), 'first')
    assert.equal(await read(`/papers/in/k${OBJECTS - 1}`), 'first')
    assert.equal(await read('/papers-s3snap-later/in/k0'), 'second')
    assert.equal(await read('/papers/out/k0'), 'second')
    assert.equal(await read('/papers/out/meanwhile'), 'y')
    const { body } = await rest.call('GET', `${volume}/snapshots?fields=name`)
    assert.deepEqual(
      recordsOf(body)
        .map(({ name }) => name)
        .toSorted((a, b) => (asText(a) < asText(b) ? -1 : 1)),
      ['before', 'later'],
    )
    const buckets = await rest.call('GET', '/api/protocols/s3/buckets?name=papers&fields=object_count')
    assert.equal(recordsOf(buckets.body)[0]?.['object_count'], OBJECTS + 51)
  })

  it('that is one object leaves all others', async () => {
    const { status, text } = await restore('/papers/out/k7')
    assert.equal(status, 200, text)
    assert.equal(await read('/papers/out/k7'), 'first')
    assert.equal(await read('/papers/out/k8'), 'second')
    assert.equal((await restore('/papers/out/k7', 'later')).status, 200)
    assert.equal(await read('/papers/out/k7'), 'second')
  })

  it('that is a whole bucket goes back by the address of the bucket', async () => {
    const path = await bucketPath('papers')
    const inOne = await rest.call('PATCH', `${path}?restore_to.snapshot.name=later`, { comment: 'x' })
    assert.equal(inOne.status, 422, inOne.text)
    const { status, text } = await rest.call('PATCH', `${path}?restore_to.snapshot.name=later&return_timeout=15`, {})
    assert.equal(status, 200, text)
    assert.equal(await read('/papers/in/k0'), 'second')
    assert.equal(await read('/papers/out/meanwhile'), 404)
    assert.deepEqual(await listing('papers'), await listing('papers-s3snap-later'))
    const named = await rest.call('PATCH', path, { comment: 'still a field' })
    assert.equal(named.status, 200, named.text)
  })

  it('of a snapshot that has nothing of that name stays as it is', async () => {
    await s3('PUT', '/papers/made-since', 'x')
    for (const path of ['/papers/made-since', '/papers/made-since/', '/none', '/none/x', 'papers', '/']) {
      const { status, text } = await restore(path)
      assert.equal(status, 422, `${path}: ${text}`)
    }
    const alone = await rest.call('PATCH', `${volume}?restore_to.path=/papers/`, {})
    assert.equal(alone.status, 422, alone.text)
    const elsewhere = `${volume}?restore_to.snapshot.name=before&restore_to.path=/papers/in/k0&restore_to.restore_path=/x`
    assert.equal((await rest.call('PATCH', elsewhere, {})).status, 400)
    assert.equal(await read('/papers/made-since'), 'x')
    await s3('PUT', '/late-bucket')
    assert.equal((await restore('/late-bucket')).status, 422)
  })

  it('with a locked version stays as it is, and can be written', async () => {
    assert.equal((await s3('PUT', '/locked', '', { 'x-amz-bucket-object-lock-enabled': 'true' })).status, 200)
    await s3('PUT', '/locked/a', 'a1')
    await snapshot('unlocked')
    const until = new Date(Date.now() + 3_600_000).toISOString()
    const md5 = createHash('md5').update('a2').digest('base64')
    const headers = {
      'content-md5': md5,
      'x-amz-object-lock-mode': 'GOVERNANCE',
      'x-amz-object-lock-retain-until-date': until,
    }
    assert.equal((await s3('PUT', '/locked/a', 'a2', headers)).status, 200)
    const { status, text } = await restore('/locked/', 'unlocked')
    assert.equal(status, 409, text)
    assert.match(text, /locked/)
    assert.equal(await read('/locked/a'), 'a2')
    assert.equal((await s3('PUT', '/locked/a', 'a3')).status, 200)
  })
})
