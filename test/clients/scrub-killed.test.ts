/** A scrub is killed with the whole product at random moments, and goes on after each start. */
import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { copyFileSync, globSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { asText, recordsOf } from '../support/body.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { canSeeProcesses, killEverything, startAgain, until } from './processes.ts'
import { reasonUnlessWhole } from './programs.ts'
import { inLanes } from './tree.ts'

const KILLS = 5
/** The longest that a scrub goes on before it is killed: longer than what it has done stays without a note. */
const KILLED_AFTER_MS_MAX = 5000
const [LARGE, SMALL] = [48, 400]
const LARGE_BYTES = 2 ** 20
/** All is read in some twelve seconds. */
const RATE = 4 * 2 ** 20
const ENVIRONMENT = {
  HOLDFAST_WORKERS: '2',
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
}
const skip = canSeeProcesses
  ? reasonUnlessWhole('src/resources/storage/scrub/scrub.test.ts')
  : 'processes can be found on Linux only'

let product: Product
let api: RestClient
const contents = new Map<string, Buffer>()

function use(started: Product): void {
  product = started
  const login = Buffer.from(`${product.user}:${product.password}`).toString('base64')
  api = new RestClient(product.management, `Basic ${login}`)
}
before(async () => {
  if (skip === false) use(await startProduct({ environment: ENVIRONMENT }))
})
after(async () => {
  if (skip !== false) return
  api.close()
  await product.stop()
})

const s3 = (method: string, path: string, body?: Buffer) =>
  send({ url: product.s3Http ?? '' }, method, path, body === undefined ? {} : { body })
const records = async (path: string) => recordsOf((await api.call('GET', `/api${path}`)).body)

/** Whether an object is served whole. Where damage is met behind the first pieces, the connection breaks. */
async function isServed(key: string): Promise<boolean> {
  const got = await s3('GET', `/papers/${key}`).catch(() => undefined)
  if (got?.status === 200) assert.equal(got.text, contents.get(key)?.toString(), `${key} has other bytes`)
  else assert.ok(got === undefined || got.status === 500, `${key} is answered ${got?.status}`)
  return got?.status === 200
}

/** Flips a bit of what is stored of an object. */
function damage(key: string): void {
  const content = contents.get(key) ?? Buffer.alloc(0)
  for (const file of globSync(join(product.folder, 'aggr1/volumes/*/{objects/*,packs}/*'))) {
    const bytes = readFileSync(file)
    const at = bytes.indexOf(content.subarray(0, 100))
    if (at === -1) continue
    const middle = at + (content.length >> 1)
    bytes[middle] = (bytes[middle] ?? 0) ^ 1
    writeFileSync(file, bytes)
  }
}

test(
  'a scrub that is killed again and again ends, having counted everything once',
  { skip, timeout: 900_000 },
  async () => {
    assert.equal((await s3('PUT', '/papers')).status, 200)
    for (let n = 0; n < LARGE; n++) contents.set(`large-${n}`, randomBytes(LARGE_BYTES))
    for (let n = 0; n < SMALL; n++) contents.set(`small-${n}`, randomBytes(1000 + n))
    await inLanes([...contents], 8, async ([key, content]) => {
      assert.equal((await s3('PUT', `/papers/${key}`, content)).status, 200)
    })
    const damaged = [`large-${randomInt(LARGE)}`, `large-0`, `small-${randomInt(SMALL)}`, 'small-0']
    for (const key of new Set(damaged)) damage(key)
    const [sound = ''] = globSync(join(product.folder, 'aggr1/volumes/*/objects/*/*'))
    const unknown = `000000000001${'a'.repeat(20)}`
    const stranger = join(dirname(dirname(sound)), 'aa', unknown)
    mkdirSync(dirname(stranger), { recursive: true })
    copyFileSync(sound, stranger)

    const begun = await api.call('POST', '/api/private/scrubs?return_timeout=0', {
      aggregate: { name: 'aggr1' },
      rate: RATE,
    })
    assert.equal(begun.status, 202, begun.text)
    const job = `/api/cluster/jobs/${asText((begun.body['job'] as Record<string, never>)['uuid'])}`
    for (let kills = 0; kills < KILLS; kills++) {
      await until('the scrub goes on', async () => {
        const { state } = (await api.call('GET', `${job}?fields=state`)).body as { state?: unknown }
        return state === 'running' || state === 'success'
      })
      // Which moment it is, is all that this decides.
      await wait(randomInt(KILLED_AFTER_MS_MAX))
      await killEverything(product)
      api.close()
      use(await startAgain(product, ENVIRONMENT))
      const key = `large-${1 + randomInt(LARGE - 1)}`
      assert.equal(await isServed(key), !damaged.includes(key), key)
    }
    await until('the scrub has ended', async () => (await records('/private/scrubs')).length > 0)
    const [scrub, ...others] = await records('/private/scrubs?fields=*')
    assert.deepEqual(others, [])
    const lost = new Set(damaged)
    const bytes = contents.values().reduce((sum, content) => sum + content.length, 0)
    assert.deepEqual(
      [scrub?.['examined'], scrub?.['damaged'], scrub?.['examined_size']],
      [contents.size, lost.size, bytes],
    )
    const listed = await records('/private/damaged-objects?fields=key,kind')
    assert.deepEqual(new Set(listed.map((one) => asText(one['key']))), lost)
    assert.equal(listed.length, lost.size)
    const events = await records('/support/ems/events?message.name=object.damaged&max_records=1000')
    assert.equal(events.length, lost.size)
    const ended = await records('/support/ems/events?message.name=aggregate.scrub.ended&max_records=1000')
    assert.equal(ended.length, 1)
    await inLanes([...contents.keys()], 8, async (key) => assert.equal(await isServed(key), !lost.has(key), key))
    await until('the file that no object needs is moved', () => aside().length > 0)
    assert.equal(aside().filter((name) => name.includes(unknown)).length, 1)
  },
)

function aside(): string[] {
  return readdirSync(join(product.folder, 'aggr1'), { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.startsWith('lost-and-found') && /\.\d+$/.test(name),
  )
}
