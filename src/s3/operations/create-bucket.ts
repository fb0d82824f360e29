import type { Fields } from '../../ports/catalog.ts'
import { demand, region } from '../exchange/call.ts'
import type { Reply, ServiceCall } from '../exchange/call.ts'
import { checkAclHeaders } from '../config/acl.ts'
import { lockFields } from '../../records/lock-fields.ts'
import { asksForLocks } from '../config/object-lock.ts'
import { readOwnershipHeader } from '../config/ownership.ts'
import { checkCount, checkTag, hasDuplicateKeys, readTag, taggingDocument } from '../config/tagging.ts'
import type { Tag } from '../../records/tags.ts'
import { settingFields } from '../tenancy/bucket-settings.ts'
import { S3Error, s3Error } from '../errors.ts'
import { checkBucketName } from '../request/keys.ts'
import { children, findChild, findText, malformed, readXml } from '../xml/xml.ts'
import { refuseUnbuilt } from './object-write.ts'
import { owner } from './owner.ts'

/** What else a new bucket is told by the same request needs the permission that telling it later would. */
export async function createBucket(call: ServiceCall): Promise<Reply> {
  const { bucketName: name, headers, svm, server, caller, control, signedRegion } = call
  checkBucketName(name)
  refuseUnbuilt(headers)
  checkAcl(call)
  const ownership = readOwnershipHeader(headers)
  const withLocks = asksForLocks(headers)
  const { location = signedRegion, tags } = await readConfiguration(call)
  const actions = [
    ...(withLocks ? ['s3:PutBucketObjectLockConfiguration', 's3:PutBucketVersioning'] : []),
    ...(ownership === undefined ? [] : ['s3:PutBucketOwnershipControls']),
    ...(tags === undefined ? [] : ['s3:PutBucketTagging']),
  ]
  for (const action of actions) await demand(call, action, name)
  const fields: Fields = {
    // Locks hold versions.
    ...(withLocks ? { ...lockFields({}), versioning_state: 'enabled' } : {}),
    ...(ownership === undefined ? {} : settingFields.ownership(true)),
    ...(tags === undefined ? {} : settingFields.tags(tags)),
    ...(caller === undefined ? {} : settingFields.maker({ svm: caller.svm, user: caller.name })),
  }
  const outcome = await control.createBucket({
    svm,
    server: server.uuid,
    name,
    caller: { user: caller?.name ?? '', svm: caller?.svm ?? '' },
    fields,
  })
  switch (outcome) {
    case 'done':
      break
    case 'exists':
      await judgeExisting(call, { location, withLocks, tags })
      break
    case 'too-many':
      throw s3Error('TooManyBuckets')
    case 'no-room':
      throw s3Error('QuotaExceeded', { message: 'No data volume of the object store server has room for a bucket.' })
    case 'missing':
    case 'not-empty':
      throw s3Error('ServiceUnavailable')
    case 'refused':
      throw s3Error('OperationAborted')
  }
  return { headers: { Location: `/${name}`, 'x-amz-bucket-arn': `arn:aws:s3:::${name}` } }
}

interface Wanted {
  readonly location: string
  readonly withLocks: boolean
  readonly tags: readonly Tag[] | undefined
}

/**
 * In us-east-1 Amazon answers 200 to the owner of a bucket who makes it again, so that scripts may begin with it; in all
 * other regions, and to all others, 409. A request that asks for what the bucket has not is 409 too: a 200 would say that
 * its objects are locked.
 */
async function judgeExisting({ look, svm, bucketName: name, caller }: ServiceCall, wanted: Wanted): Promise<void> {
  const bucket = await (await look()).bucket(svm, name)
  // It went meanwhile.
  if (bucket === undefined) throw s3Error('OperationAborted')
  const { maker, locks, tags = [] } = bucket.settings
  if (maker !== undefined && (maker.user !== caller?.name || maker.svm !== caller.svm)) {
    throw s3Error('BucketAlreadyExists', { fields: { BucketName: name } })
  }
  const hasLocks = locks !== undefined || !wanted.withLocks
  const hasTags = wanted.tags === undefined || taggingDocument(wanted.tags) === taggingDocument(tags)
  if (wanted.location !== region || !hasLocks || !hasTags) {
    throw s3Error('BucketAlreadyOwnedByYou', { fields: { BucketName: name } })
  }
}

/** What grants something to others is refused by another name here than everywhere else. */
function checkAcl({ headers, svm }: ServiceCall): void {
  try {
    checkAclHeaders(headers, owner(svm))
  } catch (failure) {
    if (!(failure instanceof S3Error) || failure.code !== 'AccessControlListNotSupported') throw failure
    throw s3Error('InvalidBucketAclWithObjectOwnership', { cause: failure })
  }
}

/** A location is taken whatever it names: there is one region, and tools send the one they are set to. */
async function readConfiguration(
  call: ServiceCall,
): Promise<{ readonly location?: string; readonly tags?: readonly Tag[] }> {
  const document = await call.document()
  if (document.length === 0) return {}
  const root = readXml(document, 'CreateBucketConfiguration')
  const location = findText(root, 'LocationConstraint')?.trim() ?? ''
  for (const name of ['Location', 'Bucket']) {
    if (findChild(root, name) !== undefined) throw malformed(`${name} of a bucket cannot be chosen.`)
  }
  const set = findChild(root, 'Tags')
  const tags = set === undefined ? undefined : children(set, 'Tag').map(readTag)
  if (tags !== undefined) {
    checkCount(tags, 'bucket')
    tags.forEach(checkTag)
    if (hasDuplicateKeys(tags)) throw s3Error('InvalidTag')
  }
  return { ...(location === '' ? {} : { location }), ...(tags === undefined ? {} : { tags }) }
}
