/** What every section of the benchmark is given: the product, the references, and how a case is measured. */
import type { Product } from '../test/support/product.ts'
import { RestClient } from '../test/support/rest-client.ts'
import type { DurableOrder } from './durable.ts'
import type { FlowLoads, FlowOrder } from './flows.ts'
import type { Bare, Nginx, Worker } from './helpers.ts'
import type { Held } from './loop-probe.ts'
import type { Loops } from './loops.ts'
import type { Load, Order } from './order.ts'
import { figures, head, printRow, type Line, type Row } from './report.ts'
import type { BenchSettings } from './settings.ts'

export interface BenchParts {
  readonly product: Product
  readonly generator: Worker<Order, Load>
  readonly durable: Worker<DurableOrder, Load>
  readonly flows: Worker<FlowOrder, FlowLoads>
  readonly loops: Loops
  readonly bare: Bare
  readonly nginx: Nginx | undefined
  readonly folder: string
  readonly settings: BenchSettings
}

export class Bench {
  readonly parts: BenchParts
  readonly rows: Row[] = []
  readonly rest: RestClient

  constructor(parts: BenchParts) {
    this.parts = parts
    const { user, password, management } = parts.product
    this.rest = new RestClient(management, `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`)
  }

  get settings(): BenchSettings {
    return this.parts.settings
  }

  /** A signed request to the object store, for whatever the section asks. */
  get s3(): Pick<Order, 'base' | 'credentials'> {
    const { s3Http, accessKey, secretKey } = this.parts.product
    return { base: s3Http ?? '', credentials: { accessKey, secretKey } }
  }

  get management(): Pick<Order, 'base' | 'credentials'> {
    const { management, user, password } = this.parts.product
    return { base: management, credentials: { user, password } }
  }

  run(order: Order): Promise<Load> {
    return this.parts.generator.run(order)
  }

  /** As `run`, where a single failure spoils what follows. */
  async prepare(order: Order): Promise<Load> {
    const load = await this.run(order)
    if (Object.keys(load.failures).length > 0) {
      throw new Error(`${order.method} ${order.target}: ${JSON.stringify(load.failures)} ${load.firstFailure}`)
    }
    return load
  }

  title(text: string): void {
    process.stdout.write(`\n${text}\n\n${head()}\n`)
  }

  say(text: string): void {
    process.stdout.write(`${text}\n`)
  }

  /** Measures the lines of one case one after the other, in another order in each round. */
  async measure(
    what: string,
    clients: number,
    lines: Partial<Record<Line, () => Promise<Load>>>,
    note?: string,
  ): Promise<void> {
    const loads = new Map<Line, Load[]>()
    const helds: Held[] = []
    for (let round = 0; round < this.settings.rounds; round++) {
      for (const line of shuffled(Object.keys(lines) as Line[])) {
        const { result: load, held } = await this.watched(async () => lines[line]?.())
        if (load !== undefined) loads.set(line, [...(loads.get(line) ?? []), load])
        if (line === 'product' && held !== undefined) helds.push(held)
      }
    }
    this.add(what, clients, loads, { note, held: worst(helds) })
  }

  /** How long the product's event loops were held meanwhile. */
  async watched<Result>(act: () => Promise<Result>): Promise<{ result: Result; held: Held | undefined }> {
    const { loops } = this.parts
    await loops.held()
    const result = await act()
    return { result, held: await loops.held() }
  }

  add(
    what: string,
    clients: number,
    loads: ReadonlyMap<Line, readonly Load[]>,
    { note, held }: { readonly note?: string | undefined; readonly held?: Held | undefined } = {},
  ): void {
    const failure = loads.get('product')?.find((load) => load.firstFailure !== '')?.firstFailure
    const notes = [note, failure].filter((text) => text !== undefined).join('; ')
    const row: Row = {
      what,
      clients,
      lines: Object.fromEntries([...loads].map(([line, each]) => [line, figures(each)])),
      ...(held === undefined ? {} : { held }),
      ...(notes === '' ? {} : { note: notes }),
    }
    this.rows.push(row)
    this.say(printRow(row))
  }

  /** A call to the management interface that has to succeed. */
  async call(method: string, target: string, body?: unknown): Promise<Record<string, unknown>> {
    const reply = await this.rest.call(method, target, body)
    if (reply.status >= 300) throw new Error(`${method} ${target}: ${reply.status} ${reply.text}`)
    return JSON.parse(reply.text) as Record<string, unknown>
  }

  /** The first record's field. */
  async uuidOf(collection: string, name: string): Promise<string> {
    const { records } = await this.call('GET', `${collection}?name=${name}&fields=uuid`)
    const [first] = records as { readonly uuid: string }[]
    if (first === undefined) throw new Error(`${collection} has no ${name}.`)
    return first.uuid
  }
}

function worst(helds: readonly Held[]): Held | undefined {
  if (helds.length === 0) return undefined
  return { p99Ms: Math.max(...helds.map((held) => held.p99Ms)), maxMs: Math.max(...helds.map((held) => held.maxMs)) }
}

function shuffled<Item>(items: readonly Item[]): Item[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
