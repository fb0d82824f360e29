/**
 * The two wire dialects: `spec` is the specification to the letter, `native` is what shipping tools of the interface
 * need. This is the whole list of their differences; everything else is shared.
 */
import type { FailureKind } from '../../model/failure.ts'

export interface Dialect {
  readonly name: 'spec' | 'native'
  /** Go clients decode `error.code` into a string; the specification says integer. */
  readonly errorCode: (code: number) => number | string
  /** Key fields are in every record, asked for or not. */
  readonly keysAlways: boolean
  /** What a collection shows when no `fields` are asked for: every field that is not expensive, or the keys alone. */
  readonly fieldsByDefault: 'standard' | 'keys'
  /** What a filter names is shown beside what is asked for. */
  readonly showsFiltered: boolean
  readonly pageByDefault: number
  /** How long a write waits for its job when `return_timeout` is not given. */
  readonly returnTimeoutSeconds: number
  /** Whether a create shows what it made when `return_records` is not given. */
  readonly createShowsRecords: boolean
  /** Where `Location` of an asynchronous create points. */
  readonly location: 'job' | 'resource'
  readonly invalidStatus: 422 | 400
  readonly bucketSizeBytes: number
}

const TB = 2 ** 40
const GB = 2 ** 30

export const dialects: Readonly<Record<'spec' | 'native', Dialect>> = {
  spec: {
    name: 'spec',
    errorCode: (code) => code,
    keysAlways: false,
    fieldsByDefault: 'standard',
    showsFiltered: false,
    pageByDefault: 50,
    returnTimeoutSeconds: 15,
    createShowsRecords: true,
    location: 'job',
    invalidStatus: 422,
    bucketSizeBytes: 10 * TB,
  },
  native: {
    name: 'native',
    errorCode: String,
    keysAlways: true,
    fieldsByDefault: 'keys',
    showsFiltered: true,
    pageByDefault: 10_000,
    returnTimeoutSeconds: 0,
    createShowsRecords: false,
    location: 'resource',
    invalidStatus: 400,
    bucketSizeBytes: 800 * GB,
  },
}

/** User agents of tools that need the native dialect and do not all send X-Dot-Client-App. */
const NATIVE_AGENTS = [
  /^netapp/i,
  /trident/i,
  /harvest/i,
  /^ansible/i,
  /^terraform/i,
  /^python-requests/i,
  /^python-urllib3\//i,
  /^go-http-client/i,
  /^go-resty/i,
]

export function chooseDialect(option: string, clientApp: string | undefined, userAgent: string | undefined): Dialect {
  if (option === 'spec' || option === 'native') return dialects[option]
  const isNative = clientApp !== undefined || NATIVE_AGENTS.some((agent) => agent.test(userAgent ?? ''))
  return isNative ? dialects.native : dialects.spec
}

export function statusOf(kind: FailureKind, dialect: Dialect): number {
  return kind === 'invalid' ? dialect.invalidStatus : STATUSES[kind]
}

const STATUSES: Readonly<Record<Exclude<FailureKind, 'invalid'>, number>> = {
  malformed: 400,
  unauthenticated: 401,
  denied: 403,
  'not-found': 404,
  unsupported: 405,
  conflict: 409,
  limited: 429,
  internal: 500,
  unavailable: 503,
  full: 507,
}
