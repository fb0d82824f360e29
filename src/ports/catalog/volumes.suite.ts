import type { Proof } from './fixtures.suite.ts'
import { proveClones } from './topics/clones.suite.ts'
import { proveQuotas } from './topics/quotas.suite.ts'
import { proveRangeRestores } from './topics/ranges.suite.ts'
import { proveReadOnly } from './topics/read-only.suite.ts'
import { proveSnapshots } from './topics/snapshots.suite.ts'
import { proveSums } from './topics/sums.suite.ts'

/** What every engine must do with volumes and aggregates, their snapshots, clones and quotas. */
export function proveVolumeIndex({ catalog, reopen, runs }: Proof): void {
  proveSums(catalog, reopen, runs)
  proveSnapshots(catalog)
  proveRangeRestores(catalog, reopen)
  proveClones(catalog)
  proveReadOnly(catalog, reopen)
  proveQuotas(catalog, reopen, runs)
}
