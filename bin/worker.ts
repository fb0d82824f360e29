/** A data-plane process: reads the catalog directly, commits through the writer, shares the ports with its siblings. */
import { setFlagsFromString } from 'node:v8'
import { Jobs } from '../src/core/jobs.ts'
import { Actions } from '../src/core/perform.ts'
import type { Certificate } from '../src/engines/certificate.ts'
import { openSecrets } from '../src/engines/secrets.ts'
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import { parseRelease } from '../src/model/release.ts'
import { bucketActions } from '../src/resources/protocols/s3/bucket-actions.ts'
import { startDataPlane } from '../src/s3/server.ts'
import { openLog } from './log.ts'
import { openCluster, places } from './parts.ts'
import type { Address, LogLevel } from './settings.ts'

/** What the parent tells a worker, over the channel between them. */
export interface WorkerOrder {
  readonly release: string
  readonly log: LogLevel
  readonly certificate: Certificate
  /** The interface of the first SVM, which the environment gives its addresses. */
  readonly firstInterface: string | null
  readonly s3: Address | null
  readonly s3Http: Address | null
  readonly canBindLowPorts: boolean
}

export interface WorkerReport {
  readonly kind: 'ready'
}
