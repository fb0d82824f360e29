import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, request, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Catalog, Fields, StoredRecord } from '../ports/catalog.ts'
import type { Clock } from '../ports/system.ts'
import { Listeners } from './listeners.ts'
import type { ListenPolicy } from './listeners.ts'

/** How often listeners look at the records. */
const LOOK_MS = 500

/** Time that passes only when it is told to. */
class StepClock implements Clock {
  #nowMs = 0
  #sleepers: { readonly ms: number; readonly wake: () => void }[] = []
  now = (): number => this.#nowMs
  elapsed = (): number => this.#nowMs
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#sleepers.push({ ms, wake: resolve })
      signal?.addEventListener('abort', () => resolve())
    })
  }
  /** Returns when the listeners are in step with the records, and wait for the next look at them. */
  async pass(ms: number): Promise<void> {
    this.#nowMs += ms
    for (const { wake } of this.#sleepers.splice(0)) wake()
    while (!this.#sleepers.some((sleeper) => sleeper.ms === LOOK_MS)) await nextTurn()
  }
}

interface Bench {
  readonly listeners: Listeners
  readonly clock: StepClock
  readonly warnings: string[]
  readonly records: Record<string, Fields[]>
  readonly change: () => void
}

function bench(records: Record<string, Fields[]>, policy: ListenPolicy): Bench {
  const clock = new StepClock()
  const warnings: string[] = []
  let revision = 1
  const catalog = {
    revision: () => Promise.resolve(revision),
    records: (type: string) =>
      Promise.resolve(
        (records[type] ?? []).map((body): StoredRecord => ({
          type,
          key: body['uuid'] as string,
          parent: '',
          revision: 1,
          body,
        })),
      ),
  } as unknown as Catalog
  const listeners = new Listeners({
    catalog,
    clock,
    log: { debug() {}, info() {}, warn: (message) => void warnings.push(message), error() {} },
    policy,
    tlsOf: () => Promise.reject(new Error('Nothing is secure here.')),
    makeServer: (endpoint) => createServer((_request, response) => response.end(endpoint.servers.join(' '))),
  })
  return { listeners, clock, warnings, records, change: () => void (revision += 1) }
}

const lif = (uuid: string, svm: string, address: string, enabled = true): Fields => ({
  uuid,
  'svm.uuid': svm,
  'ip.address': address,
  enabled,
  scope: 'svm',
})
const server = (uuid: string, svm: string, more: Fields = {}): Fields => ({
  uuid,
  name: uuid,
  'svm.uuid': svm,
  enabled: true,
  port: 80,
  secure_port: 443,
  is_https_enabled: false,
  ...more,
})
const interfaces = 'network/ip/interfaces'
const servers = 'protocols/s3/services'

async function freePort(): Promise<number> {
  const probe = createServer()
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve))
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  return port
}

test('every interface serves every server of its SVM, low ports at 9000 and more', async () => {
  const port = await freePort()
  const { listeners } = bench(
    {
      [interfaces]: [
        lif('i1', 'svm1', '127.0.0.1'),
        lif('i2', 'svm1', '127.0.0.2'),
        lif('i3', 'svm2', '127.0.0.3', false),
      ],
      [servers]: [
        server('s1', 'svm1', { port: 81 }),
        server('s2', 'svm1', { port }),
        server('s3', 'svm2', { port }),
        server('s4', 'svm1', { port: 82, enabled: false }),
      ],
    },
    { canBindLowPorts: false },
  )
  await listeners.start()
  const bound = listeners.bound().map((one) => `${one.host}:${one.port} ${one.servers.join()}`)
  const expected = ['127.0.0.1', '127.0.0.2'].flatMap((host) => [
    `${host}:9081 s1`,
    `${host}:${port} s2`,
    `${host}:9082 s4`,
  ])
  assert.deepEqual(bound.toSorted(), expected.toSorted())
  await listeners.close(0)
})

test('servers of one SVM share a port, and the addresses of the first interface can be given', async () => {
  const { listeners } = bench(
    { [interfaces]: [lif('i1', 'svm1', '10.9.8.7')], [servers]: [server('b', 'svm1'), server('a', 'svm1')] },
    { canBindLowPorts: false, first: { interface: 'i1', http: { host: '127.0.0.1', port: 0 }, https: 'off' } },
  )
  await listeners.start()
  const [only] = listeners.bound()
  assert.equal(listeners.bound().length, 1)
  assert.deepEqual([only?.host, only?.servers], ['127.0.0.1', ['a', 'b']])
  assert.equal(await (await fetch(`http://127.0.0.1:${only?.port}`)).text(), 'a b')
  await listeners.close(0)
})

test('what changes in the records changes what is listened to', async () => {
  const port = await freePort()
  const { listeners, clock, records, change } = bench(
    { [interfaces]: [lif('i1', 'svm1', '127.0.0.1')], [servers]: [] },
    { canBindLowPorts: false },
  )
  await listeners.start()
  assert.deepEqual(listeners.bound(), [])
  records[servers] = [server('s1', 'svm1', { port })]
  change()
  await clock.pass(500)
  assert.deepEqual(
    listeners.bound().map((one) => one.port),
    [port],
  )
  records[servers] = []
  change()
  await clock.pass(500)
  assert.deepEqual(listeners.bound(), [])
  await assert.rejects(fetch(`http://127.0.0.1:${port}`))
  await listeners.close(0)
})

test('a disabled server keeps its address until an enabled one wants it, and has it back afterwards', async () => {
  const port = await freePort()
  const lifs = [lif('i1', 'svm1', '127.0.0.1'), lif('i2', 'svm2', '127.0.0.1')]
  const disabled = server('s1', 'svm1', { port, enabled: false })
  const { listeners, clock, records, change, warnings } = bench(
    { [interfaces]: lifs, [servers]: [{ ...disabled, enabled: true }] },
    { canBindLowPorts: false },
  )
  await listeners.start()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const [first] = listeners.bound()
  const servedTo = () => listeners.bound().map((one) => `${one.svm} ${one.servers.join()}`)
  const steps: [Fields[], string][] = [
    [[disabled], 'svm1 s1'],
    [[disabled, server('s2', 'svm2', { port })], 'svm2 s2'],
    [[disabled, server('s2', 'svm2', { port, enabled: false })], 'svm1 s1'],
    [[{ ...disabled, enabled: true }], 'svm1 s1'],
  ]
  for (const [now, expected] of steps) {
    records[servers] = now
    change()
    await clock.pass(500)
    assert.deepEqual(servedTo(), [expected])
    assert.equal(await answered(port, agent), expected.split(' ')[1])
  }
  assert.equal(listeners.bound()[0]?.port, first?.port)
  assert.deepEqual(warnings, [])
  assert.equal(Object.values(agent.freeSockets).flat().length, 1)
  agent.destroy()
  await listeners.close(0)
})

/** What the listener at this port says, on the connection of the agent. */
async function answered(port: number, agent: Agent): Promise<string> {
  const asked = request({ host: '127.0.0.1', port, agent }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return (await answer.toArray()).join('')
}

test('an address that cannot be bound is told once, tried again, and keeps nobody from the others', async () => {
  const port = await freePort()
  const taken = createServer()
  await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve))
  const { listeners, clock, warnings } = bench(
    {
      [interfaces]: [lif('i1', 'svm1', '127.0.0.1'), lif('i2', 'svm1', '127.0.0.2')],
      [servers]: [server('s1', 'svm1', { port })],
    },
    { canBindLowPorts: false },
  )
  await listeners.start()
  assert.deepEqual(
    listeners.bound().map((one) => one.host),
    ['127.0.0.2'],
  )
  await clock.pass(6000)
  assert.equal(warnings.length, 1)
  await new Promise((resolve) => taken.close(resolve))
  await clock.pass(6000)
  assert.equal(listeners.bound().length, 2)
  await listeners.close(0)
})
