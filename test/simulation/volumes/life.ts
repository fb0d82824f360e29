/**
 * One process of a cluster, from its start to its end. Everything it does to the world goes through the ports, so this is
 * where it can be ended at any moment: from then on no call of it does anything, and none is ever answered. It is also
 * where disks and the catalog's writer fail.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { CatalogUnavailable, type Catalog } from '../../../src/ports/catalog.ts'
import { VolumesFailure, type Volumes, type VolumesReason } from '../../../src/ports/volumes.ts'

/** What goes wrong, and at which call from now on, 1 being the next of its sort. */
export type Strike =
  /** The process ends, before a call that changes something does so, or when it has. */
  | { readonly does: 'end'; readonly at: number; readonly when: 'before' | 'after' }
  /** A call to a disk fails. */
  | { readonly does: 'fail'; readonly at: number; readonly reason: VolumesReason }
  /** A commit fails, before it is done or when it has been done. */
  | { readonly does: 'lose'; readonly at: number; readonly when: 'before' | 'after' }

type Sort = 'commit' | 'write' | 'read' | 'look'

const STRUCK: Readonly<Record<Strike['does'], ReadonlySet<Sort>>> = {
  end: new Set<Sort>(['commit', 'write']),
  fail: new Set<Sort>(['write', 'read']),
  lose: new Set<Sort>(['commit']),
}
const WRITES: ReadonlySet<string> = new Set([
  'claim',
  'release',
  'create',
  'remove',
  'write',
  'unlink',
  'commit',
  'setAside',
  'removeSetAside',
])
const READS: ReadonlySet<string> = new Set(['open', 'read'])

const sortOfDisk = (name: string): Sort => (WRITES.has(name) ? 'write' : READS.has(name) ? 'read' : 'look')

export class Life {
  readonly #end = Promise.withResolvers<'ended'>()
  readonly #never = new Promise<never>(() => {})
  #isOver = false
  #strike: Strike | undefined
  #left = 0
  #inFlight = 0
  #calls = 0
  #callsSeen = 0
  #hasLeftRubbish = false

  /** Settles when the process has ended. */
  get ended(): Promise<'ended'> {
    return this.#end.promise
  }

  /** Something will go wrong, if it comes to that. */
  arm(strike: Strike | undefined): void {
    this.#strike = strike
    this.#left = strike?.at ?? 0
  }

  /** Whether it came to that. */
  get hasStruck(): boolean {
    return this.#strike !== undefined && this.#left <= 0
  }

  /** Whether a file could not be unlinked: the housekeeping tries again, and what it does not know of the next start. */
  get hasLeftRubbish(): boolean {
    return this.#hasLeftRubbish
  }

  end(): void {
    this.#isOver = true
    this.#end.resolve('ended')
  }

  /** Whether a port is being waited for, or was called since this was last asked. */
  isBusy(): boolean {
    const isBusy = this.#inFlight > 0 || this.#calls !== this.#callsSeen
    this.#callsSeen = this.#calls
    return isBusy
  }

  /** What it had begun is done, if it could not be called back. */
  async settled(): Promise<void> {
    while (this.#inFlight > 0) await nextTurn()
  }

  catalog(catalog: Catalog): Catalog {
    return this.#wrap(catalog, (name) => (name === 'commit' ? 'commit' : 'look'))
  }

  volumes(volumes: Volumes): Volumes {
    return this.#wrap(volumes, sortOfDisk)
  }

  #wrap<Port extends object>(port: Port, sortOf: (name: string) => Sort): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target)
        if (typeof member !== 'function') return member
        const act = (given: unknown[]): unknown => Reflect.apply(member, target, given)
        // A disk has many: they come one by one.
        if (name === 'blobs' && sortOf === sortOfDisk)
          return (...given: unknown[]) => this.#each(act(given) as AsyncIterable<unknown>)
        return async (...given: unknown[]) => {
          const result = await this.#call(String(name), sortOf(String(name)), () => act(given))
          // A writer or a reader of a blob is a part of its port.
          return name === 'write' || name === 'open' ? this.#wrapMade(result, sortOf) : result
        }
      },
    })
  }

  #wrapMade(made: unknown, sortOf: (name: string) => Sort): unknown {
    return typeof made === 'object' && made !== null ? this.#wrap(made, sortOf) : made
  }

  async #call(name: string, sort: Sort, act: () => unknown): Promise<unknown> {
    if (this.#isOver) return this.#never
    this.#calls++
    const strike = this.#isStruck(sort)
    if (strike?.does === 'fail') {
      if (name === 'unlink') this.#hasLeftRubbish = true
      throw new VolumesFailure(strike.reason, 'The disk fails (simulated).')
    }
    if (strike?.when === 'before') return this.#goWrong(strike)
    this.#inFlight++
    const [settled] = await Promise.allSettled([act()])
    this.#inFlight--
    if (strike?.when === 'after') return this.#goWrong(strike)
    if (this.#isOver) return this.#never
    if (settled.status === 'rejected') throw settled.reason
    return settled.value
  }

  #isStruck(sort: Sort): Strike | undefined {
    if (this.#strike === undefined || this.#left <= 0 || !STRUCK[this.#strike.does].has(sort)) return undefined
    return --this.#left === 0 ? this.#strike : undefined
  }

  #goWrong({ does }: Strike): Promise<never> {
    if (does === 'lose') throw new CatalogUnavailable('The writer is gone (simulated).')
    this.end()
    return this.#never
  }

  async *#each(all: AsyncIterable<unknown>): AsyncGenerator {
    for await (const one of all) yield await this.#call('blobs', 'look', () => one)
  }
}
