/**
 * Takes a bucket, the keys with a prefix, or one key of it back to a snapshot, and leaves newer snapshots as they are:
 * `PATCH /storage/volumes/{uuid}?restore_to.snapshot.name=…&restore_to.path=/papers/2026/`.
 */
import type { Cluster } from '../../../core/cluster.ts'
import { Interrupted, type Work } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import type { Row } from '../../../model/value.ts'
import { CommitRefused, type Change, type KeyRange } from '../../../ports/catalog.ts'
import { patiently } from './patiently.ts'
import { concludeWithDamage } from './restored-damage.ts'
import type { Volume } from '../../../records/rows.ts'

const BUCKETS = 'protocols/s3/buckets'
/** Rows moved in one commit: few enough that other writers hardly wait. */
const BATCH = 500
const NOTED_BATCHES = 20

/** What a job needs to know: the uuid of the bucket, and one of key and prefix. */
export type RangeInput = {
  readonly bucket: string
  readonly snapshot: string
  readonly key?: string
  readonly prefix?: string
}

/** That it has begun, and from when on there is no way back; that all of it is done. */
export type RangeMemo = { readonly begun: boolean; readonly ended: boolean }

/** What a path means within a volume: `/papers`, `/papers/2026/` or `/papers/2026/a.pdf`. */
export async function plannedRange(
  cluster: Cluster,
  volume: Volume,
  snapshot: string,
  path: string,
): Promise<RangeInput> {
  const [, name = '', rest = ''] = /^\/([^/]+)(?:\/(.*))?$/s.exec(path) ?? []
  const row = (await cluster.rows(BUCKETS, volume['uuid'])).find((bucket) => bucket['name'] === name)
  if (row === undefined) {
    throw failure('restorePathMalformed')
  }
  const bucket = row['uuid']
  const names = rest === '' || rest.endsWith('/') ? { prefix: rest } : { key: rest }
  await insistOnSomething(cluster, volume['uuid'], { bucket, snapshot, ...names })
  return { bucket, snapshot, ...names }
}

/** A name that was mistyped must not take away what is there now. */
async function insistOnSomething(cluster: Cluster, volume: string, range: RangeInput): Promise<void> {
  const { bucket, snapshot, key, prefix = '' } = range
  const taken = (await cluster.catalog.snapshots(volume)).find((one) => one.snapshot === snapshot)
  if (taken === undefined) throw failure('snapshotNotFound', {}, { target: 'restore_to.snapshot.name' })
  if (key === undefined && prefix === '') return
  const at = { epoch: taken.epoch }
  const none = Buffer.alloc(0)
  const start = Buffer.from(key ?? prefix)
  const page = { bucket, prefix: start, delimiter: none, afterKey: none, limit: 1, at }
  const isThere =
    key === undefined
      ? (await cluster.catalog.versions(page)).versions.length > 0
      : (await cluster.catalog.object(bucket, start, at)) !== undefined
  if (!isThere) throw failure('restoreNothing')
}

/**
 * Nothing changes until all was looked at. From then on there is no way back, so it does not fail half way: it waits for
 * the catalog, and goes on after a crash where it was.
 */
export async function restoreRange(cluster: Cluster, work: Work<Row, RangeMemo>, input: RangeInput): Promise<void> {
  const { bucket } = input
  if (work.memo.ended !== true) await goBack(cluster, work, input)
  const volume = (await cluster.find(BUCKETS, bucket))?.['volume.uuid']
  if (volume !== undefined) await concludeWithDamage(cluster, work, { ...input, volume })
}

async function goBack(cluster: Cluster, work: Work<Row, RangeMemo>, input: RangeInput): Promise<void> {
  const { bucket, snapshot } = input
  if (work.memo.begun !== true) {
    const begin: Change = {
      do: 'begin-range-restore',
      bucket,
      snapshot,
      range: rangeOf(input),
      nowMs: cluster.now(),
    }
    await explained(patiently(cluster, work, () => work.commit([begin], { begun: true })))
  }
  try {
    await explained(moveAll(cluster, work, bucket))
  } catch (failure) {
    if (failure instanceof Interrupted) throw failure
    await leaveRange(cluster, work, input)
    throw failure
  }
  const { key, prefix = '' } = input
  const ended = cluster.event('bucket.restored', { bucket, snapshot, path: key ?? prefix })
  await patiently(cluster, work, () => work.commit([{ do: 'finish-range-restore', bucket }, ended], { ended: true }))
}

/** Gives up what has only looked; what has begun to move is moved to its end. */
export async function leaveRange(cluster: Cluster, work: Work, { bucket }: RangeInput): Promise<void> {
  try {
    await patiently(cluster, work, () => cluster.catalog.commit([{ do: 'abandon-range-restore', bucket }]))
  } catch (failure) {
    if (!(failure instanceof CommitRefused)) throw failure
    if (failure.reason !== 'restoring') return
    await moveAll(cluster, work, bucket)
    await cluster.catalog.commit([{ do: 'finish-range-restore', bucket }])
  }
}

async function moveAll(cluster: Cluster, work: Work, bucket: string): Promise<void> {
  for (let batch = 1; ; batch++) {
    if (work.stopping.aborted) throw new Interrupted()
    const move: Change = { do: 'restore-range', bucket, limit: BATCH }
    const [outcome] = await patiently(cluster, work, () => cluster.catalog.commit([move]))
    if (outcome?.next === undefined) return
    if (batch % NOTED_BATCHES === 0)
      await patiently(cluster, work, () => work.progress(0.5, messages[outcome.next ?? '']))
    // Others get their turn between two batches.
    await cluster.system.clock.sleep(1)
  }
}

const messages: Readonly<Record<string, string>> = {
  look: 'What would change is looked at.',
  remove: 'Newer objects are taken away.',
  copy: 'Objects are brought back.',
}

function rangeOf({ key, prefix = '' }: RangeInput): KeyRange {
  return key === undefined ? { prefix: Buffer.from(prefix) } : { key: Buffer.from(key) }
}

async function explained<Result>(act: Promise<Result>): Promise<Result> {
  try {
    return await act
  } catch (failure) {
    if (!(failure instanceof CommitRefused)) throw failure
    throw explain(failure)
  }
}

function explain(refused: CommitRefused): Error {
  const { reason, scope } = refused
  if (reason === 'locked') {
    return failure('restoreBreaksLocks')
  }
  if (reason === 'full') {
    return failure('restoreTooLarge')
  }
  if (reason === 'restoring') {
    return failure('bucketBeingRestored')
  }
  if (reason !== 'missing') return refused
  return scope === 'snapshot'
    ? failure('snapshotWithoutBucket')
    : failure('bucketNotFound', {}, { target: 'restore_to.path' })
}
