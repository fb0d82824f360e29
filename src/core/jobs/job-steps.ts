/**
 * The steps that a job was made with, and what becomes of one whose verb has other steps by now: an upgrade came between.
 *
 * What its steps noted, and how far it is, means nothing to other steps; to go on with these could leave something that
 * is neither done nor undone. So it fails with a sentence, and what it had made is taken back: steps can be undone after
 * they were half done, or not begun. The record of what a job makes is written by its last step. Where that was what it
 * was in, and the record is there, all of it was done.
 *
 * The record of a job names the steps. Those of jobs from before that was so are told by the message of their step.
 */
import type { Job } from './job-record.ts'
import type { Verb } from '../verb.ts'

/** What a job's record says of the step it is in. */
const MESSAGE = /^(?:Step (?<number>\d+) of (?<total>\d+)|Undoing step (?<undone>\d+)): (?<name>.*)\.$/

export function stepsOf(verb: Pick<Verb, 'steps'> | undefined): Pick<Job, '$steps'> {
  return verb === undefined ? {} : { $steps: verb.steps.map(({ name }) => name) }
}

interface Upgraded {
  /** The last step of today that may have something to undo; -1: none has. */
  readonly undoFrom: number
  /** It was in its last step. */
  readonly isLast: boolean
}

/** What is to be known of a job that cannot go on with the steps of its verb; nothing where it can. */
export function upgraded(job: Job, verb: Verb): Upgraded | undefined {
  const at = job.$at
  const names = verb.steps.map(({ name }) => name)
  const before = job.$steps
  if (before === undefined) return withoutNames(job, names)
  if (before.length === names.length && before.every((name, n) => name === names[n])) return undefined
  const begun = isWaiting(job) ? [] : before.slice(0, at + 1)
  return { undoFrom: undoFrom(job, names, begun), isLast: at === before.length - 1 }
}

function withoutNames(job: Job, names: readonly string[]): Upgraded | undefined {
  const at = job.$at
  if (isWaiting(job)) return undefined
  const { number, total, name } = MESSAGE.exec(job['message'])?.groups ?? {}
  const isTold = name !== undefined
  const isOther = isTold && (names[at] !== name || (number !== undefined && Number(total) !== names.length))
  // Where a step told something else, its number says only that there was one; a job of one step is its old self.
  const isUntold = !isTold && names.length > 1 && isMaking(job) && job['message'] !== ''
  if (!isOther && !isUntold && at < names.length) return undefined
  return { undoFrom: undoFrom(job, names, isTold ? [name] : []), isLast: isTold && Number(total) === at + 1 }
}

/** What was being made is not there yet, so nothing is lost where all steps are undone. */
function undoFrom(job: Job, names: readonly string[], begun: readonly string[]): number {
  if (isWaiting(job)) return -1
  return isMaking(job) ? names.length - 1 : names.findLastIndex((name) => begun.includes(name))
}

const isWaiting = (job: Job) => job['state'] === 'queued'
const isMaking = (job: Job) => job.$verb === 'create'
