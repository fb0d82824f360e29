/** How answers begin, and what becomes of failures: the error document, the log and what is counted. */
import type { Noted } from '../../core/metrics/server-counters.ts'
import { region } from './call.ts'
import type { Reply } from './call.ts'
import { s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import type { Exchange } from './exchange.ts'
import { splitTarget } from '../request/keys.ts'
import type { Target } from '../request/keys.ts'
import { isUnreadable } from './noted.ts'
import { explainFailure } from '../objects/failures.ts'
import type { OperationKind } from '../operations/index.ts'
import type { Plane } from '../plane.ts'
import { cut, echoCharactersMax, xmlErrorDocument } from '../xml/xml.ts'

/** What was found out about a request so far, for its error document and for the counters. */
export interface About {
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

export const commonHeaders = { Server: 'Holdfast' }

export function contentType(body: Reply['body']): Readonly<Record<string, string>> {
  return typeof body === 'string' || Buffer.isBuffer(body) ? { 'Content-Type': 'application/xml' } : {}
}

export async function sendError(
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
