/**
 * What is known to be damaged: a record for each blob, found by a read or a scrub. Blobs are named by their volume and
 * their own name, so the same damage found twice is one record, whoever finds it.
 */
import type { Damage } from '../records/rows.ts'
import { CommitRefused, type StoredRecord } from '../ports/catalog.ts'
import type { FileDamage } from '../ports/volumes.ts'
import type { Cluster } from '../core/cluster.ts'
import { namedUuid } from '../records/named-uuid.ts'
import { placeOf } from './tree-of.ts'

export const DAMAGE = 'private/damaged-objects'
/** The scope of the values `<volume>/<blob>` of damaged objects, by which HEAD and copies look them up. */
export const DAMAGED_BLOBS = `${DAMAGE}:blob`

/** With more, something is wrong that a list does not help with. Whoever finds the rest counts it. */
export const DAMAGE_RECORDS_MAX = 10_000

/**
 * Damage of a file, a blob whose file is missing or cannot be read, or a file, or bytes of one, that no object needs: `duplicate` when an
 * object needs the blob in another tree, else `unknown`.
 */
export type DamageKind = FileDamage | 'missing' | 'unreadable' | 'unknown' | 'duplicate'

/** Damage of an object. Files without an object harm nobody. */
export const isLoss = (kind: unknown): boolean => kind !== 'unknown' && kind !== 'duplicate'

export interface FoundDamage {
  readonly volume: string
  readonly blob: string
  readonly kind: DamageKind
  readonly foundBy: 'read' | 'scrub' | 'compaction'
  readonly message: string
  /** An object that the blob belongs to. Missing where it is not known. */
  readonly object?: { readonly bucket: string; readonly key: string; readonly version?: string }
}

/** What became of it. `unneeded`: nothing needs the blob any more. `full`: as many are on record as can be. */
export type Noted = 'noted' | 'known' | 'unneeded' | 'full'

export function damageKey(cluster: Cluster, volume: string, blob: string): string {
  return namedUuid(cluster, `damage of blob ${blob} of volume ${volume}`)
}

/** Keeps what was found, with an event and a line in the log. It costs the same however many are on record. */
export async function noteDamage(cluster: Cluster, found: FoundDamage): Promise<Noted> {
  const { volume, blob, kind, foundBy, message, object } = found
  const volumeRow = await cluster.find('storage/volumes', volume)
  if (volumeRow === undefined) return 'unneeded'
  if (isLoss(kind) && (await cluster.catalog.storedBlob(volume, blob)) === undefined) return 'unneeded'
  const uuid = damageKey(cluster, volume, blob)
  const known = await cluster.record(DAMAGE, uuid)
  // A file that no object needed may have got one.
  if (known !== undefined && (isLoss(known.body['kind']) || !isLoss(kind))) {
    await nameKnown(cluster, known, object)
    return 'known'
  }
  if (known === undefined && (await cluster.count(DAMAGE)) >= DAMAGE_RECORDS_MAX) return 'full'
  const { aggregate, tree } = placeOf(volumeRow)
  const file = (await cluster.volumesOf(aggregate)).fileOf(tree, blob)
  const told = { kind, file, volume: volumeRow['name'], ...(await namesOf(cluster, object)) }
  const row: Damage = {
    uuid,
    kind,
    found_by: foundBy,
    found_time: cluster.now(),
    'aggregate.uuid': aggregate,
    'volume.uuid': volume,
    'svm.uuid': volumeRow['svm.uuid'],
    blob,
    file,
    message,
    ...fieldsOf(object),
  }
  const change = cluster.put(DAMAGE, row, {
    expect: known === undefined ? 'absent' : known.revision,
    ...(isLoss(kind) ? { unique: { [DAMAGED_BLOBS]: `${volume}/${blob}` } } : {}),
  })
  try {
    const event = cluster.event(isLoss(kind) ? 'object.damaged' : 'volume.file.unexpected', told)
    await cluster.catalog.commit([change, event])
  } catch (failure) {
    if (failure instanceof CommitRefused) {
      if (failure.reason === 'exists' || failure.reason === 'stale') return 'known'
      if (failure.scope === 'parent') return 'unneeded'
    }
    throw failure
  }
  const said = isLoss(kind) ? 'A stored object is damaged.' : 'A file that no object needs was found.'
  cluster.log.error(said, { ...told, blob, cause: message })
  return 'noted'
}

/** A scrub does not name an object that only snapshots have; a read of it there, or after a restore, does. */
async function nameKnown(cluster: Cluster, { body, revision }: StoredRecord<Damage>, object: FoundDamage['object']) {
  if (object === undefined || body['key'] !== undefined) return
  try {
    const unique = { [DAMAGED_BLOBS]: `${body['volume.uuid']}/${body['blob']}` }
    await cluster.catalog.commit([cluster.put(DAMAGE, { ...body, ...fieldsOf(object) }, { expect: revision, unique })])
  } catch (failure) {
    // It was forgotten, or named by another, meanwhile.
    if (!(failure instanceof CommitRefused)) throw failure
  }
}

function fieldsOf(object: FoundDamage['object']): Pick<Damage, 'bucket.uuid' | 'key' | 'version'> {
  if (object === undefined) return {}
  const { bucket, key, version } = object
  return { 'bucket.uuid': bucket, key, ...(version === undefined ? {} : { version }) }
}

async function namesOf(cluster: Cluster, object: FoundDamage['object']) {
  if (object === undefined) return { bucket: '', key: '', version: '' }
  const bucket = await cluster.find('protocols/s3/buckets', object.bucket)
  return { bucket: bucket?.['name'] ?? object.bucket, key: object.key, version: object.version ?? '' }
}
