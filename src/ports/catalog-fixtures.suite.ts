/** What the suites of the catalog share. */
import assert from 'node:assert/strict'
import { CommitRefused } from './catalog.ts'
import type { Catalog, Change, Fields, ListPage, ObjectDraft, Outcome, PartRow, RefusalReason } from './catalog.ts'

export interface OpenedCatalog {
  readonly catalog: Catalog
  /** Closes the catalog and opens it again over the same storage, or gives the same one when it has no storage. */
  reopen(): Promise<Catalog>
  close(): Promise<void>
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
  readonly limit?: number
  readonly epoch?: number
}

export function page(catalog: Catalog, bucket: string, listing: Listing = {}): Promise<ListPage> {
  const { prefix = '', delimiter = '', after = '', limit = 1000, epoch } = listing
  return catalog.list({
    bucket,
    prefix: bytes(prefix),
    delimiter: bytes(delimiter),
    after: bytes(after),
    limit,
    ...(epoch === undefined ? {} : { at: { epoch } }),
  })
}

/** All pages: 'key=etag' for objects and 'prefix…' for common prefixes, in the order of the pages. */
export async function listed(catalog: Catalog, bucket: string, listing: Listing = {}): Promise<string[]> {
  const all: string[] = []
  let { after = '' } = listing
  for (;;) {
    const { objects, prefixes, next } = await page(catalog, bucket, { ...listing, after })
    all.push(...objects.map((o) => `${text(o.key)}=${o.etag}`), ...prefixes.map((p) => `${text(p)}…`))
    if (next === undefined) return all
    assert.ok(objects.length + prefixes.length > 0 && text(next) !== after, 'a page that is not the last goes on')
    after = text(next)
  }
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
    if ((outcome?.reclaimed ?? 0) < limit) return total
  }
}
