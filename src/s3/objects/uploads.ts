import type { Fields, FieldValue, ObjectLock, UploadRow } from '../../ports/catalog.ts'
import type { ChecksumAlgorithm, ChecksumType } from '../checksums/algorithms.ts'
import { s3Error } from '../errors.ts'
import { algorithmOf } from './checksums.ts'
import { readDetails, writeDetails } from './details.ts'
import type { ObjectDetails } from './details.ts'
import { findNumber, findWord, stored, type Stored } from '../../records/stored.ts'
import type { GivenLock } from './locks.ts'
import { newId } from './ids.ts'
import type { ObjectStore, OpenBucket } from './store.ts'

/** A multipart upload that is open. */
export interface OpenUpload {
  readonly id: string
  readonly key: Uint8Array
  readonly startedMs: number
  readonly details: ObjectDetails
  /** For the object it will be. */
  readonly locks: GivenLock
  readonly algorithm: ChecksumAlgorithm
  readonly type: ChecksumType
  /** Whether the client chose the algorithm; then parts may come with no other. */
  readonly isAlgorithmChosen: boolean
}

export async function createUpload(
  { catalog, system }: ObjectStore,
  bucket: OpenBucket,
  draft: Omit<OpenUpload, 'id' | 'startedMs'>,
): Promise<OpenUpload> {
  const upload = { ...draft, id: newId(system), startedMs: system.clock.now() }
  await catalog.commit([{ do: 'open-upload', bucket: bucket.uuid, upload: uploadRow(upload) }])
  return upload
}

/** The open upload that a request names with key and id. */
export async function openUpload(
  { catalog }: ObjectStore,
  bucket: OpenBucket,
  key: Uint8Array,
  id: string,
): Promise<OpenUpload> {
  const found = await findUpload({ catalog }, bucket, key, id)
  if (found === undefined) throw s3Error('NoSuchUpload', { fields: { UploadId: id } })
  return found
}

export async function findUpload(
  { catalog }: Pick<ObjectStore, 'catalog'>,
  bucket: OpenBucket,
  key: Uint8Array,
  id: string,
): Promise<OpenUpload | undefined> {
  const row = await catalog.upload(bucket.uuid, id)
  return row === undefined || !Buffer.from(row.key).equals(key) ? undefined : readUpload(row)
}

/** Lets go of an upload and its parts. */
export async function abortUpload(store: ObjectStore, bucket: OpenBucket, key: Uint8Array, id: string): Promise<void> {
  await openUpload(store, bucket, key, id)
  const [outcome] = await store.catalog.commit([{ do: 'abort-upload', bucket: bucket.uuid, upload: id }])
  if (outcome?.found === false) throw s3Error('NoSuchUpload', { fields: { UploadId: id } })
}

export function readUpload({ upload, key, startedMs, details }: UploadRow): OpenUpload {
  const { checksumAlgorithm, checksumType, isAlgorithmChosen, lock, legalHold, ...object } = details
  return {
    id: upload,
    key,
    startedMs,
    details: readDetails(object),
    locks: readLocks(stored<ObjectLock>(lock), legalHold),
    algorithm: algorithmOf({ algorithm: typeof checksumAlgorithm === 'string' ? checksumAlgorithm : '' }),
    type: checksumType === 'COMPOSITE' ? 'COMPOSITE' : 'FULL_OBJECT',
    isAlgorithmChosen: isAlgorithmChosen === true,
  }
}

function readLocks(lock: Stored<ObjectLock>, legalHold: FieldValue | undefined): GivenLock {
  const mode = findWord(lock, 'mode', ['governance', 'compliance'])
  const untilMs = findNumber(lock, 'untilMs')
  return {
    ...(mode !== undefined && untilMs !== undefined ? { lock: { mode, untilMs } } : {}),
    ...(typeof legalHold === 'boolean' ? { legalHold } : {}),
  }
}

function uploadRow({ id, key, startedMs, details, locks, algorithm, type, isAlgorithmChosen }: OpenUpload): UploadRow {
  const fields: Fields = {
    ...writeDetails(details),
    checksumAlgorithm: algorithm,
    checksumType: type,
    isAlgorithmChosen,
    ...(locks.lock === undefined ? {} : { lock: { ...locks.lock } }),
    ...(locks.legalHold === undefined ? {} : { legalHold: locks.legalHold }),
  }
  return { upload: id, key, startedMs, details: fields }
}
