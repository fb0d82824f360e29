import { s3Error } from '../errors.ts'
import type { Reply, ServiceCall } from '../call.ts'
import { checkBucketName } from '../keys.ts'
import { findText, malformed, readXml } from '../xml.ts'
import { findChild } from '../xml.ts'
import { refuseUnbuilt } from './parameters.ts'

export async function createBucket(call: ServiceCall): Promise<Reply> {
  const { bucketName: name, svm, server, caller, control } = call
  checkBucketName(name)
  refuseUnbuilt(call.headers)
  await checkConfiguration(call)
  const outcome = await control.createBucket({
    svm,
    server: server.uuid,
    name,
    caller: { user: caller?.name ?? '', svm: caller?.svm ?? '' },
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
  }
}

/** A location is taken whatever it names: there is one region, and tools send the one they are set to. */
async function checkConfiguration(call: ServiceCall): Promise<void> {
  const document = await call.document()
  if (document.length === 0) return
  const root = readXml(document, 'CreateBucketConfiguration')
  findText(root, 'LocationConstraint')
  for (const name of ['Location', 'Bucket', 'Tags']) {
    if (findChild(root, name) !== undefined) throw malformed(`${name} of a bucket cannot be chosen.`)
  }
}
