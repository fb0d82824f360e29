/** Forms of entries of the table: each words one sort of failure in the same way everywhere, and knows its usual code. */
import type { FailureEntry, FailureKind } from './entry.ts'
import { usualErrno } from './entry.ts'
import { errno } from './errno.ts'

interface Differing {
  readonly code?: string
  readonly errno?: number
  readonly action?: string
}

/** An entry whose texts the compiler knows. */
interface Known<Message extends string, Target extends string | undefined> extends FailureEntry {
  readonly message: Message
  readonly target: Target
}

function entry<const Message extends string, const Target extends string | undefined>(
  kind: FailureKind,
  code: string,
  target: Target,
  message: Message,
  action: string,
  differing: Differing,
): Known<Message, Target> {
  return { kind, code, errno: usualErrno[kind], message, action, target, ...differing }
}

export function duplicate<const What extends string, const Target extends string>(
  what: What,
  target: Target,
  differing: Differing = {},
): Known<`${What} exists already (duplicate entry). Choose another ${Target}.`, Target> {
  const message = `${what} exists already (duplicate entry). Choose another ${target}.` as const
  return entry('conflict', '1', target, message, `Choose another ${target}.`, { errno: errno.duplicate, ...differing })
}

export function notFound<const What extends string, const Target extends string | undefined = undefined>(
  what: What,
  target?: Target,
  differing: Differing = {},
): Known<`${What}: entry doesn't exist.`, Target | undefined> {
  return entry('not-found', '4', target, `${what}: entry doesn't exist.`, 'List what exists and name that.', differing)
}

export function inUse<const Target extends string | undefined, const Message extends string>(
  target: Target,
  message: Message,
  action: string,
  differing: Differing = {},
): Known<Message, Target> {
  return entry('conflict', '8', target, message, action, differing)
}

export function invalid<const Target extends string | undefined, const Message extends string>(
  target: Target,
  message: Message,
  action: string,
  differing: Differing = {},
): Known<Message, Target> {
  return entry('invalid', '262186', target, message, action, differing)
}

/** The value of a field does not do. */
export function badValue<const Target extends string, const Problem extends string>(
  target: Target,
  problem: Problem,
  action: string,
  differing: Differing = {},
): Known<`Invalid value for field "${Target}": ${Problem}`, Target> {
  const message = `Invalid value for field "${target}": ${problem}` as const
  return { ...entry('invalid', '262197', target, message, action, differing), givens: [target, problem] }
}

/** The value of an argument of the query does not do. */
export function badArgument<const Target extends string, const Problem extends string>(
  target: Target,
  problem: Problem,
  action: string,
  differing: Differing = {},
): Known<`Invalid value for "${Target}": ${Problem}`, Target> {
  const message = `Invalid value for "${target}": ${problem}` as const
  return { ...entry('malformed', '262185', target, message, action, differing), givens: [target, problem] }
}

export function malformed<const Target extends string | undefined, const Message extends string>(
  target: Target,
  message: Message,
  action: string,
  differing: Differing = {},
): Known<Message, Target> {
  return entry('malformed', '262199', target, message, action, differing)
}

export function denied<const Target extends string | undefined, const Message extends string>(
  target: Target,
  message: Message,
  action: string,
): Known<Message, Target> {
  return entry('denied', '6', target, message, action, {})
}

/** Too much at once. Without seconds, the caller of `failure` says when to try again. */
export function tooMany<const Message extends string>(
  message: Message,
  action: string,
  retryAfterSeconds?: number,
): Known<Message, undefined> {
  const limited = entry('limited', '262160', undefined, message, action, {})
  return retryAfterSeconds === undefined ? limited : { ...limited, retryAfterSeconds }
}

export function unavailable<const Message extends string>(message: Message, action: string): Known<Message, undefined> {
  return { ...entry('unavailable', '65552', undefined, message, action, {}), retryAfterSeconds: 1 }
}

export function full<const Message extends string>(message: Message, action: string): Known<Message, undefined> {
  return entry('full', '1245212', undefined, message, action, {})
}

export function internal<const Message extends string>(message: Message, action: string): Known<Message, undefined> {
  return entry('internal', '262145', undefined, message, action, {})
}

export { entry }
