/** What a request is about: which operation on which bucket and key of which server. Nothing is decided about who asks. */
import type { IncomingMessage } from 'node:http'
import { headersMax } from '../../wire/http-server.ts'
import type { Reply } from './call.ts'
import { answerPreflight, corsHeaders } from '../config/cors.ts'
import { s3Error } from '../errors.ts'
import { requestHeaders, trimBlanks } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { answerHealth, mayAskForHealth } from './health.ts'
import { withHoisted } from '../request/hoisted.ts'
import { checkBucketAddress, findHostBucket, readTarget, splitTarget } from '../request/keys.ts'
import type { Target } from '../request/keys.ts'
import type { Endpoint, Plane } from '../plane.ts'
import { queryMap, queryParameters } from '../request/query.ts'
import type { About } from './reply.ts'
import { isSecure } from '../request/request-facts.ts'
import { route } from '../request/router.ts'
import type { Operation } from '../request/router.ts'
import type { Bucket, Server } from '../tenancy/records.ts'
import type { TenancyView } from '../tenancy/tenancy.ts'

export interface Resolved {
  readonly view: TenancyView
  readonly method: string
  readonly rawPath: string
  readonly rawQuery: string
  /** As they were sent: signatures are of these. */
  readonly sent: RequestHeaders
  /** With those that came in the query. */
  readonly headers: RequestHeaders
  readonly query: ReadonlyMap<string, string>
  readonly operation: Operation
  readonly target: Target
  readonly server: Server
  /** There may be none: a bucket is to be made, or is missing. */
  readonly record: Bucket | undefined
  /** How the client addresses the bucket. */
  readonly bucketUrl: string
}

export interface Answer extends Reply {
  readonly status: number
}

/**
 * Finds it, and notes for the answer what is known on the way, also where it fails. Health checks and preflights bring no
 * credentials, so they are answered at once.
 */
export async function resolve(
  plane: Plane,
  endpoint: Endpoint,
  request: IncomingMessage,
  about: About,
): Promise<Resolved | { readonly answer: Answer }> {
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
  if (healthy !== undefined) return { answer: healthy }
  const target = readTarget(rawPath, hostBucket)
  about.target = target
  if (!isServed) throw s3Error('ServiceUnavailable')
  const query = queryMap(queryParameters(rawQuery))
  const headers = withHoisted(sent, query)
  const operation = route({ method, level: levelOf(target), query, hasHeader: (name) => headers.has(name) })
  if (operation.method === 'OPTIONS') {
    return { answer: await preflight(view, endpoint.svm, target, headers) }
  }

  if (target.bucket !== undefined) checkBucketAddress(target.bucket)
  const record = target.bucket === undefined ? undefined : await view.bucket(endpoint.svm, target.bucket)
  about.cors = corsHeaders(record?.settings.cors, method, headers)
  const server = servers.find(({ uuid }) => uuid === record?.server) ?? firstServer
  const origin = `${isSecure(request) ? 'https' : 'http'}://${host}`
  const bucketUrl = hostBucket === undefined ? `${origin}/${target.bucket ?? ''}` : origin
  return { view, method, rawPath, rawQuery, sent, headers, query, operation, target, server, record, bucketUrl }
}

/** A browser asks before it sends what a page of another origin wants. It brings no credentials. */
async function preflight(view: TenancyView, svm: string, target: Target, headers: RequestHeaders): Promise<Answer> {
  if (target.bucket !== undefined) checkBucketAddress(target.bucket)
  const record = target.bucket === undefined ? undefined : await view.bucket(svm, target.bucket)
  const level = levelOf(target)
  const resource = level === 'service' ? 'SERVICE' : level === 'bucket' ? 'BUCKET' : 'OBJECT'
  return { status: 200, headers: answerPreflight(record?.settings.cors, headers, resource) }
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
