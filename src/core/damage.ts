/**
 * What is known to be damaged: a record for each blob, found by a read or a scrub. Blobs are named by their volume and
 * their own name, so the same damage found twice is one record, whoever finds it.
 */
import type { Row } from '../model/value.ts'
import { CommitRefused } from '../ports/catalog.ts'
import type { FileDamage } from '../ports/volumes.ts'
import type { Cluster } from './cluster.ts'
import { namedUuid } from './named-uuid.ts'
import { placeOf } from './tree-of.ts'

export const DAMAGE = 'private/damaged-objects'

/** With more, something is wrong that a list does not help with. The rest is only logged. */
export const DAMAGE_RECORDS_MAX = 10_000

/**
 * Damage of a file, a blob whose file is missing or cannot be read, or a file that no object needs: `duplicate` when an
 * object needs the blob in another tree, else `unknown`.
 */
export type DamageKind = FileDamage | 'missing' | 'unreadable' | 'unknown' | 'duplicate'

/** Damage of an object. Files without an object harm nobody. */
export const isLoss = (kind: unknown): boolean => kind !== 'unknown' && kind !== 'duplicate'

export interface FoundDamage {
  readonly volume: string
  readonly blob: string
  readonly kind: DamageKind
  readonly foundBy: 'read' | 'scrub'
  readonly message: string
  /** An object that the blob belongs to. Missing where it is not known. */
  readonly object?: { readonly bucket: string; readonly key: string; readonly version?: string }
}

export function damageKey(cluster: Cluster, volume: string, blob: string): string {
  return namedUuid(cluster, `damage of blob ${blob} of volume ${volume}`)
}

/** Keeps what was found, and tells of it by an event, unless it is known already or nothing needs the blob any more. */
export async function noteDamage(cluster: Cluster, found: FoundDamage): Promise<boolean> {
  const { volume, blob, kind, foundBy, message, object } = found
  const volumeRow = await cluster.find('storage/volumes', volume)
  if (volumeRow === undefined) return false
  if (isLoss(kind) && (await cluster.catalog.storedBlob(volume, blob)) === undefined) return false
  const uuid = damageKey(cluster, volume, blob)
  if ((await cluster.find(DAMAGE, uuid)) !== undefined) return false
  const { aggregate, tree } = placeOf(volumeRow)
  const file = (await cluster.volumesOf(aggregate)).fileOf(tree, blob)
  const told = { kind, file, volume: volumeRow['name'] ?? '', ...(await namesOf(cluster, object)) }
  const details = { ...told, blob, cause: message }
  cluster.log.error(isLoss(kind) ? 'A stored object is damaged.' : 'A file that no object needs was found.', details)
  if ((await cluster.rows(DAMAGE)).length >= DAMAGE_RECORDS_MAX) return false
  const row: Row = {
    uuid,
    kind,
    found_by: foundBy,
    found_time: cluster.now(),
    'aggregate.uuid': aggregate,
    'volume.uuid': volume,
    'svm.uuid': volumeRow['svm.uuid'] ?? '',
    blob,
    file,
    message,
    ...(object === undefined ? {} : { 'bucket.uuid': object.bucket, key: object.key }),
    ...(object?.version === undefined ? {} : { version: object.version }),
  }
  try {
    const event = cluster.event(isLoss(kind) ? 'object.damaged' : 'volume.file.unexpected', told)
    await cluster.catalog.commit([cluster.put(DAMAGE, row, { expect: 'absent' }), event])
    return true
  } catch (failure) {
    if (failure instanceof CommitRefused && failure.reason === 'exists') return false
    throw failure
  }
}

async function namesOf(cluster: Cluster, object: FoundDamage['object']): Promise<Row> {
  if (object === undefined) return { bucket: '', key: '', version: '' }
  const bucket = await cluster.find('protocols/s3/buckets', object.bucket)
  return { bucket: bucket?.['name'] ?? object.bucket, key: object.key, version: object.version ?? '' }
}
