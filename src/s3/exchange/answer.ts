import type { IncomingMessage, ServerResponse } from 'node:http'
import { admit, beginPace, identify } from './admit.ts'
import type { ObjectCall, Reply, ServiceCall } from './call.ts'
import { noSuchBucket } from '../errors.ts'
import { Exchange, silence } from './exchange.ts'
import { checkVersionId } from '../request/keys.ts'
import { makeCall } from './make-call.ts'
import { openBucket } from './open-bucket.ts'
import { findHandler } from '../operations/index.ts'
import type { Handler } from '../operations/index.ts'
import type { Endpoint, Plane } from '../plane.ts'
import { commonHeaders, contentType, sendError, type About } from './reply.ts'
import { resolve, type Answer, type Resolved } from './resolve.ts'
import { notImplemented } from '../request/router.ts'

/** The status of an answer with a range of an object. */
const PARTIAL = 206

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

/** What a request asks for, step by step: what it is about, who asks, whether they may, and the operation itself. */
async function perform(plane: Plane, endpoint: Endpoint, exchange: Exchange, about: About): Promise<Answer> {
  const found = await resolve(plane, endpoint, exchange.request, about)
  if ('answer' in found) return found.answer
  const { view, operation, query, target, record } = found
  const verified = await identify(plane, found, about)
  const version = query.get('versionId')
  if (operation.level === 'object' && version !== undefined) checkVersionId(version)
  const handler = findHandler(operation.name)
  if (handler === undefined) throw notImplemented(operation)
  about.counts = handler.counts
  about.operation = operation.name

  const call = makeCall(plane, exchange, { ...found, verified }, about)
  await admit(found, call, handler)
  about.volume = record?.volume
  if (record !== undefined) await beginPace(plane, exchange, view, record)
  if (operation.level === 'object' && handler.counts !== 'write') {
    about.mayList = () => call.allows('s3:ListBucket', target.bucket ?? '')
  }
  const reply = await run(plane, handler, call, found)
  return { ...reply, status: reply.status ?? operation.success }
}

async function run(plane: Plane, handler: Handler, call: ServiceCall, found: Resolved): Promise<Reply> {
  const { view, record, target } = found
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
