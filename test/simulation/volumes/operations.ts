/** Everything that a run does. A new operation is an entry in one of these lists. */
import { buckets } from './operations/buckets.ts'
import { clones } from './operations/clones.ts'
import { cluster } from './operations/cluster.ts'
import { objects } from './operations/objects.ts'
import { snapshots } from './operations/snapshots.ts'
import { uploads } from './operations/uploads.ts'
import { volumes } from './operations/volumes.ts'
import type { Operation } from './operation.ts'

export const operations: readonly Operation[] = [
  ...objects,
  ...uploads,
  ...buckets,
  ...snapshots,
  ...volumes,
  ...clones,
  ...cluster,
]
