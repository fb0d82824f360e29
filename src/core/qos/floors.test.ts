import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Rate } from './limiters.ts'
import { floorRoundMs } from './floors.ts'
import { QosLedger } from './ledger.ts'

/** Of a machine that does so many operations in a second, for whoever is there, in turn. */
const capacity = 1000

interface Client {
  readonly floor?: Rate
  /** Connections, each with one request after the other. */
  readonly connections: number
  /** From one answer to the next request. */
  readonly thinkMs?: number
  readonly activeMs?: readonly [from: number, until: number]
}

interface Request {
  readonly client: number
  /** Before that it waits as it was told. */
  readonly readyMs: number
  readonly enteredMs: number
}

/** Runs clients against the machine, a millisecond at a time. Gives what each had done in each second. */
function run(clients: readonly Client[], seconds: number): readonly (readonly number[])[] {
  let timeMs = 0
  let isHoldingBack = false
  const clock = { now: () => timeMs, elapsed: () => timeMs, sleep: () => Promise.resolve() }
  const ledger = new QosLedger(clock, (isOn) => (isHoldingBack = isOn))
  const done = clients.map(() => Array.from({ length: seconds }, () => 0))
  const round = clients.map(() => ({ operations: 0, busyMs: 0 }))
  let idle = clients.flatMap(({ connections }, client) =>
    Array.from({ length: connections }, () => ({ client, fromMs: 0 })),
  )
  let queue: Request[] = []
  for (; timeMs < seconds * 1000; timeMs += 1) {
    const isActive = ({ activeMs = [0, Infinity] }: Client): boolean => timeMs >= activeMs[0] && timeMs < activeMs[1]
    const begins = idle.filter(({ client, fromMs }) => fromMs <= timeMs && isActive(clients[client] as Client))
    idle = idle.filter((one) => !begins.includes(one))
    for (const { client } of begins) {
      const { floor } = clients[client] as Client
      const charged = { limits: [], floors: floor === undefined ? [] : [floor] }
      const waitMs = isHoldingBack ? (ledger.charge(charged, { operations: 1, bytes: 0 }) ?? 0) : 0
      queue.push({ client, readyMs: timeMs + waitMs, enteredMs: timeMs })
    }
    for (let served = 0; served < capacity / 1000; served += 1) {
      const at = queue.findIndex(({ readyMs }) => readyMs <= timeMs)
      const [request] = at < 0 ? [] : queue.splice(at, 1)
      if (request === undefined) break
      const counts = done[request.client] as number[]
      const second = Math.floor(timeMs / 1000)
      counts[second] = (counts[second] ?? 0) + 1
      const { thinkMs = 0 } = clients[request.client] as Client
      idle.push({ client: request.client, fromMs: timeMs + 1 + thinkMs })
      const mine = round[request.client]
      if (mine !== undefined) mine.operations += 1
    }
    for (const client of new Set(queue.map((request) => request.client))) {
      const mine = round[client]
      if (mine !== undefined) mine.busyMs += 1
    }
    if (timeMs % floorRoundMs === 0) {
      for (const [client, { floor }] of clients.entries()) {
        const { operations = 0, busyMs = 0 } = round[client] ?? {}
        round[client] = { operations: 0, busyMs: 0 }
        if (floor === undefined || (operations === 0 && busyMs === 0)) continue
        ledger.report(client, [{ floor, operations, bytes: 0, busyMs, overMs: floorRoundMs }])
      }
    }
    queue = queue.toSorted((a, b) => a.enteredMs - b.enteredMs)
  }
  return done
}

const mean = (counts: readonly number[] | undefined, from: number, until?: number): number => {
  const some = (counts ?? []).slice(from, until)
  return some.reduce((sum, count) => sum + count, 0) / some.length
}

describe('floors of throughput', () => {
  const floor = (operationsPerSecond: number, key = 'f'): Rate => ({ key, operationsPerSecond })

  it('are met beside others with many more connections, and the others get the rest', () => {
    const [mine, others] = run([{ floor: floor(400), connections: 4 }, { connections: 60 }], 30)
    assert.ok(mean(run([{ connections: 4 }, { connections: 60 }], 5)[0], 1) < 100, 'without a floor it gets little')
    assert.ok(mean(mine, 10) >= 400, `${mean(mine, 10)}`)
    assert.ok(mean(others, 10) >= 400, `${mean(others, 10)}`)
    assert.ok(mean(mine, 10) + mean(others, 10) >= capacity * 0.9, 'hardly anything is wasted')
  })

  it('hold nobody back while their object asks for little', () => {
    const [mine, others] = run([{ floor: floor(400), connections: 1, thinkMs: 200 }, { connections: 20 }], 10)
    assert.ok(mean(mine, 1) < 10)
    assert.ok(mean(others, 1) >= capacity * 0.98, `${mean(others, 1)}`)
  })

  it('hold nobody back any more when their object goes', () => {
    const [, others] = run([{ floor: floor(600), connections: 8, activeMs: [0, 10_000] }, { connections: 60 }], 30)
    assert.ok(mean(others, 5, 9) < capacity * 0.6, `${mean(others, 5, 9)}`)
    assert.ok(mean(others, 14) >= capacity * 0.95, `${mean(others, 14)}`)
  })

  it('that cannot be met starve nobody', () => {
    const [, others] = run([{ floor: floor(5000), connections: 4 }, { connections: 60 }], 30)
    assert.ok(mean(others, 10) >= capacity * 0.08, `${mean(others, 10)}`)
  })

  it('of two objects are both met', () => {
    const clients = [
      { floor: floor(300, 'a'), connections: 3 },
      { floor: floor(300, 'b'), connections: 6 },
      { connections: 60 },
    ]
    const [a, b] = run(clients, 30)
    assert.ok(mean(a, 10) >= 300, `${mean(a, 10)}`)
    assert.ok(mean(b, 10) >= 300, `${mean(b, 10)}`)
  })

  it('let an object that is above its own floor be held back for another', () => {
    const clients = [
      { floor: floor(500, 'a'), connections: 5 },
      { floor: floor(50, 'b'), connections: 95 },
    ]
    const [a, b] = run(clients, 30)
    assert.ok(mean(a, 10) >= 500, `${mean(a, 10)}`)
    assert.ok(mean(b, 10) >= 50, `${mean(b, 10)}`)
  })
})
