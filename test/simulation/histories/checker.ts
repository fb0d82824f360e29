import { step } from './model.ts'
import type { Answer, Operation, State, Versioning } from './model.ts'

/** One request as its client saw it. Times are of one clock. */
export interface Call {
  readonly operation: Operation
  readonly answer: Answer
  readonly calledAt: number
  readonly answeredAt: number
}

/**
 * Whether there is an order of the calls, one at a time, that explains all answers, and in which no call comes before one
 * that had been answered when it was made (linearizability: Herlihy and Wing, 1990). The search is that of Wing and Gong
 * with Lowe's memory of what was tried: a set of calls done and the state it led to.
 */
export function isExplained(versioning: Versioning, calls: readonly Call[]): boolean {
  const ordered = calls.toSorted((a, b) => a.calledAt - b.calledAt)
  const tried = new Set<string>()
  const all = (1n << BigInt(ordered.length)) - 1n

  function search(done: bigint, state: State): boolean {
    if (done === all) return true
    const key = `${done} ${JSON.stringify(state)}`
    if (tried.has(key)) return false
    tried.add(key)
    // Of those left, whatever was called before the first of them was answered may have come first.
    let firstAnswer = Infinity
    for (const [at, call] of ordered.entries()) {
      if (((done >> BigInt(at)) & 1n) === 0n) firstAnswer = Math.min(firstAnswer, call.answeredAt)
    }
    for (const [at, call] of ordered.entries()) {
      if (((done >> BigInt(at)) & 1n) === 1n) continue
      if (call.calledAt > firstAnswer) break
      const next = step(versioning, state, call.operation, call.answer)
      if (next !== undefined && search(done | (1n << BigInt(at)), next)) return true
    }
    return false
  }
  return search(0n, [])
}
