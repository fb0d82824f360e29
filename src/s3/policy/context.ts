import type { ObjectLock } from '../config/object-lock.ts'
import type { Tag } from '../../records/tags.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { algorithmName } from '../auth/canonical.ts'
import { readCopySource } from '../request/keys.ts'
import { headerKeys } from './conditions.ts'
import type { Lookup } from './pattern.ts'

/** What conditions can ask about a request. What costs anything to find out is a function, called when it is asked for. */
export interface RequestFacts {
  /** Name of the operation, as `ListObjectsV2`. */
  readonly operation: string
  readonly headers: RequestHeaders
  readonly query: ReadonlyMap<string, string>
  readonly remoteAddress: string
  readonly isSecure: boolean
  /** Such as `1.3`; nothing without TLS. */
  readonly tlsVersion?: () => string | undefined
  /** Absent: without credentials. */
  readonly userName?: string
  readonly nowMs: number
  /** The version of the object that is addressed, where one is named. */
  readonly version?: string
  readonly signed?: { readonly by: 'header' | 'query' | 'form'; readonly signedMs: number }
  /** Tags of the object that is addressed. */
  readonly existingTags?: () => readonly Tag[]
  /** Tags that the request brings, in a header or in its body. */
  readonly requestTags?: () => readonly Tag[] | undefined
  /** Locks that the request sets, by headers or by its body. */
  readonly requestLock?: () => ObjectLock | undefined
}

export function requestContext(facts: RequestFacts): Lookup {
  return (key) => {
    const slash = key.indexOf('/')
    const value = slash < 0 ? plainValue(facts, key) : tagValue(facts, key.slice(0, slash), key.slice(slash + 1))
    return typeof value === 'string' ? [value] : value
  }
}

function plainValue(facts: RequestFacts, key: string): string | readonly string[] | undefined {
  const { headers, query, signed, nowMs } = facts
  switch (key) {
    case 'aws:sourceip':
      return facts.remoteAddress
    case 'aws:securetransport':
      return String(facts.isSecure)
    case 'aws:username':
    case 'aws:userid':
      return facts.userName
    case 'aws:principalarn':
      return facts.userName === undefined ? undefined : `arn:aws:iam:::user/${facts.userName}`
    case 'aws:principaltype':
      return facts.userName === undefined ? 'Anonymous' : 'User'
    case 'aws:useragent':
      return headerValue(headers, 'user-agent')
    case 'aws:referer':
      return headerValue(headers, 'referer')
    case 'aws:currenttime':
      return new Date(nowMs).toISOString()
    case 'aws:epochtime':
      return String(Math.floor(nowMs / 1000))
    case 's3:prefix':
    case 's3:delimiter':
    case 's3:max-keys':
      return /^List(?:Objects(?:V2)?|ObjectVersions|MultipartUploads)$/.test(facts.operation)
        ? query.get(key.slice('s3:'.length))
        : undefined
    case 's3:tlsversion':
      return facts.tlsVersion?.()
    case 's3:versionid':
      return facts.version
    case 's3:if-match':
    case 's3:if-none-match':
      return headerValue(headers, key.slice('s3:'.length))
    case 's3:x-amz-copy-source':
      return copySourceNames(headers)
    case 's3:objectcreationoperation':
      // Of an upload in parts, only the last step makes an object.
      return /^(?:PutObject|PostObject|CopyObject|CompleteMultipartUpload)$/.test(facts.operation) ? 'true' : 'false'
    case 's3:signatureversion':
      return signed === undefined ? undefined : algorithmName
    case 's3:authtype':
      return signed === undefined ? undefined : authTypes[signed.by]
    case 's3:signatureage':
      return signed === undefined ? undefined : String(Math.max(0, nowMs - signed.signedMs))
    case 's3:requestobjecttagkeys':
      return facts.requestTags?.()?.map((tag) => tag.key)
    default:
      if (key.startsWith('s3:object-lock-')) return lockValue(facts, key)
      return headerNames.has(key) ? headerValue(headers, key.slice('s3:'.length)) : undefined
  }
}

/**
 * `bucket/key`, and with a slash before it, as policies are written both ways. Not the header as it came: percent-encoded
 * otherwise, it would not be what a denial names.
 */
function copySourceNames(headers: RequestHeaders): readonly string[] | undefined {
  const header = headerValue(headers, 'x-amz-copy-source')
  if (header === undefined) return undefined
  const { bucket, key } = readCopySource(header)
  const name = `${bucket}/${key.toString('utf8')}`
  return [name, `/${name}`]
}

const authTypes = { header: 'REST-HEADER', query: 'REST-QUERY-STRING', form: 'POST' } as const
const headerNames: ReadonlySet<string> = new Set(headerKeys.map((name) => `s3:${name}`))

function tagValue(facts: RequestFacts, key: string, name: string): string | undefined {
  const tags = key === 's3:existingobjecttag' ? facts.existingTags?.() : facts.requestTags?.()
  return tags?.find((tag) => tag.key === name)?.value
}

function lockValue(facts: RequestFacts, key: string): string | undefined {
  const lock = facts.requestLock?.()
  const retention = lock?.retention
  switch (key) {
    case 's3:object-lock-mode':
      return retention?.mode.toUpperCase()
    case 's3:object-lock-retain-until-date':
      return retention === undefined ? undefined : new Date(retention.untilMs).toISOString()
    case 's3:object-lock-remaining-retention-days':
      return retention === undefined ? undefined : String(Math.ceil((retention.untilMs - facts.nowMs) / 86_400_000))
    case 's3:object-lock-legal-hold':
      if (lock?.legalHold === undefined) return undefined
      return lock.legalHold ? 'ON' : 'OFF'
    default:
      return undefined
  }
}
