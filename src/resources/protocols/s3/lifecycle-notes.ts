/** What a lifecycle run remembers in the memo of its job, so that it goes on after a crash where it was. */
import type { Row } from '../../../model/value.ts'
import type { UploadPosition, VersionPosition } from '../../../ports/catalog.ts'
import { findMember, findNumber, findText, member, stored, type Stored, text } from '../../../records/stored.ts'
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

/** What is in the memo. */
type Memo = {
  readonly walk: WalkMemo | null
  readonly last: string
  readonly buckets: number
  readonly failed: number
  readonly counts: Counts
}
type WalkMemo = {
  readonly bucket: string
  readonly rules: string
  readonly judgedMs: number
  readonly place: { readonly after: PositionMemo | null; readonly hiddenKept: number } | null
  readonly upload: { readonly key: string; readonly upload: string } | null
  readonly counts: Counts
}
/** Keys are bytes, and not all of them are text: they are written in base64. */
type PositionMemo = { readonly key: string; readonly version: string | null; readonly order: number | null }

export function readNotes(written: Row): Notes {
  const memo = stored<Memo>(written)
  return {
    walk: readWalk(member(memo, 'walk')),
    last: text(memo, 'last'),
    buckets: findNumber(memo, 'buckets') ?? 0,
    failed: findNumber(memo, 'failed') ?? 0,
    counts: readCounts(member(memo, 'counts')),
  }
}

export function writeNotes({ walk, last, buckets, failed, counts }: Notes): Memo {
  return { walk: walk === undefined ? null : writeWalk(walk), last, buckets, failed, counts }
}

function readWalk(walk: Stored<WalkMemo>): Walk | undefined {
  const bucket = text(walk, 'bucket')
  if (bucket === '') return undefined
  const place = findMember(walk, 'place')
  const upload = findMember(walk, 'upload')
  return {
    bucket,
    rules: text(walk, 'rules'),
    judgedMs: findNumber(walk, 'judgedMs') ?? 0,
    ...(place === undefined
      ? {}
      : {
          place: { after: readPosition(findMember(place, 'after')), hiddenKept: findNumber(place, 'hiddenKept') ?? 0 },
        }),
    ...(upload === undefined ? {} : { upload: { key: readKey(text(upload, 'key')), upload: text(upload, 'upload') } }),
    counts: readCounts(member(walk, 'counts')),
  }
}

function writeWalk({ place, upload, counts, ...walk }: Walk): WalkMemo {
  return {
    ...walk,
    place: place === undefined ? null : { after: writePosition(place.after), hiddenKept: place.hiddenKept },
    upload: upload === undefined ? null : { key: writeKey(upload.key), upload: upload.upload },
    counts,
  }
}

function readPosition(position: Stored<PositionMemo> | undefined): VersionPosition | undefined {
  if (position === undefined) return undefined
  const version = findText(position, 'version')
  const order = findNumber(position, 'order')
  return {
    key: readKey(text(position, 'key')),
    ...(version === undefined ? {} : { version }),
    ...(order === undefined ? {} : { order }),
  }
}

function writePosition(position: VersionPosition | undefined): PositionMemo | null {
  if (position === undefined) return null
  const { key, version, order } = position
  return { key: writeKey(key), version: version ?? null, order: order ?? null }
}

function writeKey(key: Uint8Array): string {
  return Buffer.from(key).toString('base64')
}

function readKey(key: string): Buffer {
  return Buffer.from(key, 'base64')
}

function readCounts(counts: Stored<Counts>): Counts {
  return Object.fromEntries(countNames.map((name) => [name, findNumber(counts, name) ?? 0])) as Counts
}
