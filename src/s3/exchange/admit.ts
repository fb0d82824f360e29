/** Whether a request may do what it asks for, and how fast. */
import { verify } from '../auth/sigv4.ts'
import type { Verified, Verifier } from '../auth/sigv4.ts'
import { demand } from './call.ts'
import type { ServiceCall } from './call.ts'
import { noSuchBucket, s3Error } from '../errors.ts'
import type { Exchange } from './exchange.ts'
import { headerValue } from '../request/headers.ts'
import { isSignedByVersion2, notedOfSignature } from './noted.ts'
import { readOnlyMessage } from '../objects/failures.ts'
import type { Handler } from '../operations/index.ts'
import type { Plane } from '../plane.ts'
import { Pace } from '../qos/pace.ts'
import type { About } from './reply.ts'
import type { Resolved } from './resolve.ts'
import { actionOf } from '../request/router.ts'
import type { Bucket, User } from '../tenancy/records.ts'
import type { TenancyView } from '../tenancy/tenancy.ts'

/** Who sent the request. Fails where its signature is wrong. */
export async function identify(plane: Plane, found: Resolved, about: About): Promise<Verified<User>> {
  const { method, rawPath, rawQuery, sent, headers, query, view } = found
  if (isSignedByVersion2(headers, query)) about.noted.push('signature_v2_requests')
  const verified = await verify({ method, rawPath, rawQuery, headers: sent }, verifierOf(plane, view))
  about.noted.push(...notedOfSignature(verified))
  return verified
}

/** Lets the request on, or fails with what it lacks. */
export async function admit(found: Resolved, call: ServiceCall, handler: Handler): Promise<void> {
  const { view, method, target, record } = found
  const isRead = method === 'GET' || method === 'HEAD'
  if (target.bucket !== undefined && record === undefined && handler.needs !== 'service') {
    throw noSuchBucket(target.bucket)
  }
  if (record?.snapshot !== undefined && !isRead) {
    throw s3Error('AccessDenied', { message: 'The bucket shows a snapshot, which nobody can change.' })
  }
  await authorise(found, call, handler)
  // The commit would be refused too: this spares clients the upload.
  if (!isRead && record !== undefined) await insistOnWritable(view, record)
}

/** One decision for each request, before its body is asked for, unless the body is what decides. */
async function authorise(
  { operation, headers, query, target, server, view, record }: Resolved,
  call: ServiceCall,
  handler: Handler,
): Promise<void> {
  const expectedOwner = headerValue(headers, 'x-amz-expected-bucket-owner')
  if (expectedOwner !== undefined && expectedOwner !== server.svm) throw s3Error('AccessDenied')
  if (handler.asks === 'itself') return
  if (handler.asks === 'with-body') {
    const keys = await view.conditionKeys({ caller: call.caller, server, bucket: record })
    if ([...keys].some(isOfBody)) return
  }
  await demand(call, actionOf(operation, query), target.bucket ?? '', target.key)
}

/** What a document may say: the tags or the lock that it sets. */
function isOfBody(key: string): boolean {
  return key.startsWith('s3:requestobjecttag') || key.startsWith('s3:object-lock-')
}

async function insistOnWritable(view: TenancyView, { volume }: Bucket): Promise<void> {
  if ((await view.volume(volume))?.isReadOnly === true) throw s3Error('AccessDenied', { message: readOnlyMessage })
}

/** From here on the request goes no faster than the ceilings of its bucket, volume and SVM allow, nor stands in the way of floors. */
export async function beginPace(plane: Plane, exchange: Exchange, view: TenancyView, record: Bucket): Promise<void> {
  const { shaper, meter } = plane
  exchange.pace = new Pace(await view.charged(record), { shaper, meter, clock: plane.system.clock })
  await exchange.pace.begin()
}

export function verifierOf({ system, signingKeys }: Plane, view: TenancyView): Verifier<User> {
  const now = system.clock.now()
  return { now: new Date(now), accountOf: (accessKey) => view.userAt(accessKey, now), signingKeys }
}
