/**
 * Which rows of a page are to go, and how it is said to the catalog so that exactly these go: what was replaced, brought
 * back or removed between the look and the commit is refused there, and stays.
 */
import type { Change, ScanPage, VersionPosition, VersionRow } from '../../../ports/catalog.ts'
import type { System } from '../../../ports/system.ts'
import { beginsWith, type Lifecycle, type LifecycleDecision } from '../../../s3/config/lifecycle.ts'
import { readDetails } from '../../../s3/objects/details.ts'
import { newId } from '../../../s3/objects/ids.ts'

export interface Deletion {
  readonly kind: Exclude<LifecycleDecision, 'keep'> | 'abort-upload'
  readonly change: Change
}

/** Where a walk over the rows of a bucket is. */
export interface RowPlace {
  readonly after: VersionPosition | undefined
  /** Versions of the key in `after` that are not current and stay. */
  readonly hiddenKept: number
}

export interface Judged {
  readonly deletions: readonly Deletion[]
  /** Rows that would go but for a lock. */
  readonly locked: number
  readonly looked: number
  /** Where to go on; nothing when no key is left that a rule is about. */
  readonly next: RowPlace | undefined
}

export interface Judge {
  readonly bucket: string
  readonly lifecycle: Lifecycle
  /** The time that all rows of a bucket are judged by. */
  readonly judgedMs: number
  readonly system: System
}

/** Where a walk begins: at the first key that a rule is about. */
export function firstPlace({ prefixes: [first] }: Lifecycle): RowPlace | undefined {
  return first === undefined ? undefined : { after: before(first), hiddenKept: 0 }
}

/**
 * `isFollowed` tells whether the last row of the page has an older one behind it. Only markers need to know, so it is not
 * asked of others.
 */
export async function judgePage(
  judge: Judge,
  place: RowPlace,
  page: ScanPage,
  isFollowed: (row: VersionRow, position: VersionPosition) => Promise<boolean>,
): Promise<Judged> {
  const { lifecycle, judgedMs, system } = judge
  const deletions: Deletion[] = []
  let locked = 0
  let looked = 0
  let key = place.after?.key
  let { hiddenKept } = place
  for (const [at, row] of page.rows.entries()) {
    if (!lifecycle.prefixes.some((prefix) => beginsWith(row.key, prefix))) {
      return { deletions, locked, looked, next: placeBehind(lifecycle, row.key) }
    }
    looked++
    if (key === undefined || !isSame(key, row.key)) hiddenKept = 0
    key = row.key
    const older = page.rows[at + 1]
    const isAlone = async (): Promise<boolean> =>
      older === undefined ? page.next === undefined || !(await isFollowed(row, page.next)) : !isSame(older.key, row.key)
    const decision = lifecycle.decide(
      {
        key: row.key,
        sizeBytes: row.sizeBytes,
        tags: () => readDetails(row.details).tags,
        modifiedMs: row.modifiedMs,
        isCurrent: row.isCurrent,
        isDeleteMarker: row.isMarker,
        isOnlyVersion: row.isMarker && row.isCurrent && (await isAlone()),
        ...(row.noncurrentSinceMs === undefined ? {} : { noncurrentSinceMs: row.noncurrentSinceMs }),
        newerNoncurrentCount: hiddenKept,
      },
      judgedMs,
    )
    const isLocked = decision === 'delete-version' && isHeld(row, system.clock.now())
    if (isLocked) locked++
    else if (decision !== 'keep') deletions.push({ kind: decision, change: deletionOf(judge, row, decision) })
    if (!row.isCurrent && (decision === 'keep' || isLocked)) hiddenKept++
  }
  const { next } = page
  // Versions that go are not among the newer ones that are kept, whether they are gone already or not: a walk that goes on
  // after a crash, which does not meet them again, counts the same.
  return { deletions, locked, looked, next: next === undefined ? undefined : { after: next, hiddenKept } }
}

function deletionOf({ bucket, system }: Judge, row: VersionRow, decision: Deletion['kind']): Change {
  const nowMs = system.clock.now()
  const common = { do: 'delete-object', bucket, key: row.key, nowMs } as const
  const asJudged = { ifMatch: [row.etag], ifSizeBytes: row.sizeBytes, ifModifiedMs: row.modifiedMs }
  if (decision === 'expire') {
    return { ...common, condition: asJudged, marker: { version: newId(system), modifiedMs: nowMs } }
  }
  // The version 'null' may have become another row: a marker an object, or the other way round.
  const condition = row.isMarker ? { ifNoneMatch: ['*'] } : asJudged
  return {
    ...common,
    version: row.version,
    condition: decision === 'delete-version' ? { ...condition, ifNoncurrent: true } : condition,
  }
}

/** The first key behind this one that a rule is about. */
function placeBehind({ prefixes }: Lifecycle, key: Uint8Array): RowPlace | undefined {
  const next = prefixes.find((prefix) => Buffer.compare(prefix, key) > 0)
  return next === undefined ? undefined : { after: before(next), hiddenKept: 0 }
}

/** No key is longer than 1024 bytes. */
const BEHIND_BYTES = 1025

/**
 * The place before all keys that begin with this: behind all that begin with its neighbour. `logs/` is 6c 6f 67 73 2f, its
 * neighbour 6c 6f 67 73 2e, and 6c 6f 67 73 2e ff ff … ff is behind all of that.
 */
export function before(prefix: Uint8Array): VersionPosition | undefined {
  const last = prefix.at(-1)
  if (last === undefined) return undefined
  if (last === 0) return { key: prefix.slice(0, -1) }
  const key = new Uint8Array(BEHIND_BYTES).fill(0xff)
  key.set(prefix)
  key[prefix.length - 1] = last - 1
  return { key }
}

function isHeld({ lock, legalHold }: VersionRow, nowMs: number): boolean {
  return legalHold === true || (lock !== undefined && lock.untilMs > nowMs)
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0
}
