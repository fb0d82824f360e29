/** All failures, by name. A name is what code and tests speak of; clients see the code and the message. */
import type { FailureEntry } from './entry.ts'
import { access } from './access.ts'
import { aggregates } from './aggregates.ts'
import { applications } from './applications.ts'
import { buckets } from './buckets.ts'
import { certificates } from './certificates.ts'
import { cluster } from './cluster.ts'
import { events } from './events.ts'
import { fpolicy } from './fpolicy.ts'
import { jobs } from './jobs.ts'
import { movesAndClones } from './moves-and-clones.ts'
import { nameServices } from './name-services.ts'
import { nas } from './nas.ts'
import { network } from './network.ts'
import { objectStores } from './object-stores.ts'
import { policies } from './policies.ts'
import { quotas } from './quotas.ts'
import { requests } from './requests.ts'
import { security } from './security.ts'
import { service } from './service.ts'
import { snapshots } from './snapshots.ts'
import { snmp } from './snmp.ts'
import { svms } from './svms.ts'
import { volumes } from './volumes.ts'

export const failureTable = {
  ...access,
  ...aggregates,
  ...applications,
  ...buckets,
  ...certificates,
  ...cluster,
  ...events,
  ...fpolicy,
  ...jobs,
  ...movesAndClones,
  ...nameServices,
  ...nas,
  ...network,
  ...objectStores,
  ...policies,
  ...quotas,
  ...requests,
  ...security,
  ...service,
  ...snapshots,
  ...snmp,
  ...svms,
  ...volumes,
} as const satisfies Readonly<Record<string, FailureEntry>>

export type FailureTable = typeof failureTable
export type FailureName = keyof FailureTable
