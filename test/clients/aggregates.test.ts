import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdir, rename, rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { asText, recordsOf } from '../support/body.ts'
import { until } from './processes.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const skip = reasonUnlessWhole('src/resources/storage/aggregates.test.ts')
describeUnless(skip, 'an aggregate made while clients work', {}, () => {
  let product: Product
  let rest: RestClient
  let folder: string

  async function connect(kept?: string): Promise<void> {
    product = await startProduct({
      environment: {
        HOLDFAST_WORKERS: '2',
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
      ...(kept === undefined ? {} : { folder: kept }),
    })
    const password = Buffer.from(`${product.user}:${product.password}`).toString('base64')
    rest = new RestClient(product.management, `Basic ${password}`)
    folder = join(product.folder, 'second disk/aggr2')
  }
  before(() => connect())
  after(async () => {
    rest.close()
    await product.stop()
  })

  const s3 = (method: string, target: string, body?: string) =>
    send({ url: product.s3Http ?? '' }, method, target, body === undefined ? {} : { body })

  async function ask(method: string, target: string, body?: unknown): Promise<void> {
    const { status, text } = await rest.call(method, target, body)
    assert.ok(status < 300, `${method} ${target}: ${status} ${text}`)
  }

  async function uuidOf(collection: string, name: string): Promise<string> {
    const { body } = await rest.get(`${collection}?name=${name}&fields=uuid`)
    return asText(recordsOf(body)[0]?.['uuid'])
  }

  async function readAll(): Promise<void> {
    for (let at = 0; at < 20; at++) {
      const { status, text } = await s3('GET', `/apart/k${at}`)
      assert.deepEqual([status, text], [200, `object ${at}`])
    }
  }

  it('takes objects at once, from all worker processes, into its own folder', async () => {
    await ask('POST', '/api/storage/aggregates', { name: 'aggr2', block_storage: { path: folder } })
    await ask('PATCH', '/api/svm/svms?name=svm1', { aggregates: ['aggr1', 'aggr2'] })
    await ask('POST', '/api/storage/volumes', { name: 'vol2', svm: 'svm1', size: '64m', aggregates: ['aggr2'] })
    const server = `/api/protocols/s3/services/${await uuidOf('/api/svm/svms', 'svm1')}`
    await ask('PATCH', server, { data_volumes: ['vol1', 'vol2'] })
    await ask('POST', '/api/protocols/s3/buckets', { name: 'apart', svm: 'svm1', volume: 'vol2', size: '32m' })
    await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        assert.equal((await s3('PUT', `/apart/k${at}`, `object ${at}`)).status, 200)
      }),
    )
    await readAll()
    const tree = join(folder, 'volumes', await uuidOf('/api/storage/volumes', 'vol2'))
    const packs = readdirSync(join(tree, 'packs')).map((name) => readFileSync(join(tree, 'packs', name), 'latin1'))
    for (let at = 0; at < 20; at++) assert.ok(packs.some((bytes) => bytes.includes(`object ${at}`)))
    assert.ok(packs.length < 20)
  })

  it('is there after a crash of everything', async () => {
    rest.close()
    await product.stop({ signal: 'SIGKILL', keepFolder: true })
    await connect(product.folder)
    await readAll()
  })

  it('is answered for with 503 while its disk is away, and has lost nothing when it is back', async () => {
    await rename(folder, `${folder}.away`)
    await mkdir(folder)
    // What is open stays so for a moment.
    for (const ask of [() => s3('GET', '/apart/k1'), () => s3('PUT', '/apart/k1', 'object 1')]) {
      await until('it is answered for with 503', async () => {
        const { status, text } = await ask()
        return status === 503 && /<Code>ServiceUnavailable<\/Code>/.test(text)
      })
    }
    const { body } = await rest.get('/api/storage/aggregates?fields=name,state&state=offline')
    assert.deepEqual(
      recordsOf(body).map((one) => asText(one['name'])),
      ['aggr2'],
    )
    await rmdir(folder)
    await rename(`${folder}.away`, folder)
    await readAll()
    assert.equal((await s3('PUT', '/apart/k1', 'object 1')).status, 200)
  })

  it('goes with its folder when its last volume went', async () => {
    const aggregate = `/api/storage/aggregates/${await uuidOf('/api/storage/aggregates', 'aggr2')}`
    assert.equal((await rest.call('DELETE', aggregate)).status, 409)
    for (let at = 0; at < 20; at++) assert.equal((await s3('DELETE', `/apart/k${at}`)).status, 204)
    assert.equal((await s3('DELETE', '/apart')).status, 204)
    const server = `/api/protocols/s3/services/${await uuidOf('/api/svm/svms', 'svm1')}`
    await ask('PATCH', server, { data_volumes: ['vol1'] })
    const volume = await uuidOf('/api/storage/volumes', 'vol2')
    await ask('DELETE', `/api/storage/volumes/${volume}`)
    assert.equal((await rest.call('DELETE', aggregate)).status, 409)
    await ask('DELETE', `/api/private/cli/volume/recovery-queue/${volume}`)
    const svm = `/api/svm/svms/${await uuidOf('/api/svm/svms', 'svm1')}`
    await ask('PATCH', svm, { aggregates: [{ name: 'aggr1' }] })
    await ask('DELETE', aggregate)
    assert.ok(!readdirSync(product.folder).includes('second disk'))
  })
})
