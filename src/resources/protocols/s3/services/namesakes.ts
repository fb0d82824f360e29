/**
 * Policies name users and groups, and names are free again when their bearer is deleted. So that a later user of the name
 * gets nothing that was granted to the earlier one, the catalog remembers that a name was given up. Who takes the name
 * later notes since when it may be meant: the revision at which it was given up last. Statements note the revision at
 * which they were set, and mean nobody who took the name after that. Setting them again grants them anew.
 *
 * A name that nobody gave up means whoever has it, also a user that is made after the policy.
 */
import type { Cluster } from '../../../../core/cluster.ts'
import type { Hidden } from '../../../../model/rows.ts'
import type { Change } from '../../../../ports/catalog.ts'
import { meantSince, namesAt } from '../../../../records/namesakes.ts'

const PAST_NAMES = 'internal/past-s3-names'
type Kind = 'user' | 'group'

/** Goes with the removal of the user or group. The name counts in all SVMs, as policies name users of others too. */
export function giveUpName(kind: Kind, name: string): Change {
  return { do: 'put-record', type: PAST_NAMES, key: `${kind}/${name}`, body: {} }
}

/** Since when the name means a record that takes it now: nothing where nobody gave it up. */
export async function takeName(cluster: Cluster, kind: Kind, name: string): Promise<Hidden> {
  const past = await cluster.catalog.record(PAST_NAMES, `${kind}/${name}`)
  return past === undefined ? {} : { [meantSince]: past.revision }
}

type Named = Hidden & { readonly name: string }

/** Goes with the record that took a name: refused where somebody gave the name up in between. */
export function insistOnName(kind: Kind, row: Named): Change {
  const expect = row[meantSince]
  const key = `${kind}/${row['name']}`
  return { do: 'check-record', type: PAST_NAMES, key, expect: typeof expect === 'number' ? expect : 'absent' }
}

/** Beside names that a record gets: when they were set. Read before the commit, so that it is never too late. */
export async function namesSetNow(cluster: Cluster): Promise<Hidden> {
  return { [namesAt]: await cluster.catalog.revision() }
}
