/** What the suites of the catalog share. */
import assert from 'node:assert/strict'
import { CommitRefused } from '../catalog.ts'
import type {
  Catalog,
  Change,
  Fields,
  ListPage,
  ListedVersion,
  ObjectDraft,
  Outcome,
  PartRow,
  RefusalReason,
  SnapshotAt,
  VersionPosition,
  VersionRow,
} from '../catalog.ts'

export interface OpenedCatalog {
  readonly catalog: Catalog
  /** Closes the catalog and opens it again over the same storage, or gives the same one when it has no storage. */
  reopen(): Promise<Catalog>
  close(): Promise<void>
}

/** What is proven: the catalog as it is opened by now, and how it is opened again. */
export interface Proof {
  readonly catalog: () => Catalog
  readonly reopen: () => Promise<Catalog>
  /** The number of random runs. */
  readonly runs: number
}

export const bytes = (text: string): Buffer => Buffer.from(text, 'latin1')
export const text = (key: Uint8Array): string => Buffer.from(key).toString('latin1')

const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' } as const

/** An object of one blob; its ETag is the blob's name. */
export function draft(blob: string, sizeBytes = 10, details: Fields = {}): ObjectDraft {
  const blobs = sizeBytes === 0 ? [] : [{ blob, sizeBytes }]
  return { version: 'null', sizeBytes, etag: blob, modifiedMs: 1, checksum, blobs, parts: null, details }
}

export function part(number: number, blob: string, sizeBytes = 10): PartRow {
  return { number, sizeBytes, etag: blob, modifiedMs: 1, checksum, blobs: [{ blob, sizeBytes }] }
}

type PutObject = Extract<Change, { do: 'put-object' }>

export function put(bucket: string, key: string, object: ObjectDraft, more: Partial<PutObject> = {}): PutObject {
  return { do: 'put-object', bucket, key: bytes(key), object, ...more }
}

export async function refused(
  reason: RefusalReason,
  attempt: Promise<readonly Outcome[]>,
  { scope, change }: { scope?: string; change?: number } = {},
): Promise<void> {
  await assert.rejects(attempt, (failure) => {
    assert.ok(failure instanceof CommitRefused, String(failure))
    assert.equal(failure.reason, reason)
    if (scope !== undefined) assert.equal(failure.scope, scope)
    if (change !== undefined) assert.equal(failure.change, change)
    return true
  })
}

export interface Listing {
  readonly prefix?: string
  readonly delimiter?: string
  readonly after?: string
  readonly within?: boolean
  readonly limit?: number
  readonly epoch?: number
}

export function page(catalog: Catalog, bucket: string, listing: Listing = {}): Promise<ListPage> {
  const { prefix = '', delimiter = '', after = '', within = false, limit = 1000, epoch } = listing
  return catalog.list({
    bucket,
    prefix: bytes(prefix),
    delimiter: bytes(delimiter),
    after: bytes(after),
    within,
    limit,
    ...(epoch === undefined ? {} : { at: { epoch } }),
  })
}

/** All pages: 'key=etag' for objects and 'prefix…' for common prefixes, in the order of the pages. */
export async function listed(catalog: Catalog, bucket: string, listing: Listing = {}): Promise<string[]> {
  const all: string[] = []
  let { after = '', within = false } = listing
  for (;;) {
    const { objects, prefixes, next, ...more } = await page(catalog, bucket, { ...listing, after, within })
    all.push(...objects.map((o) => `${text(o.key)}=${o.etag}`), ...prefixes.map((p) => `${text(p)}…`))
    if (next === undefined) return all
    assert.ok(text(next) !== after, 'a page that is not the last goes on')
    after = text(next)
    within = more.within ?? false
  }
}

/** All pages of versions, rows as `show` gives them and 'prefix…' for common prefixes. */
export async function versionsListed(
  catalog: Catalog,
  bucket: string,
  { prefix = '', delimiter = '', limit = 1000, epoch }: Listing = {},
  show: (row: ListedVersion) => string = shortly,
): Promise<string[]> {
  const all: string[] = []
  let after: VersionPosition | undefined
  for (;;) {
    const { versions, prefixes, next } = await catalog.versions({
      bucket,
      prefix: bytes(prefix),
      delimiter: bytes(delimiter),
      afterKey: after?.key ?? bytes(''),
      ...(after?.version === undefined ? {} : { afterVersion: after.version }),
      limit,
      ...(epoch === undefined ? {} : { at: { epoch } }),
    })
    all.push(...versions.map(show), ...prefixes.map((p) => `${text(p)}…`))
    if (next === undefined) return all
    assert.ok(versions.length + prefixes.length > 0, 'a page that is not the last goes on')
    after = next
  }
}

/** All rows of a bucket, as `show` gives them. */
export async function scanned(
  catalog: Catalog,
  bucket: string,
  limit: number,
  at: SnapshotAt | undefined,
  show: (row: VersionRow) => string,
): Promise<string[]> {
  const all: string[] = []
  let after: VersionPosition | undefined
  for (;;) {
    const { rows, next } = await catalog.scan(bucket, after, limit, at)
    all.push(...rows.map(show))
    if (next === undefined) return all
    assert.ok(rows.length > 0, 'a page that is not the last goes on')
    after = next
  }
}

/** 'key@version=etag', with '*' for a current row and '!' for a delete marker. */
export function shortly({ key, version, etag, isCurrent, isMarker }: ListedVersion): string {
  return `${text(key)}@${version}${isCurrent ? '*' : ''}${isMarker ? '!' : `=${etag}`}`
}

export async function setVersioning(catalog: Catalog, bucket: string, state: 'enabled' | 'suspended'): Promise<void> {
  await catalog.commit([{ do: 'version-bucket', bucket, state }])
}

/** A volume and a bucket with room enough. */
export async function openBucket(catalog: Catalog, name: string, sizeBytes = 1e9, limitBytes = 1e9): Promise<void> {
  await catalog.commit([
    { do: 'open-volume', volume: `${name}-v`, sizeBytes },
    { do: 'open-bucket', bucket: name, volume: `${name}-v`, limitBytes },
  ])
}

export async function takeSnapshot(catalog: Catalog, volume: string, snapshot: string): Promise<number> {
  const [outcome] = await catalog.commit([{ do: 'take-snapshot', volume, snapshot, nowMs: 5 }])
  assert.ok(outcome?.epoch !== undefined)
  return outcome.epoch
}

/** Lets go of all that no snapshot sees; gives the number of rows. */
export async function reclaimAll(catalog: Catalog, volume: string, limit = 100): Promise<number> {
  for (let total = 0; ;) {
    const [outcome] = await catalog.commit([{ do: 'reclaim', volume, limit }])
    total += outcome?.reclaimed ?? 0
    if (outcome?.next === undefined) return total
  }
}
