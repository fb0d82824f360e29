/** What the handler of an operation is given: the request as it was understood, and what it may ask for. */
import type { ChunkSigning } from '../auth/aws-chunked.ts'
import type { Verified } from '../auth/sigv4.ts'
import { verifierOf } from './admit.ts'
import { planBody } from '../body/body.ts'
import type { BodyPlan } from '../body/body.ts'
import { region } from './call.ts'
import type { Asking, BodyOptions, ServiceCall } from './call.ts'
import { withoutChecksums } from '../checksums/claims.ts'
import { noSuchBucket, s3Error } from '../errors.ts'
import type { Exchange } from './exchange.ts'
import { notedOfDecision } from './noted.ts'
import { bodyOf } from '../objects/store-body.ts'
import { openBucket } from './open-bucket.ts'
import type { Plane } from '../plane.ts'
import { requestContext } from '../policy/context.ts'
import type { RequestFacts } from '../policy/context.ts'
import type { About } from './reply.ts'
import { existingTags, factsOf } from '../request/request-facts.ts'
import type { Resolved } from './resolve.ts'
import type { User } from '../tenancy/records.ts'
import { xmlBytesMax } from '../xml/xml.ts'

/** A request, and who was found to have sent it. */
export interface Asked extends Resolved {
  readonly verified: Verified<User>
}

export function makeCall(plane: Plane, exchange: Exchange, asked: Asked, { noted }: About): ServiceCall {
  const { view, operation, headers, query, server, target, verified, bucketUrl } = asked
  const caller = verified.kind === 'signed' ? verified.account : undefined
  const { svm } = server
  const signing = chunkSigning(verified)
  const plan = (options: BodyOptions, about = headers): BodyPlan =>
    planBody({ headers: about, payload: verified.payload, ...(signing === undefined ? {} : { signing }), ...options })
  return {
    operation,
    headers,
    query,
    caller,
    signedRegion: verified.kind === 'signed' ? verified.scope.region : region,
    svm,
    server,
    view,
    look: () => plane.tenancy.view(),
    store: plane.store,
    control: plane.control,
    bucketName: target.bucket ?? '',
    bucketUrl,
    planBody: (options) => plan(options),
    body: (planned) => bodyOf(planned, exchange.body(planned.isDecoded ? undefined : plane.store.bodyBuffers)),
    async document(options) {
      const isDemanded = options?.isIntegrityNeeded === true
      if (!headers.has('content-length') && !headers.has('transfer-encoding')) {
        if (isDemanded) throw s3Error('MissingRequestBodyError')
        return Buffer.alloc(0)
      }
      const about = options?.isChecksumOfObject === true ? withoutChecksums(headers) : headers
      const planned = plan({ maxBytes: Infinity }, about)
      if (isDemanded && planned.sizeBytes === 0) throw s3Error('MissingRequestBodyError')
      if (planned.sizeBytes > xmlBytesMax) throw s3Error('MaxMessageLengthExceeded')
      if (isDemanded && !planned.hasIntegrity) {
        throw s3Error('InvalidRequest', {
          message: 'Missing required header for this request: Content-MD5 OR x-amz-checksum-*',
        })
      }
      return planned.receiveAll(exchange.body())
    },
    async findBucket(name) {
      const record = await view.bucket(svm, name)
      if (record === undefined) throw noSuchBucket(name)
      return openBucket(plane, view, record)
    },
    async allows(action, bucket, key, asking = {}) {
      const record = bucket === '' ? undefined : await view.bucket(svm, bucket)
      // Policies speak of the bucket, and what they say holds for what its snapshots show.
      const name = record?.snapshot?.of ?? bucket
      const user = asking.as === undefined ? caller : asking.as.user
      const who = { caller: user, server, bucket: record }
      const { decision, hasGroups } = await view.decide(who, action, resourceOf(name, key), async (keys) => {
        const version = asking.version === undefined ? query.get('versionId') : (asking.version ?? undefined)
        const tags = await existingTags(plane.store, record, key, version, keys)
        const named = version === undefined ? {} : { version }
        const facts = factsOf(exchange.request, asked, user, plane.system.clock.now())
        return requestContext({ ...facts, ...named, ...tags, ...withoutUndefined(asking) })
      })
      noted.push(...notedOfDecision(decision, user, hasGroups))
      return decision === 'allow'
    },
    rawBody: () => exchange.body(),
    turn: () => plane.system.clock.sleep(0),
    formVerifier: verifierOf(plane, view),
    nowMs: plane.system.clock.now(),
  }
}

function withoutUndefined(asking: Asking): Partial<RequestFacts> {
  const { as: _, version: __, ...facts } = asking
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined))
}

function chunkSigning(verified: Verified<User>): ChunkSigning | undefined {
  if (verified.kind === 'anonymous') return undefined
  const { signingKey, seedSignature, timestamp, scope } = verified
  return { signingKey, seedSignature, timestamp, scope }
}

function resourceOf(bucket: string | undefined, key: Uint8Array | undefined): string {
  if (bucket === undefined || bucket === '') return '*'
  return key === undefined ? bucket : `${bucket}/${Buffer.from(key).toString('utf8')}`
}
