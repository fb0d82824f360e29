/** What a lifecycle run remembers in the memo of its job, so that it goes on after a crash where it was. */
import type { Row, Value } from '../../../model/value.ts'
import type { UploadPosition, VersionPosition } from '../../../ports/catalog.ts'
import { field, number, text } from '../../../s3/record-values.ts'
import type { Deletion, RowPlace } from './lifecycle-judge.ts'

export const countNames = [
  'looked',
  'expire',
  'delete-version',
  'delete-marker',
  'abort-upload',
  'locked',
  'changed',
] as const satisfies readonly (Deletion['kind'] | 'looked' | 'locked' | 'changed')[]

/** `looked`: rows and uploads looked at. `locked`, `changed`: what stayed because of a lock, or because it was changed. */
export type Counts = Readonly<Record<(typeof countNames)[number], number>>

export interface Walk {
  readonly bucket: string
  /** The digest of the rules it applies. */
  readonly rules: string
  readonly judgedMs: number
  /** Absent: all rows are done. */
  readonly place?: RowPlace
  /** The last upload looked at. */
  readonly upload?: UploadPosition
  readonly counts: Counts
}

export interface Notes {
  /** The bucket it is in. */
  readonly walk: Walk | undefined
  /** The bucket before, in the order of uuids. */
  readonly last: string
  readonly buckets: number
  readonly failed: number
  /** Of the buckets before. */
  readonly counts: Counts
}

export function noCounts(): Counts {
  return Object.fromEntries(countNames.map((name) => [name, 0])) as Counts
}

export function plus(counts: Counts, more: Partial<Counts>): Counts {
  return Object.fromEntries(countNames.map((name) => [name, counts[name] + (more[name] ?? 0)])) as Counts
}

export function removedOf(counts: Counts): number {
  return counts.expire + counts['delete-version'] + counts['delete-marker'] + counts['abort-upload']
}

/** As fields of a run and of an event. */
export function countFields(counts: Counts) {
  return {
    examined: counts.looked,
    expired_objects: counts.expire,
    deleted_versions: counts['delete-version'],
    deleted_markers: counts['delete-marker'],
    aborted_uploads: counts['abort-upload'],
    kept_locked: counts.locked,
    kept_changed: counts.changed,
  }
}

export function readNotes(memo: Row): Notes {
  return {
    walk: readWalk(memo['walk']),
    last: text(memo['last']),
    buckets: number(memo['buckets']) ?? 0,
    failed: number(memo['failed']) ?? 0,
    counts: readCounts(memo['counts']),
  }
}

export function writeNotes({ walk, last, buckets, failed, counts }: Notes): Readonly<Record<string, Value>> {
  return { walk: walk === undefined ? null : writeWalk(walk), last, buckets, failed, counts }
}

function readWalk(walk: Value | undefined): Walk | undefined {
  const bucket = text(field(walk, 'bucket'))
  if (bucket === '') return undefined
  const place = field(walk, 'place')
  const after = field(place, 'after')
  const upload = field(walk, 'upload')
  return {
    bucket,
    rules: text(field(walk, 'rules')),
    judgedMs: number(field(walk, 'judgedMs')) ?? 0,
    ...(place === undefined || place === null
      ? {}
      : { place: { after: readPosition(after), hiddenKept: number(field(place, 'hiddenKept')) ?? 0 } }),
    ...(upload === undefined || upload === null
      ? {}
      : { upload: { key: readKey(field(upload, 'key')), upload: text(field(upload, 'upload')) } }),
    counts: readCounts(field(walk, 'counts')),
  }
}

function writeWalk({ place, upload, counts, ...walk }: Walk): Value {
  return {
    ...walk,
    place: place === undefined ? null : { after: writePosition(place.after), hiddenKept: place.hiddenKept },
    upload: upload === undefined ? null : { key: writeKey(upload.key), upload: upload.upload },
    counts,
  }
}

function readPosition(position: Value | undefined): VersionPosition | undefined {
  if (position === undefined || position === null) return undefined
  const version = field(position, 'version')
  const order = number(field(position, 'order'))
  return {
    key: readKey(field(position, 'key')),
    ...(typeof version === 'string' ? { version } : {}),
    ...(order === undefined ? {} : { order }),
  }
}

function writePosition(position: VersionPosition | undefined): Value {
  if (position === undefined) return null
  const { key, version, order } = position
  return { key: writeKey(key), version: version ?? null, order: order ?? null }
}

/** Keys are bytes, and not all of them are text. */
function writeKey(key: Uint8Array): string {
  return Buffer.from(key).toString('base64')
}

function readKey(key: Value | undefined): Buffer {
  return Buffer.from(text(key), 'base64')
}

function readCounts(counts: Value | undefined): Counts {
  return Object.fromEntries(countNames.map((name) => [name, number(field(counts, name)) ?? 0])) as Counts
}
