/**
 * Runs: a cluster from its first start on, to which one thing after the other is done by chance. Every step has a seed of
 * its own, from which all follows that is chosen in it, so a run is a list of numbers: the same list does the same, and
 * a list without some of them is a run as well. That is how a long run that failed becomes a short one.
 *
 * Beside what is asked for, something goes wrong in some steps: the process ends at a call to a port, before it or after
 * it; a disk fails; a commit fails, or its answer is lost. What was acknowledged must be there afterwards; what was not is
 * there as a whole or not at all, which is found out by comparing with both.
 */
import assert from 'node:assert/strict'
import { SimulatedRandom } from '../../../src/engines/simulated/random.ts'
import { CUT_OFF } from './bodies.ts'
import { checkAll, checkAside, checkDisks, checkRubbish, checkSample, learnSnapshots } from './check.ts'
import type { Strike } from './life.ts'
import { Model } from './model.ts'
import { Refusal, type Deed, type Operation } from './operation.ts'
import { operations } from './operations.ts'
import { settleAll } from './operations/cluster.ts'
import { World, type Answer } from './world.ts'

/** Everything is compared so often, and after each step in which something went wrong; files with rows more often. */
const ALL_EVERY = 40
const FILES_EVERY = 4
const STRUCK = 0.07
const STRIKE_CALLS_MAX = 8
const PAUSE_MS_MAX = 2000
/** What a client may be told when a disk or the catalog fails. */
const FAILED = /^(InternalError|InsufficientStorage|QuotaExceeded|SlowDown|500|503|507)/

export interface Tally {
  steps: number
  ends: number
  faults: number
  readonly byName: Map<string, number>
}

export class RunFailed extends Error {
  constructor(trail: readonly string[], cause: unknown) {
    super(`${trail.join('\n')}\n${cause instanceof Error ? cause.stack : String(cause)}`)
    this.name = 'RunFailed'
  }
}

export function seedsOf(seed: number, steps: number): number[] {
  const random = new SimulatedRandom(seed)
  return Array.from({ length: steps }, () => random.below(2 ** 31))
}

/** Does these steps to a new cluster. Throws `RunFailed`, with what was done last. */
export function run(seed: number, steps: readonly number[]): Promise<Tally> {
  return inWorld(seed, async (go) => {
    for (const step of steps) await go(step)
  })
}

/**
 * Does an operation again and again, with something going wrong at its first call, its second, and so on, until it has no
 * such call; and that with everything that can go wrong. In between others are done, so that it meets all kinds of
 * clusters. Gives how often it was broken.
 */
export async function breakEverywhere(
  seed: number,
  operation: Operation,
  breakages: readonly Breakage[] = BREAKAGES,
): Promise<number> {
  const random = new SimulatedRandom(seed)
  const points = breakagesOf(breakages)
  const wayTo = operations.filter(({ name }) => operation.follows?.includes(name) === true)
  let broken = 0
  let point = points.next()
  for (let worlds = 0; point.done !== true; worlds++) {
    assert.ok(worlds < WORLDS_MAX, `${operation.name} is not done to its end`)
    await inWorld(seed + worlds, async (go) => {
      // Where all names are taken and everything is full it cannot be done any more: the next world begins empty.
      for (let tries = 0; tries < TRIES_MAX && point.done !== true; tries++) {
        for (let between = 0; between < STEPS_BETWEEN; between++) await go(random.below(2 ** 31), { isOnTheWay: true })
        for (const leading of wayTo) await go(random.below(2 ** 31), { operation: leading, isOnTheWay: true })
        const ended = await go(random.below(2 ** 31), { operation, strike: point.value })
        if (ended === 'struck') broken++
        if (ended === 'struck' || ended === 'done') [point, tries] = [points.next(ended), 0]
      }
    })
  }
  return broken
}

/** Everything that can go wrong, at one call after the other until there are no more. */
function* breakagesOf(breakages: readonly Breakage[]): Generator<Strike, void, Ending> {
  for (const breakage of breakages) {
    for (let at = 1; (yield { ...breakage, at }) === 'struck';) at++
  }
}

/** Steps that find nothing to do it to, or where it is refused, before another world is made. */
const TRIES_MAX = 25
const WORLDS_MAX = 50
const STEPS_BETWEEN = 2
export const BREAKAGES = [
  { does: 'end', when: 'before' },
  { does: 'end', when: 'after' },
  { does: 'lose', when: 'before' },
  { does: 'lose', when: 'after' },
  { does: 'fail', reason: 'no-space' },
  { does: 'fail', reason: 'io' },
] as const
type Breakage = (typeof BREAKAGES)[number]

/** What is to be in a step, where that is not left to chance. */
interface Plan {
  readonly operation?: Operation
  readonly strike?: Strike
  /** It leads to what is to be broken: everything is compared after that, not after this as well. */
  readonly isOnTheWay?: boolean
}

/** `struck`: something went wrong. `refused`: as the model has it. `impossible`: there was nothing to do it to. */
export type Ending = 'done' | 'struck' | 'refused' | 'impossible'
type Go = (step: number, plan?: Plan) => Promise<Ending>

async function inWorld(seed: number, act: (go: Go) => Promise<void>): Promise<Tally> {
  const world = await World.start(new SimulatedRandom(seed))
  const tally: Tally = { steps: 0, ends: 0, faults: 0, byName: new Map() }
  const trail: string[] = []
  let model = new Model()
  try {
    await act(async (step, plan) => {
      const done = await new Step(world, model, new SimulatedRandom(step), tally, trail).done(plan)
      model = done.model
      tally.steps++
      return done.ending
    })
    await world.restart()
    settleAll(model)
    await checkAll(world, model)
    await checkDisks(world, model)
    await checkAside(world, model)
    return tally
  } catch (failure) {
    throw new RunFailed(trail.slice(-TRAIL), failure)
  } finally {
    await world.close()
  }
}

const TRAIL = 40
/** Draws for one operation, whose choice may be of something it cannot be done to. */
const CHOICES_MAX = 20

class Step {
  readonly #world: World
  readonly #before: Model
  readonly #random: SimulatedRandom
  readonly #tally: Tally
  readonly #trail: string[]

  constructor(world: World, before: Model, random: SimulatedRandom, tally: Tally, trail: string[]) {
    this.#world = world
    this.#before = before
    this.#random = random
    this.#tally = tally
    this.#trail = trail
  }

  /** The model as it is afterwards, and how it ended. */
  async done(plan?: Plan): Promise<{ readonly model: Model; readonly ending: Ending }> {
    const world = this.#world
    const random = this.#random
    await world.pass(1 + random.below(PAUSE_MS_MAX))
    const chosen = this.#choose(plan?.operation)
    if (chosen === undefined) return { model: this.#before, ending: 'impossible' }
    const { operation, deed } = chosen
    this.#tally.byName.set(operation.name, (this.#tally.byName.get(operation.name) ?? 0) + 1)
    const strike = plan === undefined ? (random.chance(STRUCK) ? someStrike(random) : undefined) : plan.strike
    this.#trail.push(`${this.#tally.steps}: ${deed.says}${strike === undefined ? '' : `   ${JSON.stringify(strike)}`}`)
    world.logged.length = 0
    world.arm(strike)
    const answer = await world.run(() => deed.act(world))
    const isStruck = answer === 'ended' || world.life.hasStruck
    world.arm(undefined)
    const model = isStruck ? await this.#afterStrike(deed, strike, answer) : this.#plainly(deed, answer)
    if (plan?.isOnTheWay === true) {
      await learnSnapshots(world, model)
      return { model, ending: endingOf(answer, isStruck) }
    }
    await checkSample(world, model, random)
    if (this.#tally.steps % ALL_EVERY === 0) await checkAll(world, model)
    if (!world.life.hasLeftRubbish) {
      if (this.#tally.steps % FILES_EVERY === 0) await checkRubbish(world)
      if (deed.isHousekeeping === true) await checkDisks(world, model)
    }
    return { model, ending: endingOf(answer, isStruck) }
  }

  #choose(wanted: Operation | undefined): { readonly operation: Operation; readonly deed: Deed } | undefined {
    const weights = operations.reduce((sum, { weight }) => sum + weight, 0)
    for (let tries = 0; ; tries++) {
      let at = this.#random.below(weights)
      if (wanted !== undefined && tries >= CHOICES_MAX) return undefined
      const operation = wanted ?? operations.find(({ weight }) => (at -= weight) < 0)
      const deed = operation?.choose(this.#before, this.#random)
      if (operation === undefined || deed === undefined) continue
      if (wanted === undefined) return { operation, deed }
      // What is refused before its first call has none to break: runs by chance see to that it is refused.
      const { refused = CUT_OFF } = mirrored(this.#before, deed, {})
      if (refused === CUT_OFF) return { operation, deed }
    }
  }

  /** Nothing went wrong: what the model says is what has to be answered, and what is there. */
  #plainly(deed: Deed, answer: Answer): Model {
    const { model, refused } = mirrored(this.#before, deed, answer)
    if (refused === undefined) assert.deepEqual(answer.refused, undefined)
    else assert.ok(answer.refused?.startsWith(refused), `refused: ${answer.refused}, and not ${refused}`)
    if (!(refused === 'InternalError')) assert.deepEqual(this.#world.logged, [])
    return model
  }

  async #afterStrike(deed: Deed, strike: Strike | undefined, answer: Answer | 'ended'): Promise<Model> {
    const world = this.#world
    const isOver = answer === 'ended'
    if (isOver) this.#tally.ends++
    else this.#tally.faults++
    this.#trail.push(`   ${isOver ? 'the process ended' : `answered ${JSON.stringify(answer)}`}`)
    const told = isOver ? {} : answer
    const { model, refused } = mirrored(this.#before, deed, told)
    if (!isOver && told.refused !== undefined) {
      const isRightful = refused !== undefined && told.refused.startsWith(refused)
      const isExplained = FAILED.test(told.refused) || deed.failsWith?.test(told.refused) === true
      assert.ok(isRightful || isExplained, `a failure of a disk or the catalog: ${told.refused}`)
    }
    const isAcknowledged = !isOver && told.refused === undefined
    // Jobs are left for the next start where the catalog failed. Disks fail and go on, but what a failed unlink left is
    // swept at a start alone.
    const isRestarted = isOver || strike?.does !== 'fail' || this.#random.chance(0.3)
    if (isRestarted) await world.restart()
    else if (deed.isHousekeeping === true) await world.run(() => world.housekeeping.round())
    await world.run(() => world.housekeeping.removeTrees())
    const isTidy = isRestarted || deed.isHousekeeping === true
    const candidates =
      isAcknowledged && deed.isHousekeeping !== true
        ? [model]
        : [...(deed.stages?.(this.#before) ?? [this.#before]), model]
    const failures: unknown[] = []
    for (const candidate of candidates) {
      if (isTidy) settleAll(candidate)
      try {
        await checkAll(world, candidate)
        if (isTidy && !world.life.hasLeftRubbish) await checkDisks(world, candidate)
        return candidate
      } catch (failure) {
        failures.push(failure)
      }
    }
    throw failures.length === 1 ? failures[0] : new AggregateError(failures, failures.map(String).join('\n--- or\n'))
  }
}

function endingOf(answer: Answer | 'ended', isStruck: boolean): Ending {
  const isRefused = answer !== 'ended' && answer.refused !== undefined && answer.refused !== CUT_OFF
  return isStruck ? 'struck' : isRefused ? 'refused' : 'done'
}

/** The model with the deed done to it, unless it has to be refused. */
function mirrored(before: Model, deed: Deed, answer: Answer): { readonly model: Model; readonly refused?: string } {
  const model = before.clone()
  try {
    deed.mirror(model, answer)
    return { model }
  } catch (failure) {
    if (failure instanceof Refusal) return { model: before, refused: failure.code }
    throw failure
  }
}

function someStrike(random: SimulatedRandom): Strike {
  // Most requests make few calls, jobs make more.
  const at = 1 + random.below(1 + random.below(STRIKE_CALLS_MAX))
  const when = random.chance(0.5) ? 'before' : 'after'
  const sort = random.below(10)
  if (sort < 5) return { does: 'end', at, when }
  if (sort < 7) return { does: 'lose', at, when }
  return { does: 'fail', at, reason: random.chance(0.5) ? 'no-space' : 'io' }
}
