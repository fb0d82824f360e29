import type { DeleteCondition, Outcome } from '../../ports/catalog.ts'
import type { BucketCall, Reply } from '../exchange/call.ts'
import { readEtags, readSize, readTime } from '../request/conditions.ts'
import { s3Error, S3Error } from '../errors.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { checkKey, isVersionId } from '../request/keys.ts'
import { deleteObjects as deleteFrom } from '../objects/delete.ts'
import type { Deletion } from '../objects/delete.ts'
import { inTurns } from '../exchange/turns.ts'
import {
  child,
  children,
  findBoolean,
  findText,
  malformed,
  readXmlInTurns,
  wellFormedText,
  xmlDocument,
} from '../xml/xml.ts'
import type { XmlContent, XmlNode } from '../xml/xml.ts'
import { mayBypass } from './object-retention.ts'
import { mayCompare } from './write-conditions.ts'

/** Keys of one request. */
const keysMax = 1000
/** To judge them takes about a millisecond. */
const keysPerTurn = 50

/** Deletes many keys, each for itself: also who may is decided key by key. */
export async function deleteObjects(call: BucketCall): Promise<Reply> {
  const root = await readXmlInTurns(await call.document({ isIntegrityNeeded: true }), 'Delete', call.turn)
  const isQuiet = findBoolean(root, 'Quiet') === true
  const entries = children(root, 'Object')
  if (entries.length === 0 || entries.length > keysMax) throw malformed(`1 to ${keysMax} Objects are expected.`)

  const keys = entries.map((entry) => child(entry, 'Key').text)
  const versions = entries.map(versionOf)
  const failures = new Map<number, S3Error>()
  const deletions: (Deletion & { readonly at: number })[] = []
  await inTurns(entries, keysPerTurn, call.turn, async (entry, at) => {
    const problem = await problemOf(call, entry)
    if (problem !== undefined) failures.set(at, problem)
    else {
      const key = Buffer.from(child(entry, 'Key').text)
      deletions.push({
        at,
        key,
        version: versions[at],
        condition: conditionOf(entry),
        bypassGovernance: await mayBypass(call, key),
      })
    }
  })
  const outcomes = await deleteFrom(call.store, call.bucket, deletions)
  const deleted: XmlContent[] = []
  for (const [index, { at, version }] of deletions.entries()) {
    const outcome = outcomes[index] ?? {}
    if (outcome instanceof S3Error) failures.set(at, outcome)
    else deleted.push(deletedElement(call, { Key: wellFormedText(keys[at] ?? ''), version, outcome }))
  }
  return {
    body: xmlDocument('DeleteResult', {
      Deleted: isQuiet ? [] : deleted,
      Error: [...failures]
        .toSorted(([a], [b]) => a - b)
        .map(([at, { code, message }]) => ({
          Key: wellFormedText(keys[at] ?? ''),
          VersionId: versions[at] === undefined ? undefined : wellFormedText(versions[at]),
          Code: code,
          Message: message,
        })),
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
  const version = versionOf(entry)
  if (version !== undefined && !isVersionId(version)) return s3Error('NoSuchVersion')
  const asking = { version: version ?? null, headers: headersFor(call.headers, findText(entry, 'ETag')) }
  const action = version === undefined ? 's3:DeleteObject' : 's3:DeleteObjectVersion'
  if (!(await call.allows(action, call.bucket.name, key, asking))) return s3Error('AccessDenied')
  const ifMatch = conditionOf(entry)?.ifMatch
  return (await mayCompare(call, key, ifMatch, asking)) ? undefined : s3Error('AccessDenied')
}

/** Policies that demand `s3:if-match` mean the ETag of each key, not a header of the request, which says nothing here. */
function headersFor(headers: RequestHeaders, etag: string | undefined): RequestHeaders {
  const others = [...headers].filter(([name]) => name !== 'if-match')
  return new Map(etag === undefined ? others : [...others, ['if-match', [etag]]])
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
  if (bucket.versioning === 'unversioned') return { Key, VersionId: version }
  return {
    Key,
    VersionId: version,
    ...(outcome.marker === true ? { DeleteMarker: true, DeleteMarkerVersionId: outcome.version } : {}),
  }
}
