/**
 * Failures by name. A name is what code and tests speak of; clients see the code and the message. Failures of one resource
 * alone are declared in its file, by `ownFailures`.
 */
import { type NamedRows, namedRows } from '../named-rows.ts'
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
  ...svms,
  ...volumes,
} as const satisfies Readonly<Record<string, FailureEntry>>

export type FailureTable = typeof failureTable
export type FailureName = keyof FailureTable

/** A failure that one resource declares for itself. */
export interface OwnFailure extends FailureEntry {
  readonly name: string
}

/** What failures are thrown by: names of rows of the table, and rows of a resource. */
export type AnyFailure = FailureName | OwnFailure

/**
 * The failures that a resource declares for itself. They are given to `define`, and are then as good as rows of the table.
 *
 *   const failures = ownFailures({ traphostUserUnknown: invalid('user.name', 'There is no user "{name}".', …) })
 *   throw failure(failures.traphostUserUnknown, { name: 'anna' })
 */
export function ownFailures<const Rows extends Readonly<Record<string, FailureEntry>>>(rows: Rows): NamedRows<Rows> {
  return namedRows(rows)
}
