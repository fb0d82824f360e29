/**
 * Random sequences of changes against a model that is written straight and slow: lists of the rows of each key, whole
 * copies of the live index for every snapshot, sums by adding up.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Catalog, Change, RefusalReason, Versioning } from '../../catalog.ts'
import { CommitRefused } from '../../catalog.ts'
import { bytes, draft, part, put, reclaimAll, refused } from '../fixtures.suite.ts'
import {
  isObject,
  modelRow,
  heldOf,
  isHeld,
  mayBecome,
  mayGoFor,
  blobsOf,
  type ModelRow,
  type Index,
  type Held,
  type Draft,
  type Snapshot,
} from './rows.suite.ts'
import { ModelClones } from './clones.suite.ts'
import { checkView } from './views.suite.ts'
import { checkTwin, Files, storedBlobsOf, storeSome, wayToStore } from './storage.suite.ts'
import { BUCKETS, SEED, step, type Step } from './steps.suite.ts'

let runs = 0

export function proveAgainstModel(catalog: () => Catalog, numRuns: number): void {
  void describe(`against a model (SEED=${SEED})`, () => {
    void it('any sequence of changes shows what the model shows, now and at every snapshot', async () => {
      const property = fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        const run = new Run(catalog(), `model-${++runs}`)
        await run.open()
        for (const one of steps) await run.take(one)
        await run.checkBlobs()
      })
      await fc.assert(property, { seed: SEED, numRuns })
    })
  })
}

class Run {
  readonly #catalog: Catalog
  readonly #name: string
  #live: Index[] = Array.from({ length: BUCKETS }, () => new Map())
  readonly #versioning: Versioning[] = Array.from({ length: BUCKETS }, () => 'off')
  readonly #parts = Array.from(
    { length: BUCKETS },
    () => new Map<number, { etag: string; size: number; blobs: string[] }>(),
  )
  readonly #snapshots: Snapshot[] = []
  readonly #sizes = new Map<string, number>()
  readonly #clones: ModelClones
  #made = 0

  constructor(catalog: Catalog, name: string) {
    this.#catalog = catalog
    this.#name = name
    this.#clones = new ModelClones(catalog, name)
  }

  #bucket = (n: number) => `${this.#name}-${n}`
  #newBlob(size: number): string {
    const blob = `${this.#name}:${++this.#made}`
    this.#sizes.set(blob, size)
    return blob
  }
  /** Not in the order of time: the catalog must not rely on ids for it. */
  #newVersion = () => `${(this.#made * 7) % 10}-${++this.#made}`
  #take = (snapshot: string, of: number | null = null): Change => {
    const bucket = of === null ? {} : { bucket: this.#bucket(of) }
    return { do: 'take-snapshot', volume: this.#name, ...bucket, snapshot, nowMs: 1 }
  }
  #openUpload = (n: number): Change => ({
    do: 'open-upload',
    bucket: this.#bucket(n),
    upload: { upload: 'u', key: bytes('a/a'), startedMs: 1, details: {} },
  })

  async open(): Promise<void> {
    await this.#catalog.commit([{ do: 'open-volume', volume: this.#name, sizeBytes: 1e9 }])
    for (let n = 0; n < BUCKETS; n++) {
      await this.#catalog.commit([
        { do: 'open-bucket', bucket: this.#bucket(n), volume: this.#name, limitBytes: 1e9 },
        this.#openUpload(n),
      ])
    }
  }

  async take(step: Step): Promise<void> {
    const commit = (...changes: Change[]) => this.#catalog.commit(changes)
    switch (step.do) {
      case 'put': {
        const blob = this.#newBlob(step.size)
        const { stored, ...way } = await wayToStore(this.#catalog, this.#name, step)
        const object = draft(blob, step.size, { tag: 'new' })
        await this.#put(step.bucket, step.key, {
          object: { ...object, blobs: [{ blob, sizeBytes: step.size, ...stored }] },
          held: step.held,
          nowMs: step.nowMs,
        })
        await checkTwin(this.#catalog, this.#name, blob, way)
        break
      }
      case 'store':
        await storeSome(this.#catalog, this.#name, step)
        break
      case 'delete':
        await this.#delete(step.bucket, step.key, step)
        break
      case 'delete version': {
        const rows = this.#rows(step.bucket, step.key)
        const row = rows[step.which]
        const change = {
          do: 'delete-object',
          bucket: this.#bucket(step.bucket),
          key: bytes(step.key),
          version: row?.version ?? 'never',
          nowMs: step.nowMs,
          bypassGovernance: step.bypassGovernance,
        } as const
        const [outcome] = await this.#attempt(change, isHeld(row, step) ? 'locked' : undefined)
        if (outcome === undefined) break
        const found = { found: true, marker: row?.isMarker, version: row?.version }
        assert.deepEqual(outcome, row === undefined ? { found: false } : found)
        this.#set(
          step.bucket,
          step.key,
          rows.filter((other) => other !== row),
        )
        break
      }
      case 'version':
        await commit({ do: 'version-bucket', bucket: this.#bucket(step.bucket), state: step.state })
        this.#versioning[step.bucket] = step.state
        break
      case 'amend':
        await this.#amend(step)
        break
      case 'copy': {
        const source = await this.#catalog.object(this.#bucket(step.bucket), bytes(step.key))
        if (source === undefined || source.isMarker === true) break
        await this.#put(step.to, step.toKey, { object: source, held: heldOf(source), nowMs: 0, shares: true })
        break
      }
      case 'part': {
        const etag = this.#newBlob(4)
        const change = { do: 'put-part', bucket: this.#bucket(step.bucket), upload: 'u', maxTotalBytes: 100 } as const
        await commit({ ...change, part: part(step.number, etag, 4) })
        this.#parts[step.bucket]?.set(step.number, { etag, size: 4, blobs: [etag] })
        break
      }
      case 'complete':
        await this.#complete(step.bucket, step.last)
        break
      case 'abort':
        await commit(
          { do: 'abort-upload', bucket: this.#bucket(step.bucket), upload: 'u' },
          this.#openUpload(step.bucket),
        )
        this.#parts[step.bucket]?.clear()
        break
      case 'snapshot': {
        const uuid = `${this.#name}:s${++this.#made}`
        const [outcome] = await commit(this.#take(uuid, step.of))
        const index = new Map([...this.#live.entries()].filter(([n]) => step.of === null || n === step.of))
        this.#snapshots.push({ uuid, epoch: outcome?.epoch ?? 0, index })
        break
      }
      case 'restore': {
        const snapshot = this.#snapshots[step.which]
        const model = snapshot?.index.get(step.bucket)?.get(step.key)?.at(-1)
        if (snapshot === undefined || model === undefined || model.isMarker) break
        const { epoch } = snapshot
        const row = await this.#catalog.object(this.#bucket(step.bucket), bytes(step.key), { epoch }, model.version)
        assert.ok(row)
        await this.#put(step.bucket, step.key, { object: row, held: heldOf(row), nowMs: 0, shares: true })
        break
      }
      case 'drop': {
        const [snapshot] = this.#snapshots.splice(step.which, 1)
        if (snapshot) await commit({ do: 'drop-snapshot', volume: this.#name, snapshot: snapshot.uuid })
        break
      }
      case 'go back':
        await this.#goBack(step.which, step.limit)
        break
      case 'clone': {
        const snapshot = this.#snapshots[step.which]
        // One of a bucket alone sees no others.
        if (snapshot?.index.size === BUCKETS) {
          const index = [...snapshot.index].toSorted(([a], [b]) => a - b).map(([, rows]) => rows)
          await this.#clones.make(snapshot.uuid, index, step.limit)
        }
        break
      }
      case 'delete in clone':
        await this.#clones.delete(step.which, step.bucket, step.key)
        break
      case 'close clone':
        await this.#clones.close(step.which)
        break
      case 'go back in range':
        await this.#goBackInRange(step)
        break
      case 'reclaim':
        await commit({ do: 'reclaim', volume: this.#name, limit: step.limit })
        break
    }
    await this.#check()
  }

  #rows = (n: number, k: string): readonly ModelRow[] => this.#live[n]?.get(k) ?? []

  /** Commits a change that must be refused when there is a reason for it. */
  async #attempt(change: Change, reason: RefusalReason | undefined) {
    const attempt = this.#catalog.commit([change])
    if (reason === undefined) return attempt
    await refused(reason, attempt)
    return []
  }

  /** What a new row of a key is called, and the row it replaces. */
  #place(n: number, k: string): { version: string; replaced: ModelRow | undefined } {
    if (this.#versioning[n] === 'enabled') return { version: this.#newVersion(), replaced: undefined }
    return { version: 'null', replaced: this.#rows(n, k).find(({ version }) => version === 'null') }
  }

  #add(n: number, k: string, row: ModelRow, replaced: ModelRow | undefined): void {
    this.#set(n, k, [row, ...this.#rows(n, k).filter((other) => other !== replaced)])
  }

  async #put(
    n: number,
    k: string,
    { object, held, nowMs, shares = false }: { object: Draft; held: Held; nowMs: number; shares?: boolean },
  ): Promise<void> {
    const { version, replaced } = this.#place(n, k)
    const modifiedMs = ++this.#made
    const written = { ...object, ...held, version, modifiedMs }
    const isLocked = isHeld(replaced, { nowMs })
    const change = put(this.#bucket(n), k, written, { shares, nowMs })
    const [outcome] = await this.#attempt(change, isLocked ? 'locked' : undefined)
    // Its blob was never known, if the object was new.
    if (outcome === undefined && !shares) for (const { blob } of object.blobs) this.#sizes.delete(blob)
    if (outcome === undefined) return
    assert.deepEqual(outcome, { replaced: isObject(this.#rows(n, k)[0]), version })
    this.#add(n, k, modelRow(written), replaced)
  }

  async #delete(n: number, k: string, authority: { nowMs: number; bypassGovernance: boolean }): Promise<void> {
    const before = this.#rows(n, k)
    const { version, replaced } = this.#place(n, k)
    const modifiedMs = ++this.#made
    const { nowMs, bypassGovernance } = authority
    const marker = { version, modifiedMs, details: { tag: 'marker' } }
    const names = { do: 'delete-object', bucket: this.#bucket(n), key: bytes(k) } as const
    const reason = isHeld(replaced, authority) ? 'locked' : undefined
    const [outcome] = await this.#attempt({ ...names, marker, nowMs, bypassGovernance }, reason)
    if (outcome === undefined) return
    const found = isObject(before[0])
    if (this.#versioning[n] === 'off') {
      assert.deepEqual(outcome, { found })
      this.#set(n, k, [])
      return
    }
    assert.deepEqual(outcome, { found, marker: true, version })
    const row = { ...draft('', 0, marker.details), version, modifiedMs }
    this.#add(n, k, { ...modelRow(row), isMarker: true }, replaced)
  }

  async #amend(step: Extract<Step, { do: 'amend' }>): Promise<void> {
    const { nowMs, bypassGovernance } = step
    const rows = this.#rows(step.bucket, step.key)
    const row = rows[step.which]
    const { lock, legalHold, tag } = step.amends
    const newTag = tag === undefined ? row?.tag : `tag ${++this.#made}`
    const change: Change = {
      do: 'amend-object',
      bucket: this.#bucket(step.bucket),
      key: bytes(step.key),
      ...(step.which === 0 ? {} : { version: row?.version ?? 'never' }),
      nowMs,
      bypassGovernance,
      ...(lock === undefined ? {} : { lock }),
      ...(legalHold === undefined ? {} : { legalHold }),
      ...(tag === undefined ? {} : { details: { tag: newTag ?? '' } }),
    }
    let reason: RefusalReason | undefined
    if (!isObject(row)) reason = 'absent'
    else if (lock !== undefined && !mayBecome(row.lock, lock, step)) reason = 'locked'
    const [outcome] = await this.#attempt(change, reason)
    if (outcome === undefined || row === undefined) return
    assert.deepEqual(outcome, { version: row.version })
    const amended = {
      ...row,
      tag: newTag ?? '',
      lock: lock === undefined ? row.lock : (lock ?? undefined),
      legalHold: legalHold ?? row.legalHold,
    }
    this.#set(
      step.bucket,
      step.key,
      rows.map((other) => (other === row ? amended : other)),
    )
  }

  /** While it goes back, everything is shown as it was, and nothing can be changed. */
  async #goBack(which: number, limit: number): Promise<void> {
    const snapshot = this.#snapshots[which]
    if (snapshot === undefined) return
    const volume = this.#name
    const begin: Change = { do: 'begin-restore', volume, snapshot: snapshot.uuid }
    if (snapshot.index.size < BUCKETS) {
      await refused('missing', this.#catalog.commit([begin]), { scope: 'snapshot' })
      return
    }
    await this.#catalog.commit([begin])
    this.#snapshots.splice(which + 1)
    for (let after: string | undefined; ;) {
      for (const [n, index] of snapshot.index) await checkView(this.#catalog, this.#bucket(n), index)
      await refused('restoring', this.#catalog.commit([put(this.#bucket(0), 'a', draft('never'))]))
      await this.#catalog.commit([begin, { do: 'reclaim', volume, limit: 1 }])
      const [outcome] = await this.#catalog.commit([
        { do: 'restore-rows', volume, limit, ...(after === undefined ? {} : { after }) },
      ])
      after = outcome?.next
      if (after === undefined) break
    }
    await this.#catalog.commit([{ do: 'finish-restore', volume }])
    this.#live = [...snapshot.index.values()]
  }

  /** Keys of the range are shown as they were from one batch on, and are not written; the others are, all the while. */
  async #goBackInRange(step: Extract<Step, { do: 'go back in range' }>): Promise<void> {
    const { bucket: n, limit, nowMs, range, other } = step
    const snapshot = this.#snapshots[step.which]
    if (snapshot === undefined) return
    const bucket = this.#bucket(n)
    const isIn = (k: string) => ('key' in range ? k === range.key : k.startsWith(range.prefix))
    const bounds = 'key' in range ? { key: bytes(range.key) } : { prefix: bytes(range.prefix) }
    const begin: Change = { do: 'begin-range-restore', bucket, snapshot: snapshot.uuid, range: bounds, nowMs }
    const then = snapshot.index.get(n)
    if (then === undefined) {
      await refused('missing', this.#catalog.commit([begin]), { scope: 'snapshot' })
      return
    }
    const now: Index = this.#live[n] ?? new Map()
    const isFree = [...now].every(([k, rows]) => {
      const before = then.get(k) ?? []
      const stays = (row: ModelRow) => {
        const itself = before.find(({ id }) => id === row.id)
        return itself === row || mayGoFor(row, itself, { nowMs })
      }
      return !isIn(k) || rows.every(stays)
    })
    await this.#catalog.commit([begin])
    let isLooking = true
    for (;;) {
      if (isIn(other)) await refused('restoring', this.#catalog.commit([put(bucket, other, draft('never'))]))
      else await this.#put(n, other, { object: draft(this.#newBlob(1), 1), held: {}, nowMs })
      await refused('restoring', this.#catalog.commit([this.#take('never')]))
      const drop: Change = { do: 'drop-snapshot', volume: this.#name, snapshot: snapshot.uuid }
      await refused('restoring', this.#catalog.commit([drop]))
      await this.#catalog.commit([begin, { do: 'reclaim', volume: this.#name, limit: 1 }])
      let next: string | undefined
      try {
        const [outcome] = await this.#catalog.commit([{ do: 'restore-range', bucket, limit }])
        next = outcome?.next
      } catch (failure) {
        assert.ok(failure instanceof CommitRefused && failure.reason === 'locked' && !isFree, String(failure))
        await this.#catalog.commit([{ do: 'abandon-range-restore', bucket }])
        return
      }
      if (isLooking && next !== 'look') {
        isLooking = false
        assert.ok(isFree)
        for (const k of new Set([...(this.#live[n]?.keys() ?? []), ...then.keys()])) {
          if (isIn(k)) this.#set(n, k, then.get(k) ?? [])
        }
      }
      await this.#checkBuckets()
      if (next === undefined) break
      await refused('not-empty', this.#catalog.commit([{ do: 'finish-range-restore', bucket }]))
    }
    await this.#catalog.commit([{ do: 'finish-range-restore', bucket }])
  }

  async #complete(n: number, last: number): Promise<void> {
    const chosen = [...(this.#parts[n] ?? [])].filter(([number]) => number <= last).toSorted(([a], [b]) => a - b)
    const parts = chosen.map(([number, { etag }]) => ({ number, etag }))
    const names = { do: 'complete-upload', bucket: this.#bucket(n), upload: 'u' } as const
    const wrong = { ...names, parts: [...parts, { number: 9, etag: 'x' }], object: draft('x', 0) }
    await assert.rejects(this.#catalog.commit([wrong]), CommitRefused)
    const etag = `${this.#name}:${++this.#made}`
    const { version, replaced } = this.#place(n, 'a/a')
    const modifiedMs = ++this.#made
    const object = { ...draft(etag, 0, { tag: 'whole' }), version, modifiedMs }
    const [outcome] = await this.#attempt(
      { ...names, parts, object, nowMs: 15 },
      isHeld(replaced, { nowMs: 15 }) ? 'locked' : undefined,
    )
    if (outcome === undefined) return
    assert.deepEqual(outcome, { replaced: isObject(this.#rows(n, 'a/a')[0]), version })
    await this.#catalog.commit([this.#openUpload(n)])
    const size = chosen.reduce((sum, [, p]) => sum + p.size, 0)
    this.#add(n, 'a/a', { ...modelRow(object), size, blobs: chosen.flatMap(([, p]) => p.blobs) }, replaced)
    this.#parts[n]?.clear()
  }

  #set(n: number, k: string, rows: readonly ModelRow[]): void {
    this.#live = this.#live.map((index, i) => {
      if (i !== n) return index
      const next = new Map(index)
      if (rows.length === 0) next.delete(k)
      else next.set(k, rows)
      return next
    })
  }

  #liveBlobs(): Set<string> {
    const parts = this.#parts.flatMap((held) => [...held.values()].flatMap(({ blobs }) => blobs))
    return blobsOf(this.#live).union(new Set(parts))
  }

  async #check(): Promise<void> {
    await this.#checkBuckets()
    await this.#checkVolume()
    await this.#clones.check()
  }

  async #checkBuckets(): Promise<void> {
    for (const [n, index] of this.#live.entries()) {
      await checkView(this.#catalog, this.#bucket(n), index)
      for (const { epoch, index: then } of this.#snapshots) {
        const seen = then.get(n)
        if (seen !== undefined) await checkView(this.#catalog, this.#bucket(n), seen, epoch)
      }
      const rows = [...index.values()].flat()
      const objects = [...index.values()].filter(([current]) => isObject(current)).length
      const parts = [...(this.#parts[n]?.values() ?? [])]
      assert.deepEqual(await this.#catalog.bucket(this.#bucket(n)), {
        volume: this.#name,
        limitBytes: 1e9,
        usedBytes: [...rows, ...parts].reduce((sum, { size }) => sum + size, 0),
        objects,
        versions: rows.length - objects,
        versioning: this.#versioning[n],
      })
    }
  }

  /** What reclaim has not come to yet still counts as used, by snapshots. */
  async #checkVolume(): Promise<void> {
    const files = new Files(await storedBlobsOf(this.#catalog, this.#name))
    const live = files.of(this.#liveBlobs())
    const counters = await this.#catalog.volume(this.#name)
    assert.ok(counters)
    assert.deepEqual(
      [counters.usedBytes, counters.savedByCompressionBytes, counters.savedByDedupeBytes],
      [files.sum(files.all), files.savedByCompressionBytes, files.savedByDedupeBytes],
    )
    assert.equal(counters.usedBytes - counters.snapshotBytes, files.sum(live))
    const held = new Map<string, Set<string>>()
    const seen = new Set(live)
    for (const { uuid, index } of this.#snapshots.toReversed()) {
      const only = files.of(blobsOf(index.values())).difference(seen)
      held.set(uuid, only)
      for (const file of only) seen.add(file)
    }
    const expected = new Map([...held].map(([uuid, only]) => [uuid, files.sum(only)]))
    assert.deepEqual(new Map(await this.#catalog.snapshotBytes(this.#name)), expected)
    assert.ok(counters.snapshotBytes >= files.sum(seen.difference(live)))
  }

  /** After everything was reclaimed, the blobs that are needed are exactly those that something shows. */
  async checkBlobs(): Promise<void> {
    await reclaimAll(this.#catalog, this.#name, 2)
    const needed = this.#liveBlobs().union(blobsOf(this.#snapshots.flatMap(({ index }) => [...index.values()])))
    const stored = await storedBlobsOf(this.#catalog, this.#name)
    assert.deepEqual(new Set(stored.map(({ blob }) => blob)), needed)
    for (const { blob, sizeBytes } of stored) assert.equal(sizeBytes, this.#sizes.get(blob))
    const files = new Files(stored)
    const counters = await this.#catalog.volume(this.#name)
    assert.equal(counters?.usedBytes, files.sum(files.of(needed)))
    assert.equal(counters.snapshotBytes, files.sum(files.all.difference(files.of(this.#liveBlobs()))))
    // What the clones that were closed needed is swept along with other commits.
    for (let i = 0; i < 3; i++) await this.#catalog.commit([])
    const unneeded = [...(await this.#catalog.unneededBlobs(this.#name, 1000)), ...(await this.#clones.unneeded())]
    assert.equal(new Set(unneeded).size, unneeded.length)
    assert.deepEqual(new Set(unneeded), new Set(this.#sizes.keys()).difference(needed.union(this.#clones.needed())))
  }
}
