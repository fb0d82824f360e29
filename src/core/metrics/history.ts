/**
 * The samples of the past: the newest in memory, all in the catalog, older ones rolled up.
 *
 * Rows that did nothing have no samples, so what is kept grows with what is used and not with what there is. Which
 * samples were taken is told by one row, that of the cluster: it has one each time, with the time that it really covers.
 * Where it has none, nothing was measured; where it has one and another row has not, that row was idle. So it is written
 * last, when the others are there.
 *
 * A sample is in memory for up to `SAVE_SECONDS` before it is committed: that much of a history a crash takes.
 */
import type { Change, Commits, Telemetry } from '../../ports/catalog.ts'
import { type Growth, type Measured, NO_GROWTH, sum } from './figures.ts'
import { blockOf, endOf, FINEST, INTERVALS, type Interval, SAMPLE_SECONDS, slotOf } from './intervals.ts'
import { decodeSamples, encodeSamples, type Sample } from './samples.ts'

/** The row of the cluster. Others are uuids. */
export const CLUSTER_ROW = 'cluster'
export const SAVE_SECONDS = 60

/** Rows encoded, or rolled up, in one turn of the event loop and one commit. */
const BATCH = 50
/** Entries let go of in one commit. */
const DROPPED_AT_ONCE = 500
/** Blocks in memory while the writer cannot be reached: the hour that `1h` shows. */
const OPEN_MAX = FINEST.kept / FINEST.block

interface OpenBlock {
  readonly rows: Map<string, Sample[]>
  readonly unsaved: Set<string>
}

export interface OpenSample {
  put(row: string, growth: Growth): void
  end(coveredMs: number, whole: Growth): void
}

export class History {
  readonly #catalog: Telemetry & Commits
  /** Blocks of the finest interval that still grow, or are not saved. */
  readonly #open = new Map<number, OpenBlock>()
  #unsavedSeconds = 0
  /** The last block of each step that is rolled up. */
  readonly #rolled = new Map<number, number>()

  constructor(catalog: Telemetry & Commits) {
    this.#catalog = catalog
  }

  /**
   * Begins a sample that ended at a multiple of its length. Rows come one by one, so that many of them need not be in
   * one turn of the event loop; `end` makes it count. A second sample of the same time is added to the first.
   */
  async begin(timeMs: number): Promise<OpenSample> {
    const beginMs = timeMs - SAMPLE_SECONDS * 1000
    const open = await this.#openBlock(blockOf(FINEST, beginMs))
    const slot = slotOf(FINEST, beginMs)
    return {
      put(row, growth) {
        put(open, row, { slot, coveredMs: 0, growth })
      },
      end: (coveredMs, whole) => {
        put(open, CLUSTER_ROW, { slot, coveredMs, growth: whole })
        this.#unsavedSeconds += SAMPLE_SECONDS
      },
    }
  }

  /** What is due after a sample: saving, rolling up, letting go of what is too old. What fails is tried the next time. */
  async keep(nowMs: number): Promise<void> {
    const now = blockOf(FINEST, nowMs)
    const hasClosed = [...this.#open.keys()].some((block) => block < now)
    if (!hasClosed && this.#unsavedSeconds < SAVE_SECONDS) return
    await this.save()
    for (const block of this.#open.keys()) if (block < now) this.#open.delete(block)
    if (!hasClosed && this.#rolled.size > 0) return
    for (const [at, coarse] of INTERVALS.entries()) {
      const fine = INTERVALS[at - 1]
      if (fine !== undefined) await this.#rollUp(fine, coarse, nowMs)
    }
    for (const interval of INTERVALS) await this.#drop(interval, nowMs)
  }

  /** Commits what is only in memory. */
  async save(): Promise<void> {
    for (const [block, open] of this.#open) {
      let rows: string[] = []
      for (const row of open.unsaved) {
        if (row !== CLUSTER_ROW) rows.push(row)
        if (rows.length < BATCH) continue
        await this.#saveRows(block, open, rows)
        rows = []
      }
      if (open.unsaved.size > 0) await this.#saveRows(block, open, [...rows, CLUSTER_ROW])
    }
    this.#unsavedSeconds = 0
  }

  async #saveRows(block: number, open: OpenBlock, rows: readonly string[]): Promise<void> {
    await this.#catalog.commit(rows.map((row) => putChange(FINEST, block, row, open.rows.get(row) ?? [])))
    for (const row of rows) open.unsaved.delete(row)
  }

  /** The samples of a row that an interval has, oldest first. */
  async read(row: string, interval: Interval, nowMs: number): Promise<Measured[]> {
    const beginMs = nowMs - interval.kept * 1000
    const first = blockOf(interval, beginMs)
    const blocks = Array.from({ length: blockOf(interval, nowMs) - first + 1 }, (_, at) => first + at)
    const [taken, own] = await Promise.all([
      this.#samplesOf(CLUSTER_ROW, interval, blocks),
      this.#samplesOf(row, interval, blocks),
    ])
    return blocks.flatMap((block) => {
      const grown = new Map(own(block).map(({ slot, growth }) => [slot, growth]))
      return taken(block)
        .map(({ slot, coveredMs }) => ({
          timeMs: endOf(interval, block, slot),
          coveredMs,
          growth: grown.get(slot) ?? NO_GROWTH,
        }))
        .filter(({ timeMs }) => timeMs > beginMs && timeMs <= nowMs)
    })
  }

  async #samplesOf(row: string, { step }: Interval, blocks: readonly number[]): Promise<(block: number) => Sample[]> {
    const stored = await this.#catalog.samplesOf(step, row, blocks)
    return (block) => {
      const open = step === FINEST.step ? this.#open.get(block) : undefined
      return open === undefined ? decodeSamples(stored.get(block)) : (open.rows.get(row) ?? [])
    }
  }

  /** The block in memory, with what an earlier start has saved of it. */
  async #openBlock(block: number): Promise<OpenBlock> {
    const known = this.#open.get(block)
    if (known !== undefined) return known
    const rows = new Map<string, Sample[]>()
    for await (const { row, samples } of this.#stored(FINEST, block)) rows.set(row, samples)
    const open = { rows, unsaved: new Set<string>() }
    this.#open.set(block, open)
    for (const oldest of this.#open.keys()) if (this.#open.size > OPEN_MAX) this.#open.delete(oldest)
    return open
  }

  async *#stored(interval: Interval, block: number): AsyncGenerator<{ row: string; samples: Sample[] }> {
    for (let after = ''; ;) {
      const page = await this.#catalog.samples(interval.step, block, after, BATCH)
      for (const { row, body } of page) yield { row, samples: decodeSamples(body) }
      const last = page.at(-1)
      if (last === undefined || page.length < BATCH) return
      after = last.row
    }
  }

  /**
   * Makes a sample of the coarser interval of each closed block of the finer one, from the newest back to one that has
   * been done: mostly one, more after the writer could not be reached, or when this process ended before it came to it.
   */
  async #rollUp(fine: Interval, coarse: Interval, nowMs: number): Promise<void> {
    const due: number[] = []
    let before = blockOf(fine, nowMs)
    while (due.length < fine.kept / fine.block) {
      const block = await this.#catalog.lastSamples(fine.step, before)
      if (block === undefined || (await this.#isRolled(fine, coarse, block))) break
      due.unshift(block)
      before = block
    }
    for (const block of due) await this.#rollUpBlock(fine, coarse, block)
  }

  async #isRolled(fine: Interval, coarse: Interval, block: number): Promise<boolean> {
    const until = this.#rolled.get(fine.step)
    if (until !== undefined) return block <= until
    const [at, slot] = placeOf(fine, coarse, block)
    const stored = await this.#catalog.samplesOf(coarse.step, CLUSTER_ROW, [at])
    return decodeSamples(stored.get(at)).some((sample) => sample.slot === slot)
  }

  async #rollUpBlock(fine: Interval, coarse: Interval, block: number): Promise<void> {
    const [at, slot] = placeOf(fine, coarse, block)
    const rolled = async (row: string, samples: readonly Sample[]): Promise<Change> => {
      const stored = decodeSamples((await this.#catalog.samplesOf(coarse.step, row, [at])).get(at))
      const others = stored.filter((sample) => sample.slot !== slot)
      return putChange(coarse, at, row, [...others, total(slot, samples)])
    }
    // What was saved of a sample when a crash came in between counts for nothing, as where it is read.
    const whole = decodeSamples((await this.#catalog.samplesOf(fine.step, CLUSTER_ROW, [block])).get(block))
    const taken = new Set(whole.map((sample) => sample.slot))
    let changes: Change[] = []
    for await (const { row, samples } of this.#stored(fine, block)) {
      if (row === CLUSTER_ROW) continue
      changes.push(
        await rolled(
          row,
          samples.filter((sample) => taken.has(sample.slot)),
        ),
      )
      if (changes.length < BATCH) continue
      await this.#catalog.commit(changes)
      changes = []
    }
    await this.#catalog.commit([...changes, await rolled(CLUSTER_ROW, whole)])
    this.#rolled.set(fine.step, block)
  }

  async #drop(interval: Interval, nowMs: number): Promise<void> {
    const before = blockOf(interval, nowMs - interval.kept * 1000)
    for (let dropped = DROPPED_AT_ONCE; dropped === DROPPED_AT_ONCE;) {
      const [outcome] = await this.#catalog.commit([
        { do: 'drop-samples', step: interval.step, before, limit: DROPPED_AT_ONCE },
      ])
      dropped = outcome?.reclaimed ?? 0
    }
  }
}

/** The block and the sample of the coarser interval that a block of the finer one becomes. */
function placeOf(fine: Interval, coarse: Interval, block: number): [block: number, slot: number] {
  const beginMs = block * fine.block * 1000
  return [blockOf(coarse, beginMs), slotOf(coarse, beginMs)]
}

function put({ rows, unsaved }: OpenBlock, row: string, sample: Sample): void {
  const samples = rows.get(row) ?? []
  const same = samples.findIndex(({ slot }) => slot === sample.slot)
  if (same < 0) samples.push(sample)
  else samples[same] = total(sample.slot, [samples[same] ?? sample, sample])
  rows.set(row, samples)
  unsaved.add(row)
}

function total(slot: number, samples: readonly Sample[]): Sample {
  return {
    slot,
    coveredMs: samples.reduce((ms, sample) => ms + sample.coveredMs, 0),
    growth: samples.reduce((growth, sample) => sum(growth, sample.growth), NO_GROWTH),
  }
}

function putChange(interval: Interval, block: number, row: string, samples: readonly Sample[]): Change {
  const ordered = samples.toSorted((a, b) => a.slot - b.slot)
  return { do: 'put-samples', step: interval.step, block, row, body: encodeSamples(ordered) }
}
