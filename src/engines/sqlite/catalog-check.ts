/**
 * Looks into a catalog before its writer takes it: its pages, after a stop that was none, and its age. A catalog that is
 * older than the mark beside it was put back from a copy, and to go on with it would hide what was acknowledged since.
 */
import { statSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { damageOf } from './catalog-pages.ts'
import { CatalogDamaged } from './log-check.ts'
import { markOf, NO_SALTS, readMark } from './log-mark.ts'
import type { Report } from './writer.ts'

/** The pages of larger ones are not checked: a start would take more than half a minute. Backups check them. */
export const CHECKED_BYTES_MAX = 8 * 1024 ** 3

/** Tells whether the catalog is an older one, as was accepted. Throws `CatalogDamaged`. */
export function checkInside(file: string, acceptsLoss: boolean, report: Report): { readonly hasLost: boolean } {
  const bytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (bytes === 0) return { hasLost: false }
  const mark = readMark(file)
  if (mark?.salts !== NO_SALTS && bytes <= CHECKED_BYTES_MAX) {
    const damage = damageOf(file)
    if (damage !== undefined) {
      throw new CatalogDamaged(
        `The catalog ${file} is damaged (${damage}). Nothing was changed. Restore a backup with "holdfast restore --move-aside".`,
      )
    }
  }
  const changes = mark?.changes === undefined ? undefined : changesOf(file)
  if (mark?.changes === undefined || changes === undefined || changes >= mark.changes) return { hasLost: false }
  const what = `The catalog ${file} is older than the one that was there last: it has ${changes} of ${mark.changes} changes`
  if (!acceptsLoss) {
    throw new CatalogDamaged(
      `${what}. Nothing was changed. Put the newest one back, restore a backup with "holdfast restore --move-aside", or ` +
        'start once with HOLDFAST_ACCEPT_LOSS=1 to go on without the others.',
    )
  }
  report(`${what}, as was asked for.`, new Error(`The mark ${markOf(file)} was ahead.`))
  return { hasLost: true }
}

/** How many changes of records and objects the catalog has seen: they only grow. Nothing when it cannot tell. */
export function changesOf(file: string): number | undefined {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    return Number(db.prepare(CHANGES).get()?.['changes'])
  } catch {
    return undefined
  } finally {
    db.close()
  }
}

export const CHANGES = 'SELECT revision + seq AS changes FROM state'
