import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { asText, recordsOf } from '../support/body.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const OBJECTS = 1200
const environment = {
  HOLDFAST_WORKERS: '2',
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
}

const skip = reasonUnlessWhole('src/resources/storage/volumes/clone.test.ts')
describeUnless(skip, 'clones of a volume', {}, () => {
  let product: Product
  let rest: RestClient

  async function connect(folder?: string): Promise<void> {
    product = await startProduct({ environment, ...(folder === undefined ? {} : { folder }) })
    const password = Buffer.from(`${product.user}:${product.password}`).toString('base64')
    rest = new RestClient(product.management, `Basic ${password}`)
  }
  before(async () => {
    await connect()
    assert.equal((await s3('PUT', '/papers')).status, 200)
    for (let at = 0; at < OBJECTS; at += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, n) => put('papers', at + n, 'first')))
    }
  })
  after(async () => {
    rest.close()
    await product.stop()
  })

  const s3 = (method: string, target: string, body?: string) =>
    send({ url: product.s3Http ?? '' }, method, target, body === undefined ? {} : { body })

  async function put(bucket: string, at: number, body: string): Promise<void> {
    assert.equal((await s3('PUT', `/${bucket}/k${at}`, `${body} ${at}`)).status, 200)
  }

  async function get(bucket: string, at: number): Promise<string> {
    const { status, text } = await s3('GET', `/${bucket}/k${at}`)
    return status === 200 ? text : String(status)
  }

  async function count(bucket: string): Promise<number> {
    let keys = 0
    for (let last = ''; ;) {
      const { text } = await s3('GET', `/${bucket}?list-type=2&start-after=${last}`)
      const page = [...text.matchAll(/<Key>(.*?)<\/Key>/g)].map(([, key]) => key ?? '')
      keys += page.length
      if (page.length < 1000) return keys
      last = page.at(-1) ?? ''
    }
  }

  async function ask(method: string, target: string, body?: unknown): Promise<void> {
    const separator = target.includes('?') ? '&' : '?'
    const { status, text } = await rest.call(method, `${target}${separator}return_timeout=60`, body)
    assert.ok(status < 300, `${method} ${target}: ${status} ${text}`)
  }

  async function volume(name: string, fields = 'uuid') {
    const { body } = await rest.get(`/api/storage/volumes?name=${name}&fields=${fields}`)
    return recordsOf(body)[0]
  }

  const pathOf = async (name: string) => `/api/storage/volumes/${asText((await volume(name))?.['uuid'])}`

  const clone = (name: string, more: object = {}) =>
    ask('POST', '/api/storage/volumes', {
      name,
      svm: { name: 'svm1' },
      clone: { is_flexclone: true, parent_volume: { name: 'vol1' }, ...more },
    })

  const filesIn = () => {
    const all = readdirSync(join(product.folder, 'aggr1/volumes'), { recursive: true, withFileTypes: true })
    return all.filter((entry) => entry.isFile()).length
  }

  it('begin with what the parent has, without a copy of any byte, and go their own way', async () => {
    const before = filesIn()
    await clone('copy_now')
    assert.equal(filesIn(), before)
    assert.equal(await count('papers-copy-now'), OBJECTS)
    await put('papers-copy-now', 0, 'of the clone')
    await put('papers', 1, 'of the parent')
    assert.deepEqual(
      await Promise.all([get('papers', 0), get('papers-copy-now', 0), get('papers', 1), get('papers-copy-now', 1)]),
      ['first 0', 'of the clone 0', 'of the parent 1', 'first 1'],
    )
    const shown = await volume('copy_now', 'clone,size,space.used,space.footprint,guarantee.type')
    const told = shown?.['clone']
    assert.deepEqual([told?.['parent_volume']?.['name'], told?.['is_flexclone']], ['vol1', true])
    const base = asText(told?.['parent_snapshot']?.['name'])
    assert.match(base, /^clone_copy_now\.\d{4}-\d\d-\d\dT\d{6}\.\d+$/)
    const refused = await rest.call('DELETE', `${await pathOf('vol1')}/snapshots/${base}`)
    assert.deepEqual([refused.status, refused.body['error']?.code], [409, 1638555])
  })

  it('begin with what the parent had in a snapshot', async () => {
    await ask('POST', `${await pathOf('vol1')}/snapshots`, { name: 'then' })
    for (let at = 0; at < 100; at++) await s3('DELETE', `/papers/k${at}`)
    await clone('copy_then', { parent_snapshot: { name: 'then' } })
    assert.equal(await count('papers'), OBJECTS - 100)
    assert.equal(await count('papers-copy-then'), OBJECTS)
    assert.equal(await get('papers-copy-then', 1), 'of the parent 1')
  })

  it('outlive their parent when they are split', async () => {
    const parent = await pathOf('vol1')
    for (let at = 100; at < OBJECTS; at += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, n) => s3('DELETE', `/papers/k${at + n}`)))
    }
    assert.equal((await s3('DELETE', '/papers')).status, 204)
    const server = asText(recordsOf((await rest.get('/api/svm/svms?name=svm1&fields=uuid')).body)[0]?.['uuid'])
    await ask('PATCH', `/api/protocols/s3/services/${server}`, { data_volumes: [] })
    const held = await rest.call('DELETE', parent)
    assert.deepEqual([held.status, held.body['error']?.code], [409, 524615])
    for (const name of ['copy_now', 'copy_then'])
      await ask('PATCH', await pathOf(name), { clone: { split_initiated: true } })
    assert.deepEqual((await volume('copy_now', 'clone.is_flexclone'))?.['clone'], { is_flexclone: false })
    // It goes at once, and not into the recovery queue, where it would go on needing its files.
    await ask('DELETE', `${parent}?force=true`)
    assert.deepEqual(
      await Promise.all([get('papers-copy-now', 0), get('papers-copy-now', 7), get('papers-copy-then', 1)]),
      ['of the clone 0', 'first 7', 'of the parent 1'],
    )
    assert.equal(await count('papers-copy-then'), OBJECTS)
  })

  it('survive a kill while they are made, and take with them what only they needed', async () => {
    const made = await rest.call('POST', '/api/storage/volumes?return_timeout=0', {
      name: 'again',
      svm: { name: 'svm1' },
      clone: { is_flexclone: true, parent_volume: { name: 'copy_then' } },
    })
    assert.equal(made.status, 202, made.text)
    await wait(30)
    const { folder } = product
    rest.close()
    await product.stop({ signal: 'SIGKILL', keepFolder: true })
    await connect(folder)
    for (let tries = 0; (await volume('again')) === undefined; tries++) {
      assert.ok(tries < 600, 'the clone is not made')
      await wait(100)
    }
    assert.equal(await count('papers-copy-then-again'), OBJECTS)
    await ask('PATCH', await pathOf('again'), { clone: { split_initiated: true } })
    await ask('DELETE', await pathOf('copy_now'))
    await ask('DELETE', await pathOf('copy_then'))
    assert.equal(await get('papers-copy-then-again', 7), 'first 7')
    // What the first clone alone had is unlinked; what the last one needs is there.
    for (let tries = 0; filesIn() > OBJECTS; tries++) {
      assert.ok(tries < 600, `${filesIn()} files are left`)
      await wait(100)
    }
    for (let at = 0; at < OBJECTS; at += 100) assert.notEqual(await get('papers-copy-then-again', at), '404')
    await ask('DELETE', await pathOf('again'))
    assert.equal(filesIn(), 0)
  })
})
