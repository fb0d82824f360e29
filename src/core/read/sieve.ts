/** Which rows pass filters, looked at in the order of what that costs: what is stored, names, what must be derived. */
import { passes, predicate, type Filter } from '../../model/query.ts'
import type { Resource } from '../../model/resource.ts'
import type { SomeType } from '../../model/rows.ts'
import type { Row } from '../../model/value.ts'
import { onceEach, type Behaviour, type Derivation } from '../behaviour.ts'
import type { Cluster } from '../cluster.ts'
import { deriveSome, givers, isDerived, isOwn } from './derive.ts'
import { areWhole } from './long-values.ts'
import { inTurns } from '../time/turns.ts'
import { isLacking, wholeRows, type Needed } from './whole-rows.ts'

/** So many rows are looked at in a part of a millisecond, if the filters are not very long. */
const ROWS_AT_ONCE = 250

export class Sieve {
  readonly #cluster: Cluster
  readonly #stored: readonly Filter[]
  readonly #passesStored: (row: Row) => boolean
  readonly #names: readonly NameFilter[]
  readonly #derived: readonly Filter[]
  readonly #needed: readonly Derivation[]
  readonly #once = onceEach()
  readonly #resource: Resource
  /** What is looked at of what may be left out of rows, beside what stored fields are filtered by. */
  readonly #looksAt: Needed

  /** Rows that pass have what is derived at `paths`, beside what the filters needed. */
  constructor(cluster: Cluster, behaviour: Behaviour, filters: readonly Filter[], paths: readonly string[]) {
    this.#cluster = cluster
    this.#resource = behaviour.resource
    const names: NameFilter[] = []
    const derived: Filter[] = []
    for (const filter of filters.filter(({ path }) => isDerived(behaviour, path))) {
      const reference = behaviour.resource.fields.get(filter.path)?.reference
      const isAlone = givers(behaviour, new Set([filter.path])).length === 1
      if (reference?.part !== 'name' || !isAlone) derived.push(filter)
      else names.push(new NameFilter(cluster, filter, reference.type, `${reference.base}.uuid`))
    }
    this.#stored = filters.filter(({ path }) => !isDerived(behaviour, path))
    this.#passesStored = predicate(this.#stored)
    this.#names = names
    this.#derived = derived
    this.#needed = givers(behaviour, new Set([...derived.map(({ path }) => path), ...paths]))
    // What a resource derives may be of any of its fields.
    this.#looksAt = this.#needed.some((each) => isOwn(behaviour, each)) ? 'all' : paths
  }

  /**
   * Rows in memory, some at a time, without most of those that do not pass: what is stored, and names that were looked up
   * before, are looked at for many rows at once.
   */
  async *candidates(rows: readonly Row[]): AsyncGenerator<readonly Row[], void, void> {
    if ((this.#stored.length === 0 && this.#names.length === 0) || !areWhole(rows)) {
      yield* inTurns(this.#cluster.system, rows)
      return
    }
    const isKept = (row: Row) => this.#passesStored(row) && this.#names.every((filter) => filter.mayPass(row))
    for await (const some of inTurns(this.#cluster.system, rows, ROWS_AT_ONCE)) {
      const passing = some.filter(isKept)
      if (passing.length > 0) yield* inTurns(this.#cluster.system, passing)
    }
  }

  /** Of rows of one reading, some at a time. */
  async sift(rows: readonly Row[]): Promise<readonly Row[]> {
    const stored = this.#stored.map(({ path }) => path)
    let passing: readonly Row[] = (await this.#whole(rows, stored)).filter(this.#passesStored)
    for (const filter of this.#names) passing = await filter.sift(passing)
    passing = await this.#whole(passing, this.#looksAt)
    const derived = await deriveSome(this.#cluster, this.#needed, passing, this.#once)
    return derived.filter((row) => passes(row, this.#derived))
  }

  async #whole(rows: readonly Row[], needed: Needed): Promise<readonly Row[]> {
    if (!rows.some((row) => isLacking(row, needed))) return rows
    const whole: Row[] = []
    for await (const some of wholeRows(this.#cluster, this.#resource, rows, needed)) {
      whole.push(...some.map(({ row }) => row))
    }
    return whole
  }
}

/** A filter on the name of what rows refer to: it is asked once of each name, however many rows share it. */
class NameFilter {
  readonly #cluster: Cluster
  readonly #filter: Filter
  readonly #type: SomeType
  readonly #uuidPath: string
  readonly #verdicts = new Map<unknown, boolean>()

  constructor(cluster: Cluster, filter: Filter, type: SomeType, uuidPath: string) {
    this.#cluster = cluster
    this.#filter = filter
    this.#type = type
    this.#uuidPath = uuidPath
  }

  /** False where the name is known, and does not pass. */
  mayPass(row: Row): boolean {
    return this.#verdicts.get(row[this.#uuidPath]) !== false
  }

  async sift(rows: readonly Row[]): Promise<Row[]> {
    for (const uuid of new Set(rows.map((row) => row[this.#uuidPath]))) {
      if (this.#verdicts.has(uuid)) continue
      const name = typeof uuid === 'string' ? ((await this.#cluster.find(this.#type, uuid))?.['name'] ?? null) : null
      this.#verdicts.set(uuid, passes({ [this.#filter.path]: name }, [this.#filter]))
    }
    return rows.filter((row) => this.#verdicts.get(row[this.#uuidPath]) === true)
  }
}
