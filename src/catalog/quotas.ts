/**
 * What qtrees, users and groups hold of a volume, and how much they may.
 *
 * Each that holds something, or has limits of its own, is one row with its sums. They change with the rows that they
 * count, so they are true after any crash, and whatever was done: a snapshot counts for nobody, and a volume that is taken
 * back moves its sums along with its rows, batch by batch. To write an object costs the same at any number of them:
 *
 *     put of 10 bytes by anna        tree 0, ''       +10   the default qtree: objects of buckets lie in it
 *                                    user -1, anna    +10   -1: anna in the whole volume
 *     a file of anna in qtree 3      tree 3, ''
 *                                    user -1, anna
 *                                    user 3, anna           anna in that qtree
 *
 * Who has no limits of his own has the default ones: those of the row `user -1, ''` for users in the whole volume,
 * `user 3, ''` for users in qtree 3, `tree -1, ''` for qtrees. Sums are kept also where nobody has set a limit, so limits
 * hold from the commit on that sets them.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Change, Fields, Outcome, QuotaLimits, QuotaTarget, QuotaType } from '../ports/catalog.ts'
import type { Ledger, VolumeSums } from './ledger.ts'
import { refuse } from './refusal.ts'
import { query, write } from './statements.ts'
import type { Value } from './statements.ts'

/** Whose something is. Names are '' where it is nobody's. */
export interface Holder {
  readonly tree: number
  readonly user: string
  readonly group: string
}

/** What a change gives to a holder, or takes. */
export interface Move {
  readonly holder: Holder
  readonly bytes: number
  readonly files: number
}

export const WHOLE_VOLUME = -1
export const DEFAULT_QTREE = 0
/** More are not kept between batches. */
const KEPT_MAX = 10_000

interface LimitColumns {
  readonly hardBytes: number | null
  readonly softBytes: number | null
  readonly hardFiles: number | null
  readonly softFiles: number | null
}

interface Account {
  readonly volume: number
  readonly type: QuotaType
  readonly tree: number
  readonly target: string
  /** Copies share their blobs, so these may be more than a number holds exactly. */
  bytes: bigint
  files: number
  /** 1: it has limits of its own, be they that there are none. */
  ruled: number
  limits: LimitColumns
}

const NO_LIMITS: LimitColumns = { hardBytes: null, softBytes: null, hardFiles: null, softFiles: null }

/** Objects of buckets: their owner is known by name, and has no group. */
export const ownedBy = (owner: string): Holder => ({ tree: DEFAULT_QTREE, user: owner, group: '' })

export function ownerOf(details: Fields): string {
  const owner = details['owner']
  return typeof owner === 'string' ? owner : ''
}

export function quotaChanges(db: DatabaseSync, ledger: Ledger) {
  const find = query<Omit<Account, 'limits' | 'bytes'> & { readonly bytes: string } & LimitColumns>(
    db,
    `SELECT volume, type, tree, target, CAST(bytes AS TEXT) AS bytes, files, ruled, hard_bytes AS hardBytes, soft_bytes AS softBytes,
         hard_files AS hardFiles, soft_files AS softFiles
       FROM quotas WHERE volume = ? AND type = ? AND tree = ? AND target = ?`,
  )
  const save = write(
    db,
    `INSERT INTO quotas (volume, type, tree, target, bytes, files, ruled, hard_bytes, soft_bytes, hard_files, soft_files)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (volume, type, tree, target) DO UPDATE SET bytes = excluded.bytes, files = excluded.files,
         ruled = excluded.ruled, hard_bytes = excluded.hard_bytes, soft_bytes = excluded.soft_bytes,
         hard_files = excluded.hard_files, soft_files = excluded.soft_files`,
  )
  const forgetIdle = write(db, 'DELETE FROM quotas WHERE volume = ? AND type = ? AND tree = ? AND target = ?')
  const ruledOf = query<{ type: QuotaType; tree: number; target: string }>(
    db,
    'SELECT type, tree, target FROM quotas WHERE volume = ? AND ruled = 1',
  )
  const removeAll = ledger.write('DELETE FROM quotas WHERE volume = ?')

  const accounts = new Map<string, Account>()
  const changed = new Set<Account>()
  const forget = () => {
    accounts.clear()
    changed.clear()
  }
  ledger.join({
    flush() {
      for (const account of changed) {
        const { volume, type, tree, target, bytes, files, ruled, limits } = account
        const key: Value[] = [volume, type, tree, target]
        if (bytes === 0n && files === 0 && ruled === 0) forgetIdle(...key)
        else {
          const { hardBytes, softBytes, hardFiles, softFiles } = limits
          save(...key, bytes, files, ruled, hardBytes, softBytes, hardFiles, softFiles)
        }
      }
      changed.clear()
      if (accounts.size > KEPT_MAX) forget()
    },
    forget,
  })

  function account(volume: number, type: QuotaType, tree: number, target: string): Account {
    const key = `${volume}/${type}/${tree}/${target}`
    const kept = accounts.get(key)
    if (kept !== undefined) return kept
    const row = find.get(volume, type, tree, target)
    const { bytes = '0', files = 0, ruled = 0, hardBytes, softBytes, hardFiles, softFiles } = { ...NO_LIMITS, ...row }
    const limits = { hardBytes, softBytes, hardFiles, softFiles }
    const found = { volume, type, tree, target, bytes: BigInt(bytes), files, ruled, limits }
    accounts.set(key, found)
    return found
  }

  /** All accounts that something of a holder counts to. */
  function accountsOf({ id }: VolumeSums, { tree, user, group }: Holder): Account[] {
    const found = [account(id, 'tree', tree, '')]
    for (const [type, target] of [
      ['user', user],
      ['group', group],
    ] as const) {
      if (target === '') continue
      found.push(account(id, type, WHOLE_VOLUME, target))
      if (tree !== DEFAULT_QTREE) found.push(account(id, type, tree, target))
    }
    return found
  }

  function limitsOf({ volume, type, tree, ruled, limits }: Account): LimitColumns {
    return ruled === 1 ? limits : account(volume, type, type === 'tree' ? WHOLE_VOLUME : tree, '').limits
  }

  return {
    /** Refuses what makes somebody hold more than he may. To be called before anything is written. */
    check(volume: VolumeSums, moves: readonly Move[]): void {
      const growths = new Map<Account, { bytes: number; files: number }>()
      for (const { holder, bytes, files } of moves) {
        for (const one of accountsOf(volume, holder)) {
          const growth = growths.get(one)
          if (growth === undefined) growths.set(one, { bytes, files })
          else {
            growth.bytes += bytes
            growth.files += files
          }
        }
      }
      for (const [one, { bytes, files }] of growths) {
        const { hardBytes, hardFiles } = limitsOf(one)
        if (exceeds(one.bytes, bytes, hardBytes) || exceeds(BigInt(one.files), files, hardFiles)) {
          refuse('full', `quota:${one.type}`)
        }
      }
    },

    /** Counts what came and went, in the commit of the rows themselves. */
    move(volume: VolumeSums, moves: readonly Move[]): void {
      for (const { holder, bytes, files } of moves) {
        if (bytes === 0 && files === 0) continue
        for (const one of accountsOf(volume, holder)) {
          one.bytes += BigInt(bytes)
          one.files += files
          changed.add(one)
        }
      }
      ledger.note()
    },

    set({ volume: uuid, quota, limits }: Extract<Change, { do: 'set-quota' }>): Outcome {
      const { type, tree, target } = columnsOf(quota)
      const one = account(ledger.volume(uuid).id, type, tree, target)
      one.ruled = limits === null ? 0 : 1
      one.limits = limits === null ? NO_LIMITS : limitColumns(limits)
      changed.add(one)
      ledger.note()
      return {}
    },

    clear({ volume: uuid }: Extract<Change, { do: 'clear-quotas' }>): Outcome {
      const { id } = ledger.volume(uuid)
      ledger.flush()
      for (const { type, tree, target } of ruledOf.all(id)) {
        const one = account(id, type, tree, target)
        one.ruled = 0
        one.limits = NO_LIMITS
        changed.add(one)
      }
      ledger.note()
      return {}
    },

    /** For a volume that is closed: it has no rows any more that could count. */
    remove({ id }: VolumeSums): void {
      ledger.flush()
      removeAll(id)
      forget()
    },
  }
}

export type QuotaChanges = ReturnType<typeof quotaChanges>

const exceeds = (used: bigint, growth: number, limit: number | null): boolean =>
  growth > 0 && limit !== null && used + BigInt(growth) > limit

function columnsOf({ type, tree = WHOLE_VOLUME, name = '' }: QuotaTarget) {
  return { type, tree, target: name }
}

function limitColumns({ hardBytes, softBytes, hardFiles, softFiles }: QuotaLimits): LimitColumns {
  return {
    hardBytes: hardBytes ?? null,
    softBytes: softBytes ?? null,
    hardFiles: hardFiles ?? null,
    softFiles: softFiles ?? null,
  }
}
