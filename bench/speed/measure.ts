/**
 * Measures one row. Each server is made warm first, until what it does in a second of a processor no longer changes; then
 * all are measured in turns, each time in another order, so what else the machine does hits them alike.
 *
 * A round is as long as a number of processor seconds of the server asks for: the kernel counts in hundredths of a second,
 * and a server that compiles while it runs is not itself in the first ones.
 */
import type { Worker } from '../helpers.ts'
import type { PayloadSigning, SpeedLoad, SpeedOrder, SpeedRequest } from './order.ts'
import type { Target } from './peers/peer.ts'
import { cpuSecondsOf, proportionalMegabytes } from './processes.ts'
import { median, percentile, significant, sum, type Result } from './results.ts'
import { PREPARING_CLIENTS, type SpeedRow } from './rows.ts'

export interface Rounds {
  readonly payload: PayloadSigning
  readonly rounds: number
  /** Processor seconds of the server in a round. */
  readonly seconds: number
  /** Processor seconds that a server which compiles itself has to do before its first row. Compiling takes a third of them. */
  readonly warmUp: number
}

interface Round {
  readonly load: SpeedLoad
  /** Processor seconds of each part of the server. */
  readonly parts: Readonly<Record<string, number>>
}

/** A server is warm when so many rounds were no quicker than the best before them. */
const ROUNDS_WITHOUT_GAIN = { compiles: 2, isCompiled: 1 }
const GAIN = 1.03
const WARM_UPS_MAX = 10

export interface Measured {
  readonly results: readonly Result[]
  /** Why a server broke off, by its name. */
  readonly broken: Readonly<Record<string, string>>
}

export class Measuring {
  readonly #sender: Worker<SpeedOrder | 'go', SpeedLoad>
  /** What is there already, by server. */
  readonly #prepared = new Map<Target, Set<SpeedRequest>>()
  #next = 0

  constructor(sender: Worker<SpeedOrder | 'go', SpeedLoad>) {
    this.#sender = sender
  }

  /** What prepares a row has to succeed. */
  async prepare(target: Target, requests: readonly SpeedRequest[], clients = PREPARING_CLIENTS): Promise<void> {
    const done = this.#prepared.get(target) ?? new Set()
    this.#prepared.set(target, done)
    const missing = requests.filter((request) => !done.has(request))
    if (missing.length === 0) return
    await this.#sender.run(this.#order(target, missing, clients, 1, 'unsigned'))
    const load = await this.#sender.run('go')
    if (load.failed > 0) throw new Error(`${target.name}: ${load.failed} requests failed. ${load.firstFailure}`)
    for (const request of missing) done.add(request)
  }

  /** A server that breaks off is not measured in this row. */
  async measure(row: SpeedRow, targets: readonly Target[], how: Rounds): Promise<Measured> {
    const measured = new Map<Target, Round[]>()
    const broken: Record<string, string> = {}
    const factors = new Map<Target, number>()
    const unlessBroken = async (target: Target, work: () => Promise<void>) => {
      try {
        await work()
      } catch (failure) {
        broken[target.name] = (failure as Error).message
        measured.delete(target)
      }
    }
    for (const target of targets.filter(({ cannot }) => !cannot.includes(row.name))) {
      measured.set(target, [])
      await unlessBroken(target, async () => {
        await this.prepare(target, row.once ?? [])
        factors.set(target, await this.#warmUp(row, target, how))
      })
    }
    for (let round = 0; round < how.rounds; round++) {
      for (const target of shuffled([...measured.keys()])) {
        await unlessBroken(target, async () => {
          measured.get(target)?.push(await this.#round(row, target, how, factors.get(target) ?? 1))
        })
      }
    }
    const results = [...measured].map(([target, each]) => resultOf(row, target, how.payload, each))
    return { results, broken }
  }

  /** Has a server that compiles itself do some of everything, before its first row. */
  async warmUp(row: SpeedRow, target: Target, how: Rounds): Promise<void> {
    if (target.compiles !== true) return
    await this.prepare(target, row.once ?? [])
    for (let seconds = 0; seconds < how.warmUp;) seconds += secondsOf(await this.#round(row, target, how, 1))
  }

  /** How many times the requests of the row make a round long enough, when the server is warm. */
  async #warmUp(row: SpeedRow, target: Target, how: Rounds): Promise<number> {
    const factorMax = row.factorMax ?? Number.POSITIVE_INFINITY
    const enough = target.compiles === true ? ROUNDS_WITHOUT_GAIN.compiles : ROUNDS_WITHOUT_GAIN.isCompiled
    let [factor, best, without] = [1, 0, 0]
    for (let at = 0; at < WARM_UPS_MAX && without < enough; at++) {
      const round = await this.#round(row, target, how, factor)
      const took = secondsOf(round)
      const rate = round.load.requests / took
      without = rate < best * GAIN ? without + 1 : 0
      best = Math.max(best, rate)
      // Ten times as many at most, as a round of few hundredths of a second says little.
      factor = Math.min(factorMax, factor * 10, Math.max(1, (factor * how.seconds) / Math.max(took, 0.01)))
    }
    return factor
  }

  async #round(row: SpeedRow, target: Target, { payload }: Rounds, factor: number): Promise<Round> {
    const plain = row.requests(this.#next)
    const isReading = plain.every(({ method }) => method === 'GET' || method === 'HEAD')
    const requests = isReading ? plain : plain.map((request) => longer(request, factor))
    if (row.before !== undefined) {
      await this.prepare(
        target,
        row.before(this.#next).map((request) => longer(request, factor)),
      )
    }
    this.#next += Math.max(...requests.map(({ count }) => count))
    const cycles = isReading ? Math.max(1, Math.round(factor)) : 1
    await this.#sender.run(this.#order(target, requests, row.clients, cycles, payload))
    const processes = target.processes()
    const before = cpuSecondsOf(processes)
    const load = await this.#sender.run('go')
    const parts = cpuSecondsOf(processes)
    for (const part of Object.keys(parts)) parts[part] = (parts[part] ?? 0) - (before[part] ?? 0)
    return { load, parts }
  }

  #order(
    { base, accessKey, secretKey, region }: Target,
    requests: readonly SpeedRequest[],
    clients: number,
    cycles: number,
    payload: PayloadSigning,
  ): SpeedOrder {
    return { base, accessKey, secretKey, region, payload, clients, requests, cycles }
  }
}

function secondsOf({ parts }: Round): number {
  return sum(Object.values(parts))
}

/** Memory in MB of each part of a server; nothing where one of its processes has ended. */
export function memoryOf(target: Target): Record<string, number> {
  const parts: Record<string, number> = {}
  try {
    for (const { pid, part } of target.processes()) parts[part] = (parts[part] ?? 0) + proportionalMegabytes(pid)
  } catch {
    return {}
  }
  return Object.fromEntries(Object.entries(parts).map(([part, megabytes]) => [part, Math.round(megabytes)]))
}

/** What names the same keys again comes more often; what makes keys or removes them is about more of them. */
function longer(request: SpeedRequest, factor: number): SpeedRequest {
  const { method, count, times = 1 } = request
  const isRepeatable = method === 'GET' || method === 'HEAD' || request.times !== undefined
  return isRepeatable
    ? { ...request, times: Math.max(1, Math.round(times * factor)) }
    : { ...request, count: Math.round(count * factor) }
}

function resultOf(row: SpeedRow, { name, base }: Target, payload: PayloadSigning, rounds: readonly Round[]): Result {
  const unit = row.isInMegabytes === true ? (row.bodyBytes ?? 0) / 1e6 : 1
  const done = ({ load }: Round) => (load.requests - load.failed) * unit
  const requests = sum(rounds.map(({ load }) => load.requests))
  const parts: Record<string, number> = {}
  for (const round of rounds) {
    for (const [part, seconds] of Object.entries(round.parts)) parts[part] = (parts[part] ?? 0) + seconds
  }
  const kinds = new Set(rounds.flatMap(({ load }) => Object.keys(load.milliseconds)))
  const failure = rounds.find(({ load }) => load.failed > 0)?.load.firstFailure
  return {
    row: row.name,
    server: name,
    isSecure: base.startsWith('https:'),
    payload,
    perCpuSecond: significant(median(rounds.map((round) => done(round) / secondsOf(round)))),
    each: rounds.map((round) => significant(done(round) / secondsOf(round), 3)),
    perSecond: significant(median(rounds.map((round) => done(round) / round.load.seconds))),
    microseconds: Object.fromEntries(
      Object.entries(parts).map(([part, seconds]) => [part, significant((seconds * 1e6) / requests)]),
    ),
    senderShare: significant(
      sum(rounds.map(({ load }) => load.senderSeconds)) / sum(rounds.map(({ load }) => load.seconds)),
      2,
    ),
    latency: Object.fromEntries(
      [...kinds].map((kind) => {
        const all = rounds.flatMap(({ load }) => [...(load.milliseconds[kind] ?? [])]).toSorted((a, b) => a - b)
        const [p50, p99] = [significant(percentile(all, 0.5), 3), significant(percentile(all, 0.99), 3)]
        return [kind, { requests: all.length, p50, p99 }]
      }),
    ),
    failed: sum(rounds.map(({ load }) => load.failed)),
    ...(failure === undefined ? {} : { failure }),
  }
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
