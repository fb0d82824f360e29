import type { Fields } from '../../ports/catalog.ts'
import { demand } from '../call.ts'
import type { Reply, ServiceCall } from '../call.ts'
import { checkAclHeaders } from '../config/acl.ts'
import { lockFields } from '../config/lock-fields.ts'
import { asksForLocks } from '../config/object-lock.ts'
import { readOwnershipHeader } from '../config/ownership.ts'
import { checkCount, checkTag, hasDuplicateKeys, readTag } from '../config/tagging.ts'
import { settingFields } from '../bucket-settings.ts'
import { S3Error, s3Error } from '../errors.ts'
import { checkBucketName } from '../keys.ts'
import { children, findChild, findText, malformed, readXml } from '../xml.ts'
import { refuseUnbuilt } from './object-write.ts'
import { owner } from './owner.ts'

/** What else a new bucket is told by the same request needs the permission that telling it later would. */
export async function createBucket(call: ServiceCall): Promise<Reply> {
  const { bucketName: name, headers, svm, server, caller, control } = call
  checkBucketName(name)
  refuseUnbuilt(headers)
  checkAcl(call)
  const ownership = readOwnershipHeader(headers)
  const withLocks = asksForLocks(headers)
  const configuration = await readConfiguration(call)
  const actions = [
    ...(withLocks ? ['s3:PutBucketObjectLockConfiguration', 's3:PutBucketVersioning'] : []),
    ...(ownership === undefined ? [] : ['s3:PutBucketOwnershipControls']),
    ...('$tags' in configuration ? ['s3:PutBucketTagging'] : []),
  ]
  for (const action of actions) await demand(call, action, name)
  const fields: Fields = {
    // Locks hold versions.
    ...(withLocks ? { ...lockFields({}), versioning_state: 'enabled' } : {}),
    ...(ownership === undefined ? {} : settingFields.ownership(true)),
    ...configuration,
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
      return { headers: { Location: `/${name}` } }
    case 'exists':
      throw s3Error('BucketAlreadyOwnedByYou', { fields: { BucketName: name } })
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
async function readConfiguration(call: ServiceCall): Promise<Fields> {
  const document = await call.document()
  if (document.length === 0) return {}
  const root = readXml(document, 'CreateBucketConfiguration')
  findText(root, 'LocationConstraint')
  for (const name of ['Location', 'Bucket']) {
    if (findChild(root, name) !== undefined) throw malformed(`${name} of a bucket cannot be chosen.`)
  }
  const set = findChild(root, 'Tags')
  if (set === undefined) return {}
  const tags = children(set, 'Tag').map(readTag)
  checkCount(tags, 'bucket')
  tags.forEach(checkTag)
  if (hasDuplicateKeys(tags)) throw s3Error('InvalidTag')
  return settingFields.tags(tags)
}
