import type { LifecycleExpiration, LifecycleFilter, LifecycleRule } from '../../records/lifecycle-rules.ts'
import { invalidArgument, s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { percentEncode } from '../request/percent.ts'
import { child, children, findBoolean, findChild, findText, malformed, readXml, xmlDocument } from '../xml/xml.ts'
import type { XmlContent, XmlNode } from '../xml/xml.ts'
import { checkElements, findNumber, readIsoDate } from './elements.ts'
import { checkTag, hasDuplicateKeys, readTag, tagContent } from './tagging.ts'
import type { Tag } from '../../records/tags.ts'

/**
 * Lifecycle of a bucket: rules that remove what is old. Times follow Amazon: so many days after an object was made, at the
 * next midnight UTC after that moment. Made on 15 January at 10:30 with 3 days, it goes on 19 January at 00:00. So what is
 * due changes once a day only, and a run that starts late does the same as one that starts on time.
 *
 * Whether a lock keeps a version is not asked here: who removes it finds out.
 */
export const lifecycleRulesMax = 1000
export const lifecycleIdCharactersMax = 255
export const newerVersionsMax = 100
const prefixBytesMax = 1024
const dayMs = 86_400_000

/** The body of PutBucketLifecycleConfiguration. Rules without a name are given one by `makeId`. */
export function readLifecycle(body: Uint8Array, makeId: () => string): readonly LifecycleRule[] {
  return lifecycleOf(readXml(body, lifecycleRoot), makeId)
}

export const lifecycleRoot = 'LifecycleConfiguration'

/** The same of the document that was read. */
export function lifecycleOf(root: XmlNode, makeId: () => string): readonly LifecycleRule[] {
  checkElements(root, ['Rule'])
  const nodes = children(root, 'Rule')
  if (nodes.length === 0 || nodes.length > lifecycleRulesMax) {
    throw malformed(`A lifecycle has 1 to ${lifecycleRulesMax} rules.`)
  }
  const rules = nodes.map((node) => readRule(node, makeId))
  if (new Set(rules.map(({ id }) => id)).size !== rules.length) {
    throw refused('RuleId must be unique. Found same ID for more than one rule', 'ID', '')
  }
  for (const rule of rules) checkLifecycleRule(rule)
  return rules
}

/** What the schema does not say. Rules that come by another way than the document are held to the same. */
export function checkLifecycleRule(rule: LifecycleRule): void {
  const { id, filter, expiration, noncurrent, abortDays } = rule
  if (id.length > lifecycleIdCharactersMax) {
    throw refused(`ID length should not exceed allowed limit of ${lifecycleIdCharactersMax}`, 'ID', id)
  }
  if (expiration === undefined && noncurrent === undefined && abortDays === undefined) {
    throw invalid('At least one action needs to be specified in a rule')
  }
  checkFilter(filter)
  if (expiration?.days !== undefined) checkPositive('Days', 'Expiration', expiration.days)
  if (expiration?.dateMs !== undefined && expiration.dateMs % dayMs !== 0) {
    throw refused("'Date' must be at midnight GMT", 'Date', new Date(expiration.dateMs).toISOString())
  }
  if (noncurrent !== undefined) {
    checkPositive('NoncurrentDays', 'NoncurrentVersionExpiration', noncurrent.days)
    const { newerVersions } = noncurrent
    if (newerVersions !== undefined) {
      checkPositive('NewerNoncurrentVersions', 'NoncurrentVersionExpiration', newerVersions)
      if (newerVersions > newerVersionsMax) {
        throw refused(
          `'NewerNoncurrentVersions' for NoncurrentVersionExpiration action must be at most ${newerVersionsMax}`,
          'NewerNoncurrentVersions',
          String(newerVersions),
        )
      }
    }
  }
  if (abortDays !== undefined) checkPositive('DaysAfterInitiation', 'AbortIncompleteMultipartUpload', abortDays)

  // Markers and uploads have no tags, and uploads no size yet.
  if (filter.tags !== undefined && expiration?.removesMarkers !== undefined) {
    throw invalid('ExpiredObjectDeleteMarker cannot be specified with Tags.')
  }
  if (filter.tags !== undefined && abortDays !== undefined) {
    throw invalid('AbortIncompleteMultipartUpload cannot be specified with Tags.')
  }
  if (abortDays !== undefined && hasSize(filter)) {
    throw invalid('AbortIncompleteMultipartUpload cannot be specified with Object Size.')
  }
}

export function lifecycleDocument(rules: readonly LifecycleRule[]): string {
  return xmlDocument('LifecycleConfiguration', { Rule: rules.map(ruleContent) })
}

export const transitionMinimumHeader = 'x-amz-transition-default-minimum-object-size'

/**
 * About moving to other storage classes, of which there are none. Current SDKs and Terraform send it and wait until they
 * read the same back.
 */
export function readTransitionMinimum(headers: RequestHeaders): string {
  const value = headerValue(headers, transitionMinimumHeader) ?? 'all_storage_classes_128K'
  if (value === 'all_storage_classes_128K' || value === 'varies_by_storage_class') return value
  throw refused('Invalid transition default minimum object size', transitionMinimumHeader, value)
}

/** What rules look at. */
export interface VersionFacts {
  readonly key: Uint8Array
  readonly sizeBytes: number
  /** Asked for only when a rule filters by tags and all else of it fits. */
  readonly tags: () => readonly Tag[]
  /** When this version was made. */
  readonly modifiedMs: number
  readonly isCurrent: boolean
  readonly isDeleteMarker: boolean
  /** No other version of the key is left: a current delete marker then hides nothing. */
  readonly isOnlyVersion: boolean
  /** When the next newer version was made. Only of a version that is not current. */
  readonly noncurrentSinceMs?: number
  /** Noncurrent versions of the key that are newer than this one. */
  readonly newerNoncurrentCount?: number
}

/**
 * `expire`: the current version goes as DeleteObject without a version would make it go: removed where there is no
 * versioning, hidden by a marker where there is. `delete-version`: this very version goes. `delete-marker`: this marker,
 * the last of its key, goes.
 */
export type LifecycleDecision = 'keep' | 'expire' | 'delete-version' | 'delete-marker'

export interface Lifecycle {
  decide(version: VersionFacts, nowMs: number): LifecycleDecision
  /** Whether an unfinished upload is to be aborted. */
  aborts(upload: UploadFacts, nowMs: number): boolean
  /** `x-amz-expiration` of GET, HEAD and PUT: when the current version will go, and by which rule. */
  expirationHeaders(version: VersionFacts): Readonly<Record<string, string>>
  /** `x-amz-abort-date` and `x-amz-abort-rule-id` of CreateMultipartUpload and ListParts. */
  abortHeaders(upload: UploadFacts): Readonly<Record<string, string>>
  /** Keys that begin with none of these are no matter of any rule. In byte order, none the beginning of another. */
  readonly prefixes: readonly Uint8Array[]
}

export interface UploadFacts {
  readonly key: Uint8Array
  readonly initiatedMs: number
}

/** Makes the form that looks at millions of versions. Disabled rules are left out. Tests may shorten the day. */
export function compileLifecycle(rules: readonly LifecycleRule[], ruleDayMs = dayMs): Lifecycle {
  const compiled = rules
    .filter(({ enabled }) => enabled)
    .map((rule) => ({ rule, prefix: Buffer.from(rule.filter.prefix ?? '', 'utf8') }))

  function* about(version: VersionFacts): Generator<LifecycleRule> {
    for (const { rule, prefix } of compiled) {
      if (beginsWith(version.key, prefix) && passes(rule.filter, version)) yield rule
    }
  }

  function earliestAbort({ key, initiatedMs }: UploadFacts): Due | undefined {
    let first: Due | undefined
    for (const { rule, prefix } of compiled) {
      if (rule.abortDays === undefined || !beginsWith(key, prefix)) continue
      first = earlier(first, { rule, atMs: midnightAfter(initiatedMs, rule.abortDays, ruleDayMs) })
    }
    return first
  }

  return {
    decide(version, nowMs) {
      for (const rule of about(version)) {
        const decision = version.isCurrent
          ? decideCurrent(rule, version, nowMs, ruleDayMs)
          : decideNoncurrent(rule, version, nowMs, ruleDayMs)
        if (decision !== 'keep') return decision
      }
      return 'keep'
    },
    aborts(upload, nowMs) {
      const due = earliestAbort(upload)
      return due !== undefined && due.atMs <= nowMs
    },
    expirationHeaders(version) {
      if (!version.isCurrent || version.isDeleteMarker) return {}
      let first: Due | undefined
      for (const rule of about(version)) {
        const atMs = expiryOf(rule.expiration, version.modifiedMs, ruleDayMs)
        if (atMs !== undefined) first = earlier(first, { rule, atMs })
      }
      if (first === undefined) return {}
      const value = `expiry-date="${new Date(first.atMs).toUTCString()}", rule-id="${headerId(first.rule.id)}"`
      return { 'x-amz-expiration': value }
    },
    abortHeaders(upload) {
      const due = earliestAbort(upload)
      if (due === undefined) return {}
      return {
        'x-amz-abort-date': new Date(due.atMs).toUTCString(),
        'x-amz-abort-rule-id': headerId(due.rule.id),
      }
    },
    prefixes: outermost(compiled.map(({ prefix }) => prefix)),
  }
}

/** The first midnight UTC after so many days: a moment that is itself midnight counts to the next one. */
export function midnightAfter(fromMs: number, days: number, ruleDayMs = dayMs): number {
  return (Math.floor(fromMs / ruleDayMs) + days + 1) * ruleDayMs
}

/** In byte order a prefix comes before all that begin with it. */
function outermost(prefixes: readonly Uint8Array[]): Uint8Array[] {
  const kept: Uint8Array[] = []
  for (const prefix of prefixes.toSorted((a, b) => Buffer.compare(a, b))) {
    const last = kept.at(-1)
    if (last === undefined || !beginsWith(prefix, last)) kept.push(prefix)
  }
  return kept
}

interface Due {
  readonly rule: LifecycleRule
  readonly atMs: number
}

function earlier(a: Due | undefined, b: Due): Due {
  return a === undefined || b.atMs < a.atMs ? b : a
}

function expiryOf(
  expiration: LifecycleExpiration | undefined,
  modifiedMs: number,
  ruleDayMs: number,
): number | undefined {
  if (expiration?.days !== undefined) return midnightAfter(modifiedMs, expiration.days, ruleDayMs)
  return expiration?.dateMs
}

function decideCurrent(
  rule: LifecycleRule,
  version: VersionFacts,
  nowMs: number,
  ruleDayMs: number,
): LifecycleDecision {
  const atMs = expiryOf(rule.expiration, version.modifiedMs, ruleDayMs)
  const isDue = atMs !== undefined && atMs <= nowMs
  if (!version.isDeleteMarker) return isDue ? 'expire' : 'keep'
  // Days and dates are also about markers, once nothing is behind them.
  const isRemoved = rule.expiration?.removesMarkers === true || isDue
  return version.isOnlyVersion && isRemoved ? 'delete-marker' : 'keep'
}

function decideNoncurrent(
  { noncurrent }: LifecycleRule,
  version: VersionFacts,
  nowMs: number,
  ruleDayMs: number,
): LifecycleDecision {
  if (noncurrent === undefined || version.noncurrentSinceMs === undefined) return 'keep'
  if ((version.newerNoncurrentCount ?? 0) < (noncurrent.newerVersions ?? 0)) return 'keep'
  return midnightAfter(version.noncurrentSinceMs, noncurrent.days, ruleDayMs) <= nowMs ? 'delete-version' : 'keep'
}

/** A delete marker has neither tags nor size, so a rule that asks for one of them is not about markers. */
function passes(filter: LifecycleFilter, version: VersionFacts): boolean {
  if (version.isDeleteMarker) return filter.tags === undefined && !hasSize(filter)
  if (filter.greaterThanBytes !== undefined && version.sizeBytes <= filter.greaterThanBytes) return false
  if (filter.lessThanBytes !== undefined && version.sizeBytes >= filter.lessThanBytes) return false
  if (filter.tags === undefined) return true
  const tags = version.tags()
  return filter.tags.every((wanted) => tags.some(({ key, value }) => key === wanted.key && value === wanted.value))
}

export function beginsWith(key: Uint8Array, prefix: Uint8Array): boolean {
  if (prefix.length > key.length) return false
  for (let at = 0; at < prefix.length; at += 1) if (key[at] !== prefix[at]) return false
  return true
}

function hasSize(filter: LifecycleFilter): boolean {
  return filter.greaterThanBytes !== undefined || filter.lessThanBytes !== undefined
}

function headerId(id: string): string {
  return percentEncode(Buffer.from(id, 'utf8'), { keepSlash: false })
}

function readRule(node: XmlNode, makeId: () => string): LifecycleRule {
  const transition = node.children.find(({ name }) => name === 'Transition' || name === 'NoncurrentVersionTransition')
  if (transition !== undefined) {
    throw s3Error('NotImplemented', {
      message: `${transition.name} is not implemented: there is one storage class.`,
      fields: { Element: transition.name },
    })
  }
  checkElements(node, [
    'ID',
    'Status',
    'Filter',
    'Prefix',
    'Expiration',
    'NoncurrentVersionExpiration',
    'AbortIncompleteMultipartUpload',
  ])
  const status = child(node, 'Status').text
  if (status !== 'Enabled' && status !== 'Disabled') throw malformed('Status is Enabled or Disabled.')
  const legacyPrefix = findText(node, 'Prefix')
  const filter = findChild(node, 'Filter')
  if ((legacyPrefix === undefined) === (filter === undefined)) throw malformed('A rule has a Filter or a Prefix.')
  const given = findText(node, 'ID')
  const expiration = findChild(node, 'Expiration')
  const noncurrent = findChild(node, 'NoncurrentVersionExpiration')
  const abort = findChild(node, 'AbortIncompleteMultipartUpload')
  if (abort !== undefined) checkElements(abort, ['DaysAfterInitiation'])
  return {
    id: given === undefined || given === '' ? makeId() : given,
    enabled: status === 'Enabled',
    ...(filter === undefined
      ? { filter: { prefix: legacyPrefix ?? '' }, isLegacy: true }
      : { filter: readFilter(filter) }),
    ...(expiration === undefined ? {} : { expiration: readExpiration(expiration) }),
    ...(noncurrent === undefined ? {} : { noncurrent: readNoncurrent(noncurrent) }),
    ...(abort === undefined ? {} : { abortDays: needed(abort, 'DaysAfterInitiation') }),
  }
}

/** One condition, several in `And`, or none: then the rule is about everything. */
function readFilter(node: XmlNode): LifecycleFilter {
  const conditions = ['Prefix', 'Tag', 'ObjectSizeGreaterThan', 'ObjectSizeLessThan']
  checkElements(node, [...conditions, 'And'])
  if (node.children.length > 1) throw malformed('A Filter has one condition; use And for several.')
  const and = findChild(node, 'And')
  if (and !== undefined) {
    checkElements(and, conditions)
    if (and.children.length === 0) throw malformed('And needs conditions.')
  }
  const holder = and ?? node
  const prefix = findText(holder, 'Prefix')
  const tags = children(holder, 'Tag').map(readTag)
  const greaterThanBytes = findNumber(holder, 'ObjectSizeGreaterThan')
  const lessThanBytes = findNumber(holder, 'ObjectSizeLessThan')
  return {
    ...(prefix === undefined ? {} : { prefix }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(greaterThanBytes === undefined ? {} : { greaterThanBytes }),
    ...(lessThanBytes === undefined ? {} : { lessThanBytes }),
  }
}

function checkFilter({ prefix, tags, greaterThanBytes, lessThanBytes }: LifecycleFilter): void {
  if (prefix !== undefined && Buffer.byteLength(prefix) > prefixBytesMax) {
    throw invalid(`The maximum size of a prefix is ${prefixBytesMax}.`)
  }
  tags?.forEach(checkTag)
  if (tags !== undefined && hasDuplicateKeys(tags)) throw invalid('Duplicate Tag Keys are not allowed.')
  if (greaterThanBytes !== undefined && greaterThanBytes < 0) {
    throw invalid("'ObjectSizeGreaterThan' must not be negative.")
  }
  if (lessThanBytes !== undefined && lessThanBytes < 1) throw invalid("'ObjectSizeLessThan' must be positive.")
  if (greaterThanBytes !== undefined && lessThanBytes !== undefined && lessThanBytes <= greaterThanBytes) {
    throw invalid("'ObjectSizeLessThan' has to be a value greater than 'ObjectSizeGreaterThan'.")
  }
}

function readExpiration(node: XmlNode): LifecycleExpiration {
  checkElements(node, ['Days', 'Date', 'ExpiredObjectDeleteMarker'])
  const days = findNumber(node, 'Days')
  const date = findText(node, 'Date')
  const removesMarkers = findBoolean(node, 'ExpiredObjectDeleteMarker')
  if ([days, date, removesMarkers].filter((one) => one !== undefined).length !== 1) {
    throw malformed('Expiration has one of Days, Date and ExpiredObjectDeleteMarker.')
  }
  if (days !== undefined) return { days }
  if (date === undefined) return { removesMarkers: removesMarkers === true }
  const dateMs = readIsoDate(date)
  if (dateMs === undefined) throw malformed('Date must be an ISO 8601 date.')
  return { dateMs }
}

function readNoncurrent(node: XmlNode): { days: number; newerVersions?: number } {
  checkElements(node, ['NoncurrentDays', 'NewerNoncurrentVersions'])
  const newerVersions = findNumber(node, 'NewerNoncurrentVersions')
  return { days: needed(node, 'NoncurrentDays'), ...(newerVersions === undefined ? {} : { newerVersions }) }
}

function needed(node: XmlNode, name: string): number {
  const value = findNumber(node, name)
  if (value === undefined) throw malformed(`${node.name} needs a ${name}.`)
  return value
}

/** 2^31 - 1 days, as Amazon's numbers go, are beyond any calendar, so a hundred years times ten is what is let pass. */
const daysMax = 365_000

function checkPositive(name: string, action: string, value: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= daysMax) return
  throw refused(`'${name}' for ${action} action must be a positive integer`, name, String(value))
}

function ruleContent(rule: LifecycleRule): XmlContent {
  const { id, enabled, filter, isLegacy, expiration, noncurrent, abortDays } = rule
  return {
    ID: id,
    ...(isLegacy === true ? { Prefix: filter.prefix ?? '' } : { Filter: filterContent(filter) }),
    Status: enabled ? 'Enabled' : 'Disabled',
    Expiration:
      expiration === undefined
        ? undefined
        : {
            Days: expiration.days,
            Date: expiration.dateMs === undefined ? undefined : new Date(expiration.dateMs).toISOString(),
            ExpiredObjectDeleteMarker: expiration.removesMarkers,
          },
    NoncurrentVersionExpiration:
      noncurrent === undefined
        ? undefined
        : { NoncurrentDays: noncurrent.days, NewerNoncurrentVersions: noncurrent.newerVersions },
    AbortIncompleteMultipartUpload: abortDays === undefined ? undefined : { DaysAfterInitiation: abortDays },
  }
}

function filterContent({ prefix, tags, greaterThanBytes, lessThanBytes }: LifecycleFilter): XmlContent {
  const content = {
    Prefix: prefix,
    Tag: tags?.map(tagContent),
    ObjectSizeGreaterThan: greaterThanBytes,
    ObjectSizeLessThan: lessThanBytes,
  }
  const conditions =
    [prefix, greaterThanBytes, lessThanBytes].filter((one) => one !== undefined).length + (tags?.length ?? 0)
  return conditions > 1 ? { And: content } : content
}

function refused(message: string, name: string, value: string): S3Error {
  return invalidArgument(message, name, value)
}

function invalid(message: string): S3Error {
  return s3Error('InvalidRequest', { message })
}
