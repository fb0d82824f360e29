import type { DatabaseSync } from 'node:sqlite'
import type { QuotaLimits, QuotaRoom, QuotaRow, QuotaType } from '../../ports/catalog.ts'
import { DEFAULT_QTREE, WHOLE_VOLUME } from '../quotas.ts'
import { query, saturated } from '../statements.ts'

interface QuotaColumns {
  readonly id: number
  readonly type: QuotaType
  readonly tree: number
  readonly target: string
  readonly bytes: number
  readonly files: number
  readonly ruled: number
  readonly hardBytes: number | null
  readonly softBytes: number | null
  readonly hardFiles: number | null
  readonly softFiles: number | null
}

const limit = (column: string, name: string) => `CASE q.ruled WHEN 1 THEN q.${column} ELSE d.${column} END AS ${name}`

/** Makes the function that reads all of a volume that limits hold for, be they its own or the default ones. */
export function quotaReads(db: DatabaseSync): (volume: string) => QuotaRow[] {
  const quotas = query<QuotaColumns>(
    db,
    `SELECT q.id, q.type, q.tree, q.target, ${saturated('q.bytes')} AS bytes, q.files, q.ruled,
         ${limit('hard_bytes', 'hardBytes')}, ${limit('soft_bytes', 'softBytes')},
         ${limit('hard_files', 'hardFiles')}, ${limit('soft_files', 'softFiles')}
       FROM quotas q
       LEFT JOIN quotas d ON d.volume = q.volume AND d.type = q.type AND d.target = '' AND d.ruled = 1
         AND d.tree = CASE q.type WHEN 'tree' THEN ${WHOLE_VOLUME} ELSE q.tree END
       WHERE q.volume = (SELECT id FROM volumes WHERE uuid = ?) AND (q.ruled = 1 OR d.id IS NOT NULL) ORDER BY q.id`,
  )
  return (volume) => quotas.all(volume).map(quotaRow)
}

/** Makes the function that tells what hard limits leave to objects of an owner. */
export function quotaRoomReads(db: DatabaseSync): (volume: string, owner: string) => QuotaRoom[] {
  const rows = query<Omit<QuotaColumns, 'id' | 'softBytes' | 'softFiles'>>(
    db,
    `SELECT type, tree, target, ${saturated('bytes')} AS bytes, files, ruled,
         hard_bytes AS hardBytes, hard_files AS hardFiles
       FROM quotas
       WHERE volume = (SELECT id FROM volumes WHERE uuid = ?)
         AND (type = 'tree' AND tree IN (${WHOLE_VOLUME}, ${DEFAULT_QTREE}) AND target = ''
           OR type = 'user' AND tree = ${WHOLE_VOLUME} AND target IN ('', ?))`,
  )
  return (volume, owner) => {
    const found = rows.all(volume, owner)
    const roomOf = (type: QuotaType, tree: number, target: string): QuotaRoom[] => {
      const own = found.find((row) => row.type === type && row.tree === tree && row.target === target)
      const others = found.find((row) => row.type === type && row.tree === WHOLE_VOLUME && row.target === '')
      const { hardBytes, hardFiles } = (own?.ruled === 1 ? own : others) ?? { hardBytes: null, hardFiles: null }
      if (hardBytes === null && hardFiles === null) return []
      return [
        {
          type,
          bytes: hardBytes === null ? Infinity : hardBytes - (own?.bytes ?? 0),
          files: hardFiles === null ? Infinity : hardFiles - (own?.files ?? 0),
        },
      ]
    }
    const tree = roomOf('tree', DEFAULT_QTREE, '')
    return owner === '' ? tree : [...tree, ...roomOf('user', WHOLE_VOLUME, owner)]
  }
}

function quotaRow(row: QuotaColumns): QuotaRow {
  const { id, type, tree, target, bytes, files, ruled, hardBytes, softBytes, hardFiles, softFiles } = row
  const limits: QuotaLimits = {
    ...(hardBytes === null ? {} : { hardBytes }),
    ...(softBytes === null ? {} : { softBytes }),
    ...(hardFiles === null ? {} : { hardFiles }),
    ...(softFiles === null ? {} : { softFiles }),
  }
  return {
    index: id,
    type,
    ...(tree === WHOLE_VOLUME ? {} : { tree }),
    ...(type === 'tree' ? {} : { name: target }),
    usedBytes: bytes,
    usedFiles: files,
    isRuled: ruled === 1,
    limits,
  }
}
