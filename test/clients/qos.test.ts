import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { after, before, it } from 'node:test'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { asText, recordsOf } from '../support/body.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const CLIENTS = 8
const SECONDS = 2
/** What may go through at once after a pause (`burstMs`), and how late a clock may be read. */
const SLACK = 1.1

const skip = reasonUnlessWhole('src/core/qos/ledger.test.ts')
describeUnless(skip, 'ceilings and floors of throughput, over two worker processes', {}, () => {
  let product: Product
  let rest: RestClient
  let url: string
  const agents = Array.from({ length: CLIENTS }, () => new Agent({ keepAlive: true, maxSockets: 1 }))

  before(async () => {
    product = await startProduct({
      environment: {
        HOLDFAST_WORKERS: '2',
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
    })
    url = product.s3Http ?? ''
    const password = Buffer.from(`${product.user}:${product.password}`).toString('base64')
    rest = new RestClient(product.management, `Basic ${password}`)
    for (const bucket of ['slow', 'free', 'narrow', 'shared-a', 'shared-b', 'dear']) {
      assert.equal((await send({ url }, 'PUT', `/${bucket}`)).status, 200)
    }
  })
  after(async () => {
    agents.forEach((agent) => agent.destroy())
    rest.close()
    await product.stop()
  })

  async function ask(method: string, target: string, body?: unknown): Promise<void> {
    const { status, text } = await rest.call(method, target, body)
    assert.ok(status < 300, `${method} ${target}: ${status} ${text}`)
  }

  async function uuidOf(collection: string, name: string, also = ''): Promise<string> {
    const { body } = await rest.call('GET', `${collection}?name=${name}&fields=uuid${also}`)
    const [record] = recordsOf(body)
    const svm = also === '' ? '' : `${asText(record?.['svm']?.['uuid'])}/`
    return `${collection}/${svm}${asText(record?.['uuid'])}`
  }

  async function limit(bucket: string, policy: string): Promise<void> {
    const target = await uuidOf('/api/protocols/s3/buckets', bucket, ',svm.uuid')
    await ask('PATCH', `${target}?return_timeout=15`, { 'qos_policy.name': policy })
  }

  /** Requests one after the other by each client, for some seconds: how many each had answered, and in what time. */
  async function load(request: (client: number, at: number) => Promise<{ readonly status: number }>) {
    const startedMs = performance.now()
    const done = await Promise.all(
      agents.map(async (_, client) => {
        let count = 0
        while (performance.now() - startedMs < SECONDS * 1000) {
          assert.equal((await request(client, count)).status, 200)
          count += 1
        }
        return count
      }),
    )
    const seconds = (performance.now() - startedMs) / 1000
    return { done, seconds, all: done.reduce((sum, count) => sum + count, 0) }
  }

  it('a policy with a ceiling of operations holds for a bucket, and every client gets on', async (context) => {
    await ask('POST', '/api/storage/qos/policies', {
      name: 'fifty',
      'svm.name': 'svm1',
      'fixed.max_throughput_iops': 50,
    })
    await limit('slow', 'fifty')
    const { done, seconds, all } = await load((client, at) =>
      send({ url }, 'PUT', `/slow/${client}/${at}`, { body: 'x', agent: agents[client] as Agent }),
    )
    assert.ok(all <= 50 * seconds * SLACK, `${all} in ${seconds} s`)
    assert.ok(Math.min(...done) >= 1, done.join())
    context.diagnostic(`${((all / seconds / 50) * 100).toFixed(1)} % of the ceiling; by client ${done.join(' ')}`)
    const free = await load((client, at) =>
      send({ url }, 'PUT', `/free/${client}/${at}`, { body: 'x', agent: agents[client] as Agent }),
    )
    assert.ok(free.all > all, `${free.all} without a ceiling, ${all} with one`)
  })

  it('a ceiling of bytes holds for what is sent and for what is taken', async (context) => {
    await ask('POST', '/api/storage/qos/policies', {
      name: 'two-mb',
      'svm.name': 'svm1',
      'fixed.max_throughput': '2MB/s',
    })
    await limit('narrow', 'two-mb')
    const body = Buffer.alloc(256 * 1024, 'x')
    const up = await load((client) =>
      send({ url }, 'PUT', `/narrow/${client}`, { body, agent: agents[client] as Agent }),
    )
    assert.ok(up.all * body.length <= 2 * 2 ** 20 * up.seconds * SLACK, `${up.all} in ${up.seconds} s`)
    const down = await load((client) => send({ url }, 'GET', `/narrow/${client}`, { agent: agents[client] as Agent }))
    for (const { all, seconds } of [up, down]) {
      context.diagnostic(`${(((all * body.length) / seconds / 2 ** 21) * 100).toFixed(1)} % of the ceiling`)
    }
    assert.ok(down.all * body.length <= 2 * 2 ** 20 * down.seconds * SLACK, `${down.all} in ${down.seconds} s`)
  })

  it('objects that share a ceiling share it, and one that is raised holds at once', async () => {
    const policy = {
      name: 'common',
      'svm.name': 'svm1',
      'fixed.capacity_shared': true,
      'fixed.max_throughput_iops': 40,
    }
    await ask('POST', '/api/storage/qos/policies', policy)
    await limit('shared-a', 'common')
    await limit('shared-b', 'common')
    const run = () =>
      load((client) =>
        send({ url }, 'PUT', `/shared-${client % 2 === 0 ? 'a' : 'b'}/${client}`, {
          body: 'x',
          agent: agents[client] as Agent,
        }),
      )
    const low = await run()
    assert.ok(low.all <= 40 * low.seconds * SLACK, `${low.all} in ${low.seconds} s`)
    await ask('PATCH', await uuidOf('/api/storage/qos/policies', 'common'), { 'fixed.max_throughput_iops': 100_000 })
    const high = await run()
    assert.ok(high.all > low.all, `${high.all} after, ${low.all} before`)
  })

  it('a bucket with a floor gets more beside many others than without one', async (context) => {
    const crowd = new Agent({ keepAlive: true, maxSockets: 40 })
    const [alone] = agents
    const over = new AbortController()
    const flood = async (client: number): Promise<number> => {
      let done = 0
      for (; !over.signal.aborted; done += 1) await send({ url }, 'PUT', `/free/${client}`, { body: 'x', agent: crowd })
      return done
    }
    const flooding = Promise.all(Array.from({ length: 40 }, (_, client) => flood(client)))
    const perSecond = async (seconds: number): Promise<number> => {
      const beganMs = performance.now()
      let done = 0
      for (; performance.now() - beganMs < seconds * 1000; done += 1) {
        await send({ url }, 'PUT', '/dear/one', { body: 'x', agent: alone as Agent })
      }
      return (done * 1000) / (performance.now() - beganMs)
    }
    await perSecond(1)
    const without = await perSecond(3)
    const floor = Math.ceil(without * 2.5)
    await ask('POST', '/api/storage/qos/policies', {
      name: 'floor',
      'svm.name': 'svm1',
      'fixed.min_throughput': `${floor}IOPS`,
    })
    await limit('dear', 'floor')
    await perSecond(3)
    const withFloor = await perSecond(3)
    over.abort()
    const others = (await flooding).reduce((sum, done) => sum + done, 0)
    crowd.destroy()
    context.diagnostic(`${without.toFixed(0)}/s without, ${withFloor.toFixed(0)}/s with a floor of ${floor}/s`)
    assert.ok(withFloor > without * 1.5, `${withFloor} with, ${without} without`)
    assert.ok(others > 100, `${others} of all others`)
  })

  it('a policy says its floors and ceilings as numbers and as text', async () => {
    const policy = { name: 'both', 'svm.name': 'svm1', 'fixed.max_throughput': '500IOPS,2GB/s' }
    await ask('POST', '/api/storage/qos/policies', { ...policy, 'fixed.min_throughput_iops': 20 })
    const target = await uuidOf('/api/storage/qos/policies', 'both')
    const fixed = async () => (await rest.call('GET', target)).body?.['fixed'] as Record<string, unknown>
    const first = {
      capacity_shared: false,
      max_throughput: '500IOPS,2048MB/s',
      max_throughput_iops: 500,
      max_throughput_mbps: 2048,
      min_throughput: '20IOPS',
      min_throughput_iops: 20,
      min_throughput_mbps: 0,
    }
    assert.deepEqual(await fixed(), first)
    await ask('PATCH', target, { 'fixed.min_throughput': '1MB/s' })
    const second = { ...first, min_throughput: '1MB/s', min_throughput_iops: 0, min_throughput_mbps: 1 }
    assert.deepEqual(await fixed(), second)
    const above = await rest.call('PATCH', target, { 'fixed.min_throughput_iops': 501 })
    assert.equal(above.status, 422, above.text)
    assert.deepEqual(await fixed(), second)
  })

  it('a policy that is in use cannot be deleted', async () => {
    const { status, body } = await rest.call('DELETE', await uuidOf('/api/storage/qos/policies', 'fifty'))
    assert.equal(status, 409, JSON.stringify(body))
  })
})
