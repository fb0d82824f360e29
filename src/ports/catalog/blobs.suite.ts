import type { Proof } from './fixtures.suite.ts'
import { proveChecksums } from './topics/checksums.suite.ts'
import { proveMoves } from './topics/moves.suite.ts'
import { proveStorage } from './topics/storage.suite.ts'

/** What every engine must know of blobs: which are needed, which came lately, how they are stored. */
export function proveBlobs({ catalog }: Proof): void {
  proveStorage(catalog)
  proveChecksums(catalog)
  proveMoves(catalog)
}
