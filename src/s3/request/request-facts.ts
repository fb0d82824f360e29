import type { IncomingMessage } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { readTimestamp } from '../auth/canonical.ts'
import type { Verified } from '../auth/sigv4.ts'
import { readLockHeaders } from '../config/object-lock.ts'
import { readTaggingHeader } from '../config/tagging.ts'
import type { RequestHeaders } from './headers.ts'
import { readDetails } from '../objects/details.ts'
import type { ObjectStore } from '../objects/store.ts'
import type { RequestFacts } from '../policy/context.ts'
import type { Operation } from './router.ts'
import type { Bucket, User } from '../tenancy/records.ts'

/** What a request said, and who was found to have sent it. */
export interface Heard {
  readonly operation: Operation
  readonly headers: RequestHeaders
  readonly query: ReadonlyMap<string, string>
  readonly verified: Verified<User>
}

/** What conditions can ask about the request itself. */
export function factsOf(
  request: IncomingMessage,
  { operation, headers, query, verified }: Heard,
  user: User | undefined,
  nowMs: number,
): RequestFacts {
  return {
    operation: operation.name,
    headers,
    query,
    remoteAddress: request.socket.remoteAddress ?? '',
    isSecure: isSecure(request),
    tlsVersion: () => tlsVersion(request),
    nowMs,
    ...(user === undefined ? {} : { userName: user.name }),
    ...(verified.kind === 'signed'
      ? { signed: { by: verified.by, signedMs: readTimestamp(verified.timestamp) ?? nowMs } }
      : {}),
    requestTags: () => readTaggingHeader(headers),
    requestLock: () => readLockHeaders(headers, nowMs),
  }
}

/** Tags of the object that is asked about, read only where some statement has a condition on them. */
export async function existingTags(
  { catalog }: Pick<ObjectStore, 'catalog'>,
  record: Bucket | undefined,
  key: Uint8Array | undefined,
  version: string | undefined,
  keys: ReadonlySet<string>,
): Promise<Pick<RequestFacts, 'existingTags'>> {
  if (record === undefined || key === undefined) return {}
  if (![...keys].some((name) => name.startsWith('s3:existingobjecttag/'))) return {}
  const row = await catalog.object(record.uuid, key, record.snapshot?.at, version)
  const tags = row === undefined ? [] : readDetails(row.details).tags
  return { existingTags: () => tags }
}

export function isSecure({ socket }: IncomingMessage): boolean {
  return 'encrypted' in socket
}

/** `1.3`. Nothing for a connection that is in the clear. */
function tlsVersion(request: IncomingMessage): string | undefined {
  if (!isSecure(request)) return undefined
  const protocol = (request.socket as TLSSocket).getProtocol()
  return /^TLSv(\d\.\d)$/.exec(protocol ?? '')?.[1]
}
