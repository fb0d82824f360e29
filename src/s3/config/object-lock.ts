import type { DefaultRetention, LockConfiguration, LockMode } from '../../records/lock-fields.ts'
import { invalidArgument, s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { child, findChild, findText, malformed, readXml, xmlDocument } from '../xml/xml.ts'
import type { XmlNode } from '../xml/xml.ts'
import { checkElements, findNumber, readIsoDate } from './elements.ts'

export interface Retention {
  readonly mode: LockMode
  readonly untilMs: number
}

/** What is locked of one version. */
export interface ObjectLock {
  readonly retention?: Retention
  readonly legalHold?: boolean
}

export const retentionDaysMax = 36_500
export const retentionYearsMax = 100

/** The body of PutObjectLockConfiguration. */
export function readLockConfiguration(body: Uint8Array): LockConfiguration {
  const root = readXml(body, 'ObjectLockConfiguration')
  checkElements(root, ['ObjectLockEnabled', 'Rule'])
  if (child(root, 'ObjectLockEnabled').text !== 'Enabled') throw malformed('ObjectLockEnabled is Enabled.')
  const rule = findChild(root, 'Rule')
  if (rule === undefined) return {}
  checkElements(rule, ['DefaultRetention'])
  const node = child(rule, 'DefaultRetention')
  checkElements(node, ['Mode', 'Days', 'Years'])
  const mode = readMode(node)
  const days = findNumber(node, 'Days')
  const years = findNumber(node, 'Years')
  if ((days === undefined) === (years === undefined)) throw malformed('DefaultRetention has either Days or Years.')
  const retention = { mode, ...(days === undefined ? {} : { days }), ...(years === undefined ? {} : { years }) }
  checkDefaultRetention(retention)
  return { defaultRetention: retention }
}

export function checkDefaultRetention({ days, years }: DefaultRetention): void {
  const [name, value, max] =
    days === undefined ? ['Years', years ?? 0, retentionYearsMax] : ['Days', days, retentionDaysMax]
  if (!Number.isInteger(value) || value < 1) {
    throw invalidArgument('Default retention period must be a positive integer value.', name, String(value))
  }
  if (value > max) {
    throw invalidArgument(`Default retention period too large. It has at most ${max} ${name}.`, name, String(value))
  }
}

export function lockConfigurationDocument({ defaultRetention }: LockConfiguration): string {
  return xmlDocument('ObjectLockConfiguration', {
    ObjectLockEnabled: 'Enabled',
    Rule:
      defaultRetention === undefined
        ? undefined
        : {
            DefaultRetention: {
              Mode: defaultRetention.mode.toUpperCase(),
              Days: defaultRetention.days,
              Years: defaultRetention.years,
            },
          },
  })
}

/** The retention that a default gives to an object stored now. Years are those of the calendar, in UTC. */
export function retentionFrom({ mode, days, years }: DefaultRetention, nowMs: number): Retention {
  if (years === undefined) return { mode, untilMs: nowMs + (days ?? 0) * 86_400_000 }
  const until = new Date(nowMs)
  until.setUTCFullYear(until.getUTCFullYear() + years)
  return { mode, untilMs: until.getTime() }
}

/** The body of PutObjectRetention. Nothing: `<Retention/>`, which takes a retention away. */
export function readRetention(body: Uint8Array, nowMs: number): Retention | undefined {
  const root = readXml(body, 'Retention')
  checkElements(root, ['Mode', 'RetainUntilDate'])
  if (root.children.length === 0) return undefined
  const mode = readMode(root)
  const untilMs = readIsoDate(child(root, 'RetainUntilDate').text)
  if (untilMs === undefined) throw malformed('RetainUntilDate must be an ISO 8601 date.')
  checkFuture(untilMs, nowMs)
  return { mode, untilMs }
}

export function retentionDocument({ mode, untilMs }: Retention): string {
  return xmlDocument('Retention', { Mode: mode.toUpperCase(), RetainUntilDate: new Date(untilMs).toISOString() })
}

/** The body of PutObjectLegalHold. */
export function readLegalHold(body: Uint8Array): boolean {
  const root = readXml(body, 'LegalHold')
  checkElements(root, ['Status'])
  const status = findText(root, 'Status')
  if (status !== 'ON' && status !== 'OFF') throw malformed('Status is ON or OFF.')
  return status === 'ON'
}

export function legalHoldDocument(legalHold: boolean): string {
  return xmlDocument('LegalHold', { Status: legalHold ? 'ON' : 'OFF' })
}

/** What a new object or upload is to be locked with, as its headers say. Nothing when they say nothing. */
export function readLockHeaders(headers: RequestHeaders, nowMs: number): ObjectLock | undefined {
  const mode = headerValue(headers, lockHeaders.mode)
  const until = headerValue(headers, lockHeaders.until)
  const hold = headerValue(headers, lockHeaders.hold)
  if (mode === undefined && until === undefined && hold === undefined) return undefined
  return {
    ...readRetentionHeaders(mode, until, nowMs),
    ...(hold === undefined ? {} : { legalHold: readHoldHeader(hold) }),
  }
}

/** For GET and HEAD. A hold is told also when it is lifted, a retention also when it is over, as Amazon does. */
export function lockHeadersOf({ retention, legalHold }: ObjectLock): Readonly<Record<string, string>> {
  return {
    ...(retention === undefined
      ? {}
      : {
          [lockHeaders.mode]: retention.mode.toUpperCase(),
          [lockHeaders.until]: new Date(retention.untilMs).toISOString(),
        }),
    ...(legalHold === undefined ? {} : { [lockHeaders.hold]: legalHold ? 'ON' : 'OFF' }),
  }
}

/** `x-amz-bypass-governance-retention`. It counts only with the permission `s3:BypassGovernanceRetention`. */
export function asksForBypass(headers: RequestHeaders): boolean {
  return headerValue(headers, 'x-amz-bypass-governance-retention')?.toLowerCase() === 'true'
}

/** `x-amz-bucket-object-lock-enabled` of CreateBucket. */
export function asksForLocks(headers: RequestHeaders): boolean {
  const name = 'x-amz-bucket-object-lock-enabled'
  const value = headerValue(headers, name)
  if (value === undefined || /^false$/i.test(value)) return false
  if (/^true$/i.test(value)) return true
  throw invalidArgument(`${name} is true or false.`, name, value)
}

/** What keeps a version from being removed now, if anything. A hold keeps it whatever its retention says. */
export function lockAgainstDelete(
  lock: ObjectLock,
  now: { readonly nowMs: number; readonly mayBypass: boolean },
): 'legal-hold' | LockMode | undefined {
  if (lock.legalHold === true) return 'legal-hold'
  const { retention } = lock
  if (retention === undefined || retention.untilMs <= now.nowMs) return undefined
  return retention.mode === 'governance' && now.mayBypass ? undefined : retention.mode
}

/**
 * Whether a retention may be replaced. While it runs: compliance can be made longer, and nothing else. Governance can be
 * made longer by anybody who may set one; to shorten it, to take it away or to change its mode the bypass is needed.
 */
export function mayReplaceRetention(
  present: Retention | undefined,
  wanted: Retention | undefined,
  now: { readonly nowMs: number; readonly mayBypass: boolean },
): boolean {
  if (present === undefined || present.untilMs <= now.nowMs) return true
  if (present.mode === 'governance' && now.mayBypass) return true
  return wanted !== undefined && wanted.mode === present.mode && wanted.untilMs >= present.untilMs
}

export const lockedMessage = 'Access Denied because object protected by object lock.'

/** Locks are asked for in a bucket that has none. */
export function noLocksError(): S3Error {
  return s3Error('InvalidRequest', { message: 'Bucket is missing Object Lock Configuration' })
}

const lockHeaders = {
  mode: 'x-amz-object-lock-mode',
  until: 'x-amz-object-lock-retain-until-date',
  hold: 'x-amz-object-lock-legal-hold',
} as const

function readMode(node: XmlNode): LockMode {
  const mode = findMode(child(node, 'Mode').text)
  if (mode === undefined) throw malformed('Mode is GOVERNANCE or COMPLIANCE.')
  return mode
}

function findMode(text: string): LockMode | undefined {
  if (text === 'GOVERNANCE') return 'governance'
  return text === 'COMPLIANCE' ? 'compliance' : undefined
}

function readRetentionHeaders(
  modeText: string | undefined,
  until: string | undefined,
  nowMs: number,
): { retention?: Retention } {
  if (modeText === undefined && until === undefined) return {}
  if (modeText === undefined || until === undefined) {
    throw invalidArgument(
      `${lockHeaders.until} and ${lockHeaders.mode} must both be supplied`,
      modeText === undefined ? lockHeaders.mode : lockHeaders.until,
      '',
    )
  }
  const mode = findMode(modeText)
  if (mode === undefined) throw invalidArgument('Unknown wormMode directive.', lockHeaders.mode, modeText)
  const untilMs = readIsoDate(until)
  if (untilMs === undefined) {
    throw invalidArgument('The retain until date must be provided in ISO 8601 format', lockHeaders.until, until)
  }
  checkFuture(untilMs, nowMs)
  return { retention: { mode, untilMs } }
}

function readHoldHeader(text: string): boolean {
  if (text === 'ON' || text === 'OFF') return text === 'ON'
  throw invalidArgument("Legal Hold must be either of 'ON' or 'OFF'", lockHeaders.hold, text)
}

function checkFuture(untilMs: number, nowMs: number): void {
  if (untilMs > nowMs) return
  throw invalidArgument(
    'The retain until date must be in the future!',
    'RetainUntilDate',
    new Date(untilMs).toISOString(),
  )
}
