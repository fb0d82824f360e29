import type { DatabaseSync } from 'node:sqlite'
import type { QuotaLimits, QuotaRow, QuotaType } from '../../ports/catalog.ts'
import { WHOLE_VOLUME } from './quotas.ts'
import { query, saturated } from './statements.ts'

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
