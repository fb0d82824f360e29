import type { DeleteCondition, Outcome } from '../../ports/catalog.ts'
import type { BucketCall, Reply } from '../call.ts'
import { readEtags, readSize, readTime } from '../conditions.ts'
import { s3Error, S3Error } from '../errors.ts'
import { checkKey } from '../keys.ts'
import { deleteObjects as deleteFrom } from '../objects/delete.ts'
import type { Deletion } from '../objects/delete.ts'
import { child, children, findBoolean, findText, malformed, readXml, xmlDocument } from '../xml.ts'
import type { XmlContent, XmlNode } from '../xml.ts'
import { mayBypass } from './object-retention.ts'

/** Keys of one request. */
const keysMax = 1000

/** Deletes many keys, each for itself: also who may is decided key by key. */
export async function deleteObjects(call: BucketCall): Promise<Reply> {
  const root = readXml(await call.document({ isIntegrityNeeded: true }), 'Delete')
  const isQuiet = findBoolean(root, 'Quiet') === true
  const entries = children(root, 'Object')
  if (entries.length === 0 || entries.length > keysMax) throw malformed(`1 to ${keysMax} Objects are expected.`)

  const keys = entries.map((entry) => child(entry, 'Key').text)
  const failures = new Map<number, S3Error>()
  const deletions: (Deletion & { readonly at: number })[] = []
  for (const [at, entry] of entries.entries()) {
    const problem = await problemOf(call, entry)
    if (problem !== undefined) failures.set(at, problem)
    else {
      const key = Buffer.from(child(entry, 'Key').text)
      deletions.push({
        at,
        key,
        version: versionOf(entry),
        condition: conditionOf(entry),
        bypassGovernance: await mayBypass(call, key),
      })
    }
  }
  const outcomes = await deleteFrom(call.store, call.bucket, deletions)
  const deleted: XmlContent[] = []
  for (const [index, { at, version }] of deletions.entries()) {
    const outcome = outcomes[index] ?? {}
    if (outcome instanceof S3Error) failures.set(at, outcome)
    else deleted.push(deletedElement(call, { Key: keys[at] ?? '', version, outcome }))
  }
  return {
    body: xmlDocument('DeleteResult', {
      Deleted: isQuiet ? [] : deleted,
      Error: [...failures]
        .toSorted(([a], [b]) => a - b)
        .map(([at, { code, message }]) => ({ Key: keys[at], Code: code, Message: message })),
    }),
  }
}

async function problemOf(call: BucketCall, entry: XmlNode): Promise<S3Error | undefined> {
  const key = Buffer.from(child(entry, 'Key').text)
  if (key.length === 0) return s3Error('UserKeyMustBeSpecified')
  try {
    checkKey(key)
  } catch (failure) {
    return failure as S3Error
  }
  const action = versionOf(entry) === undefined ? 's3:DeleteObject' : 's3:DeleteObjectVersion'
  return (await call.allows(action, call.bucket.name, key)) ? undefined : s3Error('AccessDenied')
}

function conditionOf(entry: XmlNode): DeleteCondition | undefined {
  const etag = findText(entry, 'ETag')
  const size = findText(entry, 'Size')
  const time = findText(entry, 'LastModifiedTime')
  if (etag === undefined && size === undefined && time === undefined) return undefined
  return {
    ...(etag === undefined ? {} : { ifMatch: readEtags('ETag', etag) }),
    ...(size === undefined ? {} : { ifSizeBytes: readSize('Size', size) }),
    ...(time === undefined ? {} : { ifModifiedMs: readTime('LastModifiedTime', time) }),
  }
}

function versionOf(entry: XmlNode): string | undefined {
  return findText(entry, 'VersionId') || undefined
}

/** What was deleted, and the marker that was made or taken away by it. */
function deletedElement(
  { bucket }: BucketCall,
  { Key, version, outcome }: { Key: string; version: string | undefined; outcome: Outcome },
): XmlContent {
  if (bucket.versioning === 'unversioned') return { Key }
  return {
    Key,
    VersionId: version,
    ...(outcome.marker === true ? { DeleteMarker: true, DeleteMarkerVersionId: outcome.version } : {}),
  }
}
