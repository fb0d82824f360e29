/** What every engine for the catalog must do: one suite for each interface of the port, and all of it against a model. */
import { after, before, describe } from 'node:test'
import type { Catalog } from './catalog.ts'
import type { OpenedCatalog } from './catalog/fixtures.suite.ts'
import { proveBlobs } from './catalog/blobs.suite.ts'
import { proveAgainstModel } from './catalog/model/model.suite.ts'
import { proveObjects } from './catalog/objects.suite.ts'
import { proveRecords } from './catalog/records.suite.ts'
import { proveTelemetry } from './catalog/telemetry.suite.ts'
import { proveVolumeIndex } from './catalog/volumes.suite.ts'

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
    const proof = { catalog, reopen, runs }
    proveRecords(proof)
    proveObjects(proof)
    proveVolumeIndex(proof)
    proveBlobs(proof)
    proveTelemetry(proof)
    proveAgainstModel(catalog, runs)
  })
}
