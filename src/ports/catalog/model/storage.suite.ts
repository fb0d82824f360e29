/** What the random sequences of the catalog's model test do to the way blobs are stored, and what must be so then. */
import assert from 'node:assert/strict'
import type { Catalog, Change, StoredBlob } from '../../catalog.ts'
import { refused } from '../fixtures.suite.ts'

export async function storedBlobsOf(catalog: Catalog, volume: string): Promise<StoredBlob[]> {
  const all: StoredBlob[] = []
  for (let after: string | undefined = ''; after !== undefined;) {
    const page: { blobs: readonly StoredBlob[]; next?: string } = await catalog.storedBlobs(volume, after, 3)
    all.push(...page.blobs)
    after = page.next
  }
  return all
}

/** How a step wants a new blob to be stored: in less, perhaps with one that is there. */
export async function wayToStore(
  catalog: Catalog,
  volume: string,
  { size, storedBytes: bytesMax, twin: which }: { size: number; storedBytes: number; twin: number | null },
) {
  const storedBytes = Math.min(size, bytesMax)
  const known = await storedBlobsOf(catalog, volume)
  const twin = which === null ? undefined : known[which % Math.max(1, known.length)]
  const stored = { storedBytes, digest: `d${size}`, ...(twin === undefined ? {} : { twin: twin.blob }) }
  return { storedBytes, twin, stored }
}

/** A twin counts with the new blob only when it was stored in the same way. */
export async function checkTwin(
  catalog: Catalog,
  volume: string,
  blob: string,
  { storedBytes, twin }: { storedBytes: number; twin: StoredBlob | undefined },
): Promise<void> {
  const known = await storedBlobsOf(catalog, volume)
  const written = known.find((one) => one.blob === blob)
  const other = known.find((one) => one.blob === twin?.blob)
  // The put may have replaced the object whose blob was the twin.
  if (written === undefined || twin === undefined || other === undefined) return
  assert.equal(written.storedBytes, storedBytes)
  const isOne = twin.storedBytes === storedBytes && twin.sizeBytes === written.sizeBytes
  assert.equal(written.group !== undefined, isOne)
  if (isOne) assert.equal(written.group, other.group)
  const twins = await catalog.twins(volume, { digest: written.digest ?? '', sizeBytes: written.sizeBytes }, 1000)
  assert.deepEqual(
    twins.map((one) => one.blob),
    known
      .filter((one) => one.digest === written.digest)
      .map((one) => one.blob)
      .toReversed(),
  )
}

async function joinTwin(
  catalog: Catalog,
  volume: string,
  known: readonly StoredBlob[],
  twin: StoredBlob,
): Promise<void> {
  const blob = known.find((one) => one.sizeBytes === twin.sizeBytes && one !== twin)
  if (blob === undefined) return
  await catalog.commit([{ do: 'share-blob', volume, blob: blob.blob, twin: twin.blob }])
  const after = (await storedBlobsOf(catalog, volume)).filter((one) => one.blob === blob.blob || one.blob === twin.blob)
  const { storedBytes, group = twin.blob } = twin
  assert.deepEqual(
    after.map((one) => [one.storedBytes, one.group]),
    [
      [storedBytes, group],
      [storedBytes, group],
    ],
  )
}

/** Some blobs of one size become one file, with all that shared a file with one of them. */
export async function storeSome(
  catalog: Catalog,
  volume: string,
  { which, most, storedBytes: bytesMax }: { which: number; most: number; storedBytes: number },
): Promise<void> {
  const known = await storedBlobsOf(catalog, volume)
  const first = known[which % Math.max(1, known.length)]
  if (first === undefined) return
  const chosen = known.filter(({ sizeBytes }) => sizeBytes === first.sizeBytes).slice(0, most)
  const groups = new Set(chosen.flatMap(({ group }) => group ?? []))
  const all = known.filter((one) => chosen.includes(one) || groups.has(one.group ?? ''))
  if (most === 1) await joinTwin(catalog, volume, known, first)
  if (most === 1) return
  const storedBytes = Math.min(first.sizeBytes, bytesMax)
  const change = (blobs: readonly StoredBlob[]): Change => ({
    do: 'store-blobs',
    volume,
    blobs: [...blobs.map(({ blob }) => blob), 'never'],
    storedBytes,
  })
  if (all.length > chosen.length) await refused('stale', catalog.commit([change(chosen)]))
  await catalog.commit([change(all)])
  const after = (await storedBlobsOf(catalog, volume)).filter(({ blob }) => all.some((one) => one.blob === blob))
  assert.deepEqual(new Set(after.map((one) => one.storedBytes)), new Set([storedBytes]))
  assert.equal(new Set(after.map(({ blob, group }) => group ?? blob)).size, 1)
  assert.equal(after[0]?.group === undefined, after.length === 1)
}

/** The files that blobs are stored in. */
export class Files {
  readonly #fileOf: ReadonlyMap<string, string>
  readonly #files = new Map<string, StoredBlob>()
  readonly #bytes: number

  constructor(stored: readonly StoredBlob[]) {
    this.#fileOf = new Map(stored.map(({ blob, group }) => [blob, group === undefined ? blob : `group ${group}`]))
    for (const one of stored) this.#files.set(this.#fileOf.get(one.blob) ?? '', one)
    this.#bytes = stored.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  get all(): Set<string> {
    return new Set(this.#files.keys())
  }

  of(blobs: Iterable<string>): Set<string> {
    return new Set([...blobs].map((blob) => this.#fileOf.get(blob) ?? `no file of ${blob}`))
  }

  sum(files: Iterable<string>): number {
    return [...files].reduce((sum, file) => sum + (this.#files.get(file)?.storedBytes ?? Number.NaN), 0)
  }

  get savedByCompressionBytes(): number {
    return [...this.#files.values()].reduce((sum, { sizeBytes, storedBytes }) => sum + sizeBytes - storedBytes, 0)
  }

  get savedByDedupeBytes(): number {
    return this.#bytes - [...this.#files.values()].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }
}
