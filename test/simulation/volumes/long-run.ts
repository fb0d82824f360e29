/**
 * The long run: `node_modules/.bin/node test/simulation/volumes/long-run.ts --steps 100000`, some ten minutes on a core.
 * It is made of runs of a thousand steps, each in a cluster of its own with the next seed. One that fails is made shorter,
 * and tells how to do it again: `--seed 17 --steps 1000 --keep 3,9,512`.
 */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { run, RunFailed, seedsOf, type Tally } from './run.ts'

const RUN_STEPS = 1000
const SHRINK_MS = 120_000
const REPORT_MS = 30_000
const COMMAND = 'test/simulation/volumes/long-run.ts'

const { values } = parseArgs({
  options: { steps: { type: 'string' }, seed: { type: 'string' }, keep: { type: 'string' } },
})
const wanted = Number(values.steps ?? 100_000)
const first = Number(values.seed ?? randomInt(2 ** 31))
process.exitCode = values.keep === undefined ? await long() : await again(values.keep.split(',').map(Number))

async function long(): Promise<number> {
  const total: Tally = { steps: 0, ends: 0, faults: 0, byName: new Map() }
  const begunMs = performance.now()
  let reportedMs = begunMs
  console.log(`${wanted} steps from seed ${first} on`)
  for (let seed = first; total.steps < wanted; seed++) {
    const steps = Math.min(RUN_STEPS, wanted - total.steps)
    try {
      add(total, await run(seed, seedsOf(seed, steps)))
    } catch (failure) {
      if (!(failure instanceof RunFailed)) throw failure
      console.error(failure.message)
      await shorten(seed, steps)
      return 1
    }
    if (performance.now() - reportedMs > REPORT_MS) {
      reportedMs = performance.now()
      console.log(summary(total, begunMs))
    }
  }
  console.log(summary(total, begunMs))
  for (const [name, times] of [...total.byName].toSorted(([, a], [, b]) => b - a)) console.log(`  ${times} ${name}`)
  return 0
}

function add(total: Tally, more: Tally): void {
  total.steps += more.steps
  total.ends += more.ends
  total.faults += more.faults
  for (const [name, times] of more.byName) total.byName.set(name, (total.byName.get(name) ?? 0) + times)
}

function summary({ steps, ends, faults }: Tally, begunMs: number): string {
  const seconds = (performance.now() - begunMs) / 1000
  const { user, system } = process.cpuUsage()
  const rate = (steps / seconds).toFixed(0)
  const core = (steps / ((user + system) / 1e6)).toFixed(0)
  return (
    `${steps} steps in ${seconds.toFixed(0)} s (${rate} a second, ${core} for a second of a core): ` +
    `the process ended in ${ends} of them, a disk or a commit failed in ${faults}`
  )
}

/** Leaves out steps, fewer at a time, as long as what is left still fails. */
async function shorten(seed: number, steps: number): Promise<void> {
  const seeds = seedsOf(seed, steps)
  const untilMs = performance.now() + SHRINK_MS
  let kept = seeds.map((_, at) => at)
  let shortest: RunFailed | undefined
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < kept.length && performance.now() < untilMs;) {
      const fewer = kept.toSpliced(at, size)
      const failure = await failureOf(seed, seeds, fewer)
      if (failure === undefined) at += size
      else [kept, shortest] = [fewer, failure]
    }
  }
  if (shortest !== undefined) console.error(`\nThe same in ${kept.length} steps:\n${shortest.message}`)
  const keep = shortest === undefined ? '' : ` --keep ${kept.join()}`
  console.error(`\nAgain: node_modules/.bin/node ${COMMAND} --seed ${seed} --steps ${steps}${keep}`)
}

async function failureOf(
  seed: number,
  seeds: readonly number[],
  kept: readonly number[],
): Promise<RunFailed | undefined> {
  try {
    await run(
      seed,
      kept.map((at) => seeds[at] ?? 0),
    )
    return undefined
  } catch (failure) {
    if (failure instanceof RunFailed) return failure
    throw failure
  }
}

async function again(kept: readonly number[]): Promise<number> {
  const failure = await failureOf(first, seedsOf(first, wanted), kept)
  console.error(failure?.message ?? 'It does not fail.')
  return failure === undefined ? 0 : 1
}
