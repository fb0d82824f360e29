/** What lock and legal hold of a row forbid. */
import type { ObjectLock } from '../ports/catalog.ts'
import { refuse } from './refusal.ts'

export interface HeldColumns {
  readonly lockMode: ObjectLock['mode'] | null
  readonly lockUntil: number | null
  readonly hold: number | null
}

export interface Authority {
  /** Without it no lock is taken to have ended. */
  readonly nowMs?: number | undefined
  readonly bypassGovernance?: boolean | undefined
}

export function checkRemovable(row: HeldColumns | undefined, authority: Authority): void {
  if (row === undefined) return
  if (row.hold === 1) refuse('locked')
  const lock = lockAt(row, authority.nowMs)
  if (lock === undefined || (lock.mode === 'governance' && authority.bypassGovernance === true)) return
  refuse('locked')
}

/** `next` is null when the lock is to go. */
export function checkLockChange(row: HeldColumns, next: ObjectLock | null, authority: Authority): void {
  const lock = lockAt(row, authority.nowMs)
  if (lock === undefined || (lock.mode === 'governance' && authority.bypassGovernance === true)) return
  if (next === null || next.mode !== lock.mode || next.untilMs < lock.untilMs) refuse('locked')
}

/** Whether the row may not be removed. */
export function holds(row: HeldColumns, { nowMs }: Authority): boolean {
  return row.hold === 1 || lockAt(row, nowMs) !== undefined
}

/** `next` is the same row at another time, which is to take its place; without it the row is to go. */
export function checkReplaceable(row: HeldColumns, next: HeldColumns | undefined, authority: Authority): void {
  if (row.hold === 1 && next?.hold !== 1) refuse('locked')
  const { lockMode: mode = null, lockUntil: untilMs = null } = next ?? {}
  checkLockChange(row, mode === null || untilMs === null ? null : { mode, untilMs }, authority)
}

/** The lock of a row that has not ended. */
function lockAt({ lockMode, lockUntil }: HeldColumns, nowMs = 0): ObjectLock | undefined {
  if (lockMode === null || lockUntil === null || lockUntil <= nowMs) return undefined
  return { mode: lockMode, untilMs: lockUntil }
}
