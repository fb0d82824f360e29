import type { DatabaseSync } from 'node:sqlite'
import { isOwnWork } from '../../ports/own-work.ts'
import type { Change, Outcome } from '../../ports/catalog.ts'
import { extendedCode } from './lock.ts'
import { query } from '../../catalog/statements.ts'

const SQLITE_FULL = 13
/** The file that processes share could not grow. */
const SQLITE_IOERR_SHMSIZE = 4874

export function isDiskFull(failure: unknown): boolean {
  const code = extendedCode(failure)
  return code === SQLITE_FULL || code === SQLITE_IOERR_SHMSIZE
}

/** Changes that make the catalog larger for as long as their user likes. */
const NEEDING_SPACE: ReadonlySet<Change['do']> = new Set<Change['do']>([
  'check-space',
  'put-object',
  'open-upload',
  'put-part',
  'complete-upload',
  'open-volume',
  'open-bucket',
  'give-up-blobs',
  'clone-rows',
  'take-snapshot',
  'restore-range',
  'put-samples',
])

/** Changes that take something away. What a commit writes beside one of them tells of that. */
const FREEING: ReadonlySet<Change['do']> = new Set<Change['do']>([
  'remove-record',
  'abort-upload',
  'close-bucket',
  'close-volume',
  'drop-snapshot',
  'reclaim',
  'drop-blobs',
  'drop-arrivals',
  'drop-samples',
  'drop-counters',
])

/** Logs and the records of jobs: without these nothing that frees space could be asked for. */
const OF_UPKEEP: ReadonlySet<Change['do']> = new Set<Change['do']>(['put-record', 'check-record', 'append-log'])

/** A record of the cluster's own work that is longer is not small. */
const UPKEEP_CHARACTERS_MAX = 64 * 1024
/** What the database may grow by, since its disk became full, with commits that free nothing; and with those of upkeep. */
const OTHER_PAGES = 256
const UPKEEP_PAGES = 1024

/**
 * What is taken while the disk is full: what frees space, the cluster's own records of its work, and changes that make
 * nothing longer, as long as these two leave most of the reserve to the first.
 */
export class FullDisk {
  readonly #lengthOf
  readonly #pageCount
  /** How many pages the database had when its disk became full. */
  readonly pagesAtFirst: number

  /** It may have become full before this process began. */
  constructor(db: DatabaseSync, pagesAtFirst = Infinity) {
    this.#lengthOf = query<{ characters: number }>(
      db,
      'SELECT length(body) AS characters FROM records WHERE type = ? AND key = ?',
    )
    this.#pageCount = query<{ page_count: number }>(db, 'PRAGMA page_count')
    this.pagesAtFirst = Math.min(pagesAtFirst, this.#pages())
  }

  /** To be asked before a commit is applied. */
  refuses(changes: readonly Change[]): boolean {
    if (changes.length === 0 || changes.some(needsSpace)) return true
    const isFreeing = changes.some((change) => FREEING.has(change.do))
    return changes.some((change) => change.do === 'put-record' && this.#isTooLong(change, isFreeing))
  }

  /** To be asked when it is applied, in its transaction. */
  isOver(changes: readonly Change[], outcomes: readonly Outcome[]): boolean {
    if (changes.some((change, at) => frees(change, outcomes[at]))) return false
    const isUpkeep = changes.every((change) => OF_UPKEEP.has(change.do))
    return this.#pages() > this.pagesAtFirst + (isUpkeep ? UPKEEP_PAGES : OTHER_PAGES)
  }

  #isTooLong({ type, key, body }: Extract<Change, { do: 'put-record' }>, isFreeing: boolean): boolean {
    const { length } = JSON.stringify(body)
    if (length <= (this.#lengthOf.get(type, key)?.characters ?? 0)) return false
    return isOwnWork(type) ? length > UPKEEP_CHARACTERS_MAX : !isFreeing
  }

  #pages(): number {
    return this.#pageCount.get()?.page_count ?? 0
  }
}

function needsSpace(change: Change): boolean {
  if (change.do !== 'amend-object') return NEEDING_SPACE.has(change.do)
  return (change.lock ?? null) !== null || change.legalHold === true || change.details !== undefined
}

/** Whether it has taken something away. What a delete did shows in its outcome: it may have added a marker. */
function frees(change: Change, outcome: Outcome | undefined): boolean {
  if (change.do !== 'delete-object') return FREEING.has(change.do)
  return change.version !== undefined || outcome?.marker !== true
}
