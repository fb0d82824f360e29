/** The rows of the catalog's model, and the plain rules about them. */
import type { ListedVersion, ObjectLock, ObjectRow } from '../../catalog.ts'
import type { put } from '../fixtures.suite.ts'
import { text } from '../fixtures.suite.ts'

/** Latin-1 strings compare as their bytes do. */
export const byBytes = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

export interface ModelRow {
  /** The same for a row that was amended, or that came back from a snapshot. */
  readonly id: number
  readonly version: string
  readonly isMarker: boolean
  readonly etag: string
  readonly size: number
  readonly blobs: readonly string[]
  readonly modifiedMs: number
  readonly tag: string
  readonly lock: ObjectLock | undefined
  readonly legalHold: boolean | undefined
}
/** The rows of each key, newest first. */
export type Index = ReadonlyMap<string, readonly ModelRow[]>

export interface Snapshot {
  readonly uuid: string
  readonly epoch: number
  /** Of the buckets that it sees. */
  readonly index: ReadonlyMap<number, Index>
}
export interface Held {
  readonly lock?: ObjectLock
  readonly legalHold?: boolean
}

export type Draft = Parameters<typeof put>[2]
type Authority = { readonly nowMs: number; readonly bypassGovernance?: boolean }

export const isObject = (row: ModelRow | undefined): row is ModelRow => row !== undefined && !row.isMarker

let made = 0

export function modelRow(object: Draft): ModelRow {
  const { version, etag, sizeBytes: size, modifiedMs, lock, legalHold, details } = object
  const blobs = object.blobs.map(({ blob }) => blob)
  const tag = typeof details['tag'] === 'string' ? details['tag'] : ''
  return { id: ++made, version, isMarker: false, etag, size, blobs, modifiedMs, tag, lock, legalHold }
}

export function heldOf({ lock, legalHold }: ObjectRow): Held {
  return { ...(lock === undefined ? {} : { lock }), ...(legalHold === undefined ? {} : { legalHold }) }
}

export function isHeld(row: ModelRow | undefined, authority: Authority): boolean {
  if (row === undefined) return false
  return row.legalHold === true || (isLocked(row.lock, authority) && !gives(row.lock, authority))
}

/** Whether a row that is held may go for that of a snapshot: only for itself, held as much. */
export function mayGoFor(row: ModelRow, then: ModelRow | undefined, authority: Authority): boolean {
  if (row.legalHold === true && then?.legalHold !== true) return false
  return !isLocked(row.lock, authority) || mayBecome(row.lock, then?.lock ?? null, authority)
}

const isLocked = (lock: ObjectLock | undefined, { nowMs }: Authority) => lock !== undefined && lock.untilMs > nowMs
const gives = (lock: ObjectLock | undefined, { bypassGovernance }: Authority) =>
  lock?.mode === 'governance' && bypassGovernance === true

export function mayBecome(lock: ObjectLock | undefined, next: ObjectLock | null, authority: Authority): boolean {
  if (lock === undefined || !isLocked(lock, authority) || gives(lock, authority)) return true
  return next !== null && next.mode === lock.mode && next.untilMs >= lock.untilMs
}

export function blobsOf(indexes: Iterable<Index>): Set<string> {
  const blobs = new Set<string>()
  for (const index of indexes) {
    for (const rows of index.values()) for (const row of rows) for (const blob of row.blobs) blobs.add(blob)
  }
  return blobs
}

export function plain(index: Index): string[] {
  const sorted = [...index].toSorted(([a], [b]) => byBytes(a, b))
  return sorted.flatMap(([k, [row]]) => (row === undefined || row.isMarker ? [] : [`${k}=${row.etag}`]))
}

/** All that is known of a row. */
export function shown(row: ObjectRow & { readonly noncurrentSinceMs?: number }): string {
  const { key, version, isMarker, etag, sizeBytes, modifiedMs, lock, legalHold, details } = row
  const what = [version, isMarker, etag, sizeBytes, modifiedMs, lock?.mode, lock?.untilMs, legalHold, details['tag']]
  return line(text(key), [...what, row.isCurrent], row.noncurrentSinceMs)
}

/** What a listing shows of it. */
export function shownListed(row: ListedVersion): string {
  const { key, version, isMarker, etag, sizeBytes, modifiedMs, isCurrent } = row
  return line(text(key), [version, isMarker, etag, sizeBytes, modifiedMs, isCurrent], row.noncurrentSinceMs)
}

export function plainVersions(index: Index): string[] {
  return linesOf(index, ({ version, isMarker, etag, size, modifiedMs, lock, legalHold, tag }) => {
    return [version, isMarker, etag, size, modifiedMs, lock?.mode, lock?.untilMs, legalHold, tag]
  })
}

export function plainListed(index: Index): string[] {
  return linesOf(index, ({ version, isMarker, etag, size, modifiedMs }) => [version, isMarker, etag, size, modifiedMs])
}

function linesOf(index: Index, what: (row: ModelRow) => readonly unknown[]): string[] {
  const sorted = [...index].toSorted(([a], [b]) => byBytes(a, b))
  return sorted.flatMap(([k, rows]) => rows.map((row, i) => line(k, [...what(row), i === 0], rows[i - 1]?.modifiedMs)))
}

const line = (key: string, what: readonly unknown[], sinceMs: number | undefined) =>
  `${key}=${what.join(' ')} since${sinceMs === undefined ? '' : ` ${sinceMs}`}`

/** Of lines of keys in order, those that have a '/' in the key become one line for all up to it. */
export function fold(lines: readonly string[]): string[] {
  const folded = lines.map((one) => {
    const slash = one.slice(0, one.indexOf('=')).indexOf('/')
    return slash < 0 ? one : `${one.slice(0, slash + 1)}…`
  })
  return folded.filter((one, i) => !one.endsWith('…') || one !== folded[i - 1])
}
