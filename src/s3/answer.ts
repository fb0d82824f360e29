import type { Sparingly } from '../core/sparingly.ts'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Noted } from '../core/server-counters.ts'
import type { System } from '../ports/system.ts'
import type { Volumes } from '../ports/volumes.ts'
import { headersMax } from '../wire/http-server.ts'
import type { ChunkSigning } from './auth/aws-chunked.ts'
import { verify } from './auth/sigv4.ts'
import type { SigningKeys, Verified, Verifier } from './auth/sigv4.ts'
import { planBody } from './body.ts'
import type { BodyPlan } from './body.ts'
import { demand, region } from './call.ts'
import type { Asking, BodyOptions, BucketControl, ObjectCall, Reply, ServiceCall } from './call.ts'
import { withoutChecksums } from './checksums/claims.ts'
import { answerPreflight, corsHeaders } from './config/cors.ts'
import type { Counters } from './counters.ts'
import { s3Error } from './errors.ts'
import type { S3Error } from './errors.ts'
import { Exchange, silence } from './exchange.ts'
import { headerValue, requestHeaders, trimBlanks } from './headers.ts'
import type { RequestHeaders } from './headers.ts'
import { answerHealth, mayAskForHealth } from './health.ts'
import { withHoisted } from './hoisted.ts'
import { checkBucketAddress, checkVersionId, findHostBucket, readTarget, splitTarget } from './keys.ts'
import type { Target } from './keys.ts'
import { explainFailure, readOnlyMessage } from './objects/failures.ts'
import type { ObjectStore } from './objects/store.ts'
import { bodyOf } from './objects/store-body.ts'
import { openBucket } from './open-bucket.ts'
import { isSignedByVersion2, isUnreadable, notedOfDecision, notedOfSignature } from './noted.ts'
import { findHandler } from './operations/index.ts'
import type { Handler, OperationKind } from './operations/index.ts'
import { queryMap, queryParameters } from './query.ts'
import type { RequestIds } from './request-ids.ts'
import { existingTags, factsOf, isSecure } from './request-facts.ts'
import type { Heard } from './request-facts.ts'
import { requestContext } from './policy/context.ts'
import type { RequestFacts } from './policy/context.ts'
import { Pace } from './qos/pace.ts'
import type { FloorMeter } from './qos/floor-meter.ts'
import type { Shaper } from './qos/shaper.ts'
import { actionOf, notImplemented, route } from './router.ts'
import type { Bucket, Server, User } from './tenancy-records.ts'
import type { Tenancy, TenancyView } from './tenancy.ts'
import { cut, echoCharactersMax, xmlBytesMax, xmlErrorDocument } from './xml.ts'

/** What every answer is made with. */
export interface Plane {
  readonly store: ObjectStore
  readonly system: System
  readonly tenancy: Tenancy
  readonly volumesOf: (aggregate: string) => Promise<Volumes>
  readonly control: BucketControl
  readonly counters: Counters
  /** Charges what requests cost to ceilings that all processes share. */
  readonly shaper: Shaper
  readonly meter: FloorMeter
  readonly signingKeys: SigningKeys
  readonly requestIds: RequestIds
  readonly log: Log
  /** Bounds what failed requests write to the log: a client may repeat one thousands of times. */
  readonly failures: Sparingly
  readonly isDraining: () => boolean
  /** Whether commits can be made, and the addresses that the environment gives are served. */
  readonly isReady: () => Promise<boolean>
}

export interface Log {
  debug(message: string, details?: Readonly<Record<string, unknown>>): void
  info(message: string, details?: Readonly<Record<string, unknown>>): void
  warn(message: string, details?: Readonly<Record<string, unknown>>): void
  error(message: string, details?: Readonly<Record<string, unknown>>): void
}

/** Where a connection came in: which SVM it is for, and which of its servers are served there. */
export interface Endpoint {
  readonly svm: string
  readonly servers: readonly string[]
  /** UUID of the network interface. */
  readonly interface: string
  readonly isClosing: boolean
}

/** Answers one request, whatever happens: with what it asks for or with an error document. Never rejects. */
export async function answer(
  plane: Plane,
  endpoint: Endpoint,
  request: IncomingMessage,
  response: ServerResponse,
  options: { readonly awaitsContinue: boolean },
): Promise<void> {
  const startedMs = plane.system.clock.elapsed()
  const isClosing = (): boolean => endpoint.isClosing || plane.isDraining()
  const ids = plane.requestIds.next()
  const about: About = {
    volume: undefined,
    counts: 'other',
    operation: undefined,
    failure: undefined,
    noted: [],
    isWhole: true,
    isAbandoned: false,
    target: {},
    mayList: undefined,
    cors: {},
  }
  const exchange: Exchange = new Exchange(request, response, {
    ...options,
    clock: plane.system.clock,
    transfers: plane.store.transfers,
    isClosing,
    onSilence: () => sendError(plane, exchange, ids, about, silence),
  })
  try {
    const reply = await perform(plane, endpoint, exchange, about)
    await exchange.send(
      reply.status,
      { ...ids, ...commonHeaders, ...contentType(reply.body), ...about.cors, ...reply.headers },
      reply.body,
    )
    about.isWhole = reply.status !== PARTIAL
    about.isAbandoned = response.destroyed && !response.writableFinished
  } catch (failure) {
    await sendError(plane, exchange, ids, about, failure)
  } finally {
    exchange.pace?.end()
  }
  plane.counters.count({
    svm: endpoint.svm,
    interface: endpoint.interface,
    volume: about.volume,
    kind: about.counts,
    operation: about.operation,
    failure: about.failure,
    isWhole: about.isWhole,
    isAbandoned: about.isAbandoned,
    noted: about.noted,
    pauses: exchange.pauses,
    readerWaits: exchange.waitsForReader,
    microseconds: (plane.system.clock.elapsed() - startedMs) * 1000,
    bytesSent: exchange.bytesSent,
    bytesReceived: exchange.bytesReceived,
  })
}

/** What was found out about a request so far, for its error document and for the counters. */
interface About {
  target: Target
  volume: string | undefined
  counts: OperationKind
  /** Its name in the router. */
  operation: string | undefined
  failure: S3Error | undefined
  readonly noted: Noted[]
  isWhole: boolean
  isAbandoned: boolean
  /** What an absent key is answered with: who may not list is not told what there is. */
  mayList: (() => Promise<boolean>) | undefined
  /** What lets a page of another origin see the answer, a failure too. */
  cors: Readonly<Record<string, string>>
}

/** The status of an answer with a range of an object. */
const PARTIAL = 206

const commonHeaders = { Server: 'Holdfast' }

async function perform(
  plane: Plane,
  endpoint: Endpoint,
  exchange: Exchange,
  about: About,
): Promise<Reply & { readonly status: number }> {
  const { request } = exchange
  const method = request.method ?? 'GET'
  if (request.rawHeaders.length > headersMax * 2) throw s3Error('RequestHeaderSectionTooLarge')
  const sent = requestHeaders(request.rawHeaders)
  const { rawPath, rawQuery } = splitTarget(request.url ?? '/')
  const view = await plane.tenancy.view()
  const servers = (await view.servers(endpoint.svm)).filter(
    (one) => one.isEnabled && endpoint.servers.includes(one.uuid),
  )
  const host = readHost(sent)
  const hostBucket = findHostBucket(host, servers)
  const [firstServer] = servers
  const isServed = firstServer !== undefined && (await view.isRunning(endpoint.svm))
  const healthy =
    hostBucket === undefined && mayAskForHealth(rawPath)
      ? await answerHealth({ isDraining: plane.isDraining(), isServed, isReady: plane.isReady }, method, rawPath, {
          rawQuery,
          headers: sent,
        })
      : undefined
  if (healthy !== undefined) return healthy
  const target = readTarget(rawPath, hostBucket)
  about.target = target
  if (!isServed) throw s3Error('ServiceUnavailable')
  const query = queryMap(queryParameters(rawQuery))
  const headers = withHoisted(sent, query)
  const operation = route({ method, level: levelOf(target), query, hasHeader: (name) => headers.has(name) })
  if (operation.method === 'OPTIONS') return preflight(view, endpoint.svm, target, headers)

  if (target.bucket !== undefined) checkBucketAddress(target.bucket)
  const record = target.bucket === undefined ? undefined : await view.bucket(endpoint.svm, target.bucket)
  about.cors = corsHeaders(record?.settings.cors, method, headers)
  if (isSignedByVersion2(headers, query)) about.noted.push('signature_v2_requests')
  const verified = await verify({ method, rawPath, rawQuery, headers: sent }, verifierOf(plane, view))
  about.noted.push(...notedOfSignature(verified))
  const caller = verified.kind === 'signed' ? verified.account : undefined
  const version = query.get('versionId')
  if (operation.level === 'object' && version !== undefined) checkVersionId(version)
  const handler = findHandler(operation.name)
  if (handler === undefined) throw notImplemented(operation)
  about.counts = handler.counts
  about.operation = operation.name

  const server = servers.find(({ uuid }) => uuid === record?.server) ?? firstServer
  const origin = `${isSecure(request) ? 'https' : 'http'}://${host}`
  const bucketUrl = hostBucket === undefined ? `${origin}/${target.bucket ?? ''}` : origin
  const asked: Asked = { view, operation, headers, query, caller, server, target, verified, bucketUrl }
  const call = makeCall(plane, exchange, asked, about.noted)
  if (target.bucket !== undefined && record === undefined && handler.needs !== 'service') {
    throw noSuchBucket(target.bucket)
  }
  if (record?.snapshot !== undefined && method !== 'GET' && method !== 'HEAD') {
    throw s3Error('AccessDenied', { message: 'The bucket shows a snapshot, which nobody can change.' })
  }
  await authorise(asked, call, handler, record)
  // The commit would be refused too: this spares clients the upload.
  if (method !== 'GET' && method !== 'HEAD' && record !== undefined) await insistOnWritable(view, record)
  about.volume = record?.volume
  if (record !== undefined) await beginPace(plane, exchange, view, record)
  if (operation.level === 'object' && handler.counts !== 'write') {
    about.mayList = () => call.allows('s3:ListBucket', target.bucket ?? '')
  }
  const reply = await run(plane, handler, call, view, record, target)
  return { ...reply, status: reply.status ?? operation.success }
}

async function insistOnWritable(view: TenancyView, { volume }: Bucket): Promise<void> {
  if ((await view.volume(volume))?.isReadOnly === true) throw s3Error('AccessDenied', { message: readOnlyMessage })
}

/** From here on the request goes no faster than the ceilings of its bucket, volume and SVM allow, nor stands in the way of floors. */
async function beginPace(plane: Plane, exchange: Exchange, view: TenancyView, record: Bucket): Promise<void> {
  const { shaper, meter } = plane
  exchange.pace = new Pace(await view.charged(record), { shaper, meter, clock: plane.system.clock })
  await exchange.pace.begin()
}

/** A browser asks before it sends what a page of another origin wants. It brings no credentials. */
async function preflight(
  view: TenancyView,
  svm: string,
  target: Target,
  headers: RequestHeaders,
): Promise<Reply & { readonly status: number }> {
  if (target.bucket !== undefined) checkBucketAddress(target.bucket)
  const record = target.bucket === undefined ? undefined : await view.bucket(svm, target.bucket)
  const level = levelOf(target)
  const resource = level === 'service' ? 'SERVICE' : level === 'bucket' ? 'BUCKET' : 'OBJECT'
  return { status: 200, headers: answerPreflight(record?.settings.cors, headers, resource) }
}

async function run(
  plane: Plane,
  handler: Handler,
  call: ServiceCall,
  view: TenancyView,
  record: Bucket | undefined,
  target: Target,
): Promise<Reply> {
  if (handler.needs === 'service') return handler.run(call)
  if (record === undefined) throw noSuchBucket(target.bucket ?? '')
  const bucket = await openBucket(plane, view, record)
  try {
    if (handler.needs === 'bucket') return await handler.run({ ...call, bucket, record })
    const objectCall: ObjectCall = { ...call, bucket, record, key: target.key ?? Buffer.alloc(0) }
    return await handler.run(objectCall)
  } finally {
    bucket.place.release()
  }
}

interface Asked extends Heard {
  readonly view: TenancyView
  readonly caller: User | undefined
  readonly server: Server
  readonly target: Target
  readonly bucketUrl: string
}

/** One decision for each request, before its body is asked for, unless the body is what decides. */
async function authorise(
  { operation, headers, query, target, server, view, caller }: Asked,
  call: ServiceCall,
  handler: Handler,
  bucket: Bucket | undefined,
): Promise<void> {
  const expectedOwner = headerValue(headers, 'x-amz-expected-bucket-owner')
  if (expectedOwner !== undefined && expectedOwner !== server.svm) throw s3Error('AccessDenied')
  if (handler.asks === 'itself') return
  if (handler.asks === 'with-body') {
    const keys = await view.conditionKeys({ caller, server, bucket })
    if ([...keys].some(isOfBody)) return
  }
  await demand(call, actionOf(operation, query), target.bucket ?? '', target.key)
}

/** What a document may say: the tags or the lock that it sets. */
function isOfBody(key: string): boolean {
  return key.startsWith('s3:requestobjecttag') || key.startsWith('s3:object-lock-')
}

function verifierOf({ system, signingKeys }: Plane, view: TenancyView): Verifier<User> {
  const now = system.clock.now()
  return { now: new Date(now), accountOf: (accessKey) => view.userAt(accessKey, now), signingKeys }
}

function makeCall(plane: Plane, exchange: Exchange, asked: Asked, noted: Noted[]): ServiceCall {
  const { view, operation, headers, query, caller, server, target, verified, bucketUrl } = asked
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

/** More than one would be read one way here and another way by a proxy before us (RFC 9112, 3.2). */
function readHost(headers: RequestHeaders): string {
  const [host = '', ...more] = headers.get('host') ?? []
  if (more.length > 0)
    throw s3Error('InvalidRequest', { message: 'A request has one Host header.', headers: { Connection: 'close' } })
  return trimBlanks(host)
}

function levelOf({ bucket, key }: Target): 'service' | 'bucket' | 'object' {
  if (bucket === undefined) return 'service'
  return key === undefined ? 'bucket' : 'object'
}

function noSuchBucket(name: string): S3Error {
  return s3Error('NoSuchBucket', { fields: { BucketName: name } })
}

async function sendError(
  plane: Plane,
  exchange: Exchange,
  ids: Readonly<Record<string, string>>,
  about: About,
  failure: unknown,
): Promise<void> {
  const error = await hideAbsence(explainFailure(failure), about)
  about.failure = error
  about.isAbandoned = !exchange.isOpen
  if (isUnreadable(error)) about.noted.push('request_parse_errors')
  const requestId = ids['x-amz-request-id']
  // Of clients that are asked to slow down there are many, and the counters tell how many.
  if (error.status >= 500 && error.code !== 'NotImplemented' && error.code !== 'SlowDown') {
    const { method, url = '' } = exchange.request
    // Without the query, which may carry a signature that is good for days.
    const path = cut(splitTarget(url).rawPath, echoCharactersMax)
    plane.failures.happened((passedOver) => {
      const more = passedOver === 0 ? {} : { notLogged: passedOver }
      const details = { requestId, method, path, code: error.code, failure, ...more }
      plane.log.error('A request of an object store client failed.', details)
    })
  }
  if (exchange.response.headersSent) {
    // Too late for an answer: a body that breaks off must not look whole.
    about.noted.push('server_connection_close')
    exchange.response.destroy()
    return
  }
  const { bucket, key } = about.target
  const document = xmlErrorDocument(error, {
    ...(key === undefined ? {} : { Key: key.toString('utf8') }),
    ...(bucket === undefined || 'BucketName' in error.fields ? {} : { BucketName: bucket }),
    Resource: `/${bucket ?? ''}${key === undefined ? '' : `/${key.toString('utf8')}`}`,
    RequestId: requestId ?? '',
    HostId: ids['x-amz-id-2'] ?? '',
  })
  const headers = {
    ...ids,
    ...commonHeaders,
    ...(bucket === undefined ? {} : { 'x-amz-bucket-region': region }),
    'Content-Type': 'application/xml',
    ...about.cors,
    ...error.headers,
  }
  await exchange.send(error.status, headers, document).catch(() => exchange.response.destroy())
}

async function hideAbsence(error: S3Error, { mayList }: About): Promise<S3Error> {
  if (error.code !== 'NoSuchKey' || mayList === undefined) return error
  return (await mayList()) ? error : s3Error('AccessDenied')
}

function contentType(body: Reply['body']): Readonly<Record<string, string>> {
  return typeof body === 'string' || Buffer.isBuffer(body) ? { 'Content-Type': 'application/xml' } : {}
}
