/** What every engine for the catalog must do. */
import { after, before, describe } from 'node:test'
import type { Catalog } from './catalog.ts'
import type { OpenedCatalog } from './catalog/fixtures.suite.ts'
import { proveChecksums } from './catalog/checksums.suite.ts'
import { proveClones } from './catalog/clones.suite.ts'
import { proveAgainstModel } from './catalog/model.suite.ts'
import { proveKeptRecords } from './catalog/kept-records.suite.ts'
import { proveMoves } from './catalog/moves.suite.ts'
import { proveObjects } from './catalog/objects.suite.ts'
import { provePages } from './catalog/pages.suite.ts'
import { proveReadOnly } from './catalog/read-only.suite.ts'
import { proveQuotas } from './catalog/quotas.suite.ts'
import { proveRangeRestores } from './catalog/ranges.suite.ts'
import { proveRecords } from './catalog/records.suite.ts'
import { proveRetention } from './catalog/retention.suite.ts'
import { proveSnapshots } from './catalog/snapshots.suite.ts'
import { proveSums } from './catalog/sums.suite.ts'
import { proveStorage } from './catalog/storage.suite.ts'
import { proveVersions } from './catalog/versions.suite.ts'

export type { OpenedCatalog } from './catalog/fixtures.suite.ts'

/** `runs` is the number of random runs: fewer where each commit costs a sync, or where another engine proves the same. */
export function proveCatalog(
  name: string,
  open: () => Promise<OpenedCatalog>,
  { runs }: { readonly runs: number },
): void {
  void describe(`catalog: ${name}`, () => {
    let opened: OpenedCatalog
    let current: Catalog

    before(async () => {
      opened = await open()
      current = opened.catalog
    })
    after(() => opened.close())

    const catalog = () => current
    const reopen = async () => {
      current = await opened.reopen()
      return current
    }
    proveRecords(catalog, reopen)
    proveKeptRecords(catalog, runs)
    proveObjects(catalog)
    proveSnapshots(catalog)
    proveClones(catalog)
    proveSums(catalog, reopen, runs)
    proveReadOnly(catalog, reopen)
    proveRangeRestores(catalog, reopen)
    proveMoves(catalog)
    proveStorage(catalog)
    proveChecksums(catalog)
    proveVersions(catalog)
    proveRetention(catalog)
    proveQuotas(catalog, reopen, runs)
    provePages(catalog, runs)
    proveAgainstModel(catalog, runs)
  })
}
