/**
 * Several clients at once, on few keys, with conditions, versions, locks, tags, copies and uploads in parts. For each key
 * there must be one order of all that was done to it that explains every answer: nobody sees a state that never was, and
 * nobody sees the past.
 */
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after, before, describe, it, type TestContext } from 'node:test'
import { keys as credentials, send } from '../../../src/s3/test-plane.ts'
import { startProduct, type Product } from '../../support/product.ts'
import { seedOf } from '../../support/seed.ts'
import { isWhole } from '../../support/whole.ts'
import { isExplained } from './checker.ts'
import { act, numbersOf, perform, type History } from './client.ts'
import type { Versioning } from './model.ts'

const CLIENTS = 6
/** Requests of one client in one round. The search for an order takes time that grows fast with them. */
const REQUESTS = 10
const KEYS = ['k1', 'k2', 'k3']
const ROUNDS = Number(process.env['HOLDFAST_TEST_ROUNDS'] ?? (isWhole ? 4 : 1))
/** How often eight writers all want to be the first: each time two of them come to different processes at once. */
const MEETINGS = isWhole ? 200 : 30

describe('histories of objects, over two worker processes', () => {
  let product: Product
  const agent = new Agent({ keepAlive: true })

  before(async () => {
    product = await startProduct({
      environment: {
        HOLDFAST_WORKERS: '2',
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
    })
  })
  after(async () => {
    agent.destroy()
    await product.stop()
  })

  for (const kind of ['off', 'enabled', 'suspended', 'locked'] as const) {
    it(`every answer fits one order of what was done (versioning ${kind})`, async (context) => {
      await run(context, kind)
    })
  }

  async function run(context: TestContext, kind: Versioning | 'locked'): Promise<void> {
    const seed = seedOf(context)
    const url = product.s3Http ?? ''
    for (let round = 0; round < ROUNDS; round += 1) {
      const bucket = `history-${kind}-${round}`
      const versioning: Versioning = kind === 'locked' ? 'enabled' : kind
      await makeBucket(url, bucket, kind)
      const history: History = { url, agent, bucket, versioning, hasLocks: kind === 'locked', calls: new Map() }
      await Promise.all(
        Array.from({ length: CLIENTS }, async (_, client) => {
          const random = numbersOf(seed + round * 1000 + client)
          for (let request = 0; request < REQUESTS; request += 1) await act(history, random, KEYS)
        }),
      )
      for (const key of KEYS) {
        // What it came to in the end must be the state that the order leads to.
        const end = await perform(history, key, { do: 'versions' }, { maker: 'put', nonce: 0 })
        const calls = [...(history.calls.get(key) ?? []), ...(end === undefined ? [] : [end])]
        assert.ok(isExplained(versioning, calls), `seed ${seed}, round ${round}, key ${key}:\n${print(calls)}`)
      }
    }
  }

  async function makeBucket(url: string, bucket: string, kind: Versioning | 'locked'): Promise<void> {
    const headers = kind === 'locked' ? { 'x-amz-bucket-object-lock-enabled': 'true' } : {}
    assert.equal((await send({ url }, 'PUT', `/${bucket}`, { headers, agent })).status, 200)
    const states = kind === 'suspended' ? ['Enabled', 'Suspended'] : kind === 'enabled' ? ['Enabled'] : []
    for (const state of states) {
      const body = `<VersioningConfiguration><Status>${state}</Status></VersioningConfiguration>`
      assert.equal((await send({ url }, 'PUT', `/${bucket}?versioning`, { body, agent })).status, 200)
    }
  }

  it('of eight writers who each want to be the first exactly one is, every time', async () => {
    const url = product.s3Http ?? ''
    await makeBucket(url, 'firsts', 'off')
    for (let round = 0; round < MEETINGS; round += 1) {
      const sent = await Promise.all(
        Array.from({ length: 8 }, (_, writer) =>
          send({ url }, 'PUT', `/firsts/key-${round}`, {
            body: `writer ${writer}`,
            headers: { 'if-none-match': '*' },
            // Each with a connection of its own, so that they come to different processes.
            agent: writers[writer] as Agent,
          }),
        ),
      )
      const statuses = sent.map(({ status }) => status).toSorted((a, b) => a - b)
      assert.equal(statuses.filter((status) => status === 200).length, 1, statuses.join())
      assert.ok(
        statuses.every((status) => status === 200 || status === 412 || status === 409),
        statuses.join(),
      )
    }
  })
  const writers = Array.from({ length: 8 }, () => new Agent({ keepAlive: true }))
  after(() => writers.forEach((writer) => writer.destroy()))
})

function print(calls: readonly unknown[]): string {
  return calls.map((call) => JSON.stringify(call)).join('\n')
}
