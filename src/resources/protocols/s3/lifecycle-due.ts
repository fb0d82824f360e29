/**
 * Which buckets their lifecycle rules are to be applied to. Of each bucket it is kept when and by which rules that was done
 * last, apart from the bucket's own record, which others rely on not to change by itself.
 *
 * What rules say becomes true at midnights only. So a bucket is due once after a midnight, however many have passed, and
 * when its rules have changed.
 */
import type { Cluster } from '../../../core/cluster.ts'
import { inTurns } from '../../../core/time/turns.ts'
import { isLacking, wholeRows } from '../../../core/read/whole-rows.ts'
import type { Change, FieldValue } from '../../../ports/catalog.ts'
import { checksumAlgorithms } from '../../../s3/checksums/algorithms.ts'
import { is, stored } from '../../../records/stored.ts'
import { type LifecycleRow, RULES } from '../../../records/lifecycle-rules.ts'
import { isList } from '../../../model/value.ts'
import { isReadOnly } from '../../storage/volumes/types.ts'
import { BUCKETS } from './types.ts'
import type { Bucket, Volume } from '../../../records/rows.ts'

const STATES = 'internal/lifecycle'

declare module '../../../model/rows.ts' {
  interface RowTypes {
    readonly 'internal/lifecycle': BucketState
  }
}
export const VOLUMES = 'storage/volumes'

/** A bucket whose rules could not be applied waits so long. */
export const RETRY_MS = 3_600_000

/** What is kept of a bucket. */
export type BucketState = {
  readonly bucket: string
  /** The time its rows were last judged by. */
  readonly judgedMs: number
  /** The digest of the rules that were applied. */
  readonly rules: string
  /** It failed, and is tried again then. */
  readonly retryMs?: number
}

/**
 * Uuids of the buckets that are due, or of all with rules, in order. Buckets of volumes that are offline, or that only
 * replication changes, wait until these take changes again.
 */
export async function dueBuckets(cluster: Cluster, scope: 'due' | 'all'): Promise<string[]> {
  const states = new Map((await cluster.rows(STATES)).map((row) => [row['bucket'], row]))
  const volumes = await cluster.shortRows(VOLUMES)
  const online = new Set(volumes.filter(takesChanges).map((volume) => volume['uuid']))
  const buckets = await cluster.shortRows(BUCKETS)
  await readDigests(cluster, buckets)
  const isWanted = (bucket: Bucket) => {
    const digest = longDigests.has(bucket) ? longDigests.get(bucket) : rulesDigest(bucket[RULES])
    if (digest === undefined || !online.has(bucket['volume.uuid'] ?? '')) return false
    return scope === 'all' || isDue(states.get(bucket['uuid']), digest, cluster.now(), cluster.lifecycleDayMs)
  }
  const wanted: string[] = []
  for await (const some of inTurns(cluster.system, buckets)) {
    for (const bucket of some) if (isWanted(bucket)) wanted.push(bucket['uuid'])
  }
  return wanted.toSorted((a, b) => (a < b ? -1 : 1))
}

/** Of rows that lack their rules. A row in memory is another as soon as its record has changed. */
const longDigests = new WeakMap<Bucket, string | undefined>()

/** Long rules are read once, and not at each look. */
async function readDigests(cluster: Cluster, buckets: readonly Bucket[]): Promise<void> {
  const unread = buckets.filter((row) => isLacking(row, [RULES]) && !longDigests.has(row))
  for await (const some of wholeRows(cluster, cluster.registry.resource(BUCKETS), unread, [RULES])) {
    for (const { row, at } of some) longDigests.set(unread[at] ?? row, rulesDigest(row[RULES]))
  }
}

export function takesChanges(volume: Volume): boolean {
  return volume['state'] === 'online' && !isReadOnly(volume)
}

/** Also when the clock has gone back by more than a day: what was judged by the wrong time says nothing. */
export function isDue(state: BucketState | undefined, rules: string, nowMs: number, dayMs: number): boolean {
  if (state === undefined || state['rules'] !== rules) return true
  const { judgedMs, retryMs } = state
  if (retryMs !== undefined) return nowMs >= retryMs || retryMs - nowMs > RETRY_MS
  return Math.floor(nowMs / dayMs) > Math.floor(judgedMs / dayMs) || judgedMs - nowMs > dayMs
}

/** Tells rules from others; nothing when none of them is enabled. Records are not changed but replaced, so it is kept. */
export function rulesDigest(rules: FieldValue | undefined): string | undefined {
  if (!isList(rules)) return undefined
  const known = digests.get(rules)
  if (known !== undefined) return known.digest
  const digest = rules.some((rule) => !is(stored<LifecycleRow>(rule), 'enabled', false)) ? digestOf(rules) : undefined
  digests.set(rules, { digest })
  return digest
}

const digests = new WeakMap<readonly FieldValue[], { readonly digest: string | undefined }>()

function digestOf(rules: readonly FieldValue[]): string {
  const sum = checksumAlgorithms.CRC64NVME.begin()
  sum.update(Buffer.from(JSON.stringify(rules)))
  return sum.value().toString('hex')
}

export function keepState({ bucket, judgedMs, rules, retryMs }: BucketState): Change {
  const body = { bucket, judgedMs, rules, ...(retryMs === undefined ? {} : { retryMs }) }
  return { do: 'put-record', type: STATES, key: bucket, body }
}

/** So many are forgotten at once; the others next time. */
const FORGOTTEN_MAX = 500

/** The changes that forget what was kept of buckets that are gone. */
export async function forgetGone(cluster: Cluster): Promise<Change[]> {
  const buckets = new Set((await cluster.shortRows(BUCKETS)).map((bucket) => bucket['uuid']))
  return (await cluster.rows(STATES))
    .map((state) => state['bucket'])
    .filter((bucket) => !buckets.has(bucket))
    .slice(0, FORGOTTEN_MAX)
    .map((key) => ({ do: 'remove-record', type: STATES, key }))
}
