/**
 * Looks after what is known to be damaged: keeps what reads report, repairs it where a twin has the same bytes, and
 * forgets what is sound again or not needed any more.
 */
import type { Cluster } from '../core/cluster.ts'
import { ByteRate } from '../core/time/byte-rate.ts'
import { DAMAGE, DAMAGE_RECORDS_MAX, isLoss, noteDamage, type FoundDamage } from '../storage/damage.ts'
import { describe } from '../core/describe.ts'
import { Sparingly } from '../core/time/sparingly.ts'
import { placeOf } from '../storage/tree-of.ts'
import { eachInTurns } from '../core/time/turns.ts'
import { Watch } from '../core/tasks/watch.ts'
import { WorkShare } from '../core/time/work-share.ts'
import type { Damage } from '../records/rows.ts'
import type { StoredBlob } from '../ports/catalog.ts'
import { checkBlob, damageOf, isThere, type Files } from '../resources/storage/damage/check-blob.ts'
import { digestOfPart } from '../resources/storage/damage/part-digest.ts'
import { rewriteBlob, Unneeded } from '../resources/storage/damage/rewrite.ts'
import {
  digestOfDamaged,
  isSameFile,
  searchTwins,
  volumesFirst,
  type DamagedBlob,
  type Twin,
} from '../resources/storage/damage/search-twins.ts'

const LOOK_EVERY_MS = 2000
/** Records looked at each time, which takes some ten milliseconds. Where there are more, each has its turn later. */
const LOOKED_AT_MAX = 500
/** To try a damaged blob is to read it, so it is tried less and less often: the wait doubles up to the second of these. */
const TRY_EVERY_MS = 600_000
const TRY_EVERY_MS_MAX = 3_600_000
/** Blobs are tried for so long in one look. The rest is tried when its turn comes again. */
const TRYING_MS_MAX = 1000
/** What is read to try blobs in a second, as a scrub does. */
const TRIED_BYTES_A_SECOND = 50 * 2 ** 20
/** Reports that wait to be kept. More than these are found again by the next read. */
const REPORTS_MAX = 1000
/** What may go wrong with each of thousands is logged once in this time, with how often it did. */
const TELL_EVERY_MS = 600_000
/** Twins tried for one blob. */
const TWINS_TRIED = 4
/** All blobs are searched for twins no more often, and in no more than this part of the time. */
const SEARCH_EVERY_MS = 600_000
const SEARCH_SHARE = 0.1
/** Damaged blobs that wait for the next search. */
const SOUGHT_MAX = 1000

export class DamageWatch extends Watch {
  readonly #cluster: Cluster
  readonly #reports: FoundDamage[] = []
  readonly #rate: ByteRate
  #keeping: Promise<void> = Promise.resolve()
  /** When each was tried last, and how often, by the key of its record. */
  readonly #tried = new Map<string, { readonly atMs: number; readonly times: number }>()
  /** Where the next look begins. */
  #next = 0
  /** Those that no digest found a twin of, by the key of their record. */
  readonly #sought = new Map<string, DamagedBlob>()
  #searchAtMs = Number.NEGATIVE_INFINITY
  readonly #unkept: Sparingly
  readonly #failed: Sparingly

  constructor(cluster: Cluster) {
    super(cluster, {
      name: 'damage-watch',
      doc: 'Checks known damage again: repairs objects from intact copies, and removes records that no longer apply.',
      bound: `Reads ${TRIED_BYTES_A_SECOND / 2 ** 20} MiB per second, for a second in each run, of at most ${LOOKED_AT_MAX} records.`,
      scope: 'cluster',
      everyMs: LOOK_EVERY_MS,
      failed: 'Damaged objects could not be checked. It is retried.',
    })
    this.#cluster = cluster
    this.#rate = new ByteRate(cluster.system, TRIED_BYTES_A_SECOND)
    this.#unkept = new Sparingly(cluster.system.clock, { everyMs: TELL_EVERY_MS })
    this.#failed = new Sparingly(cluster.system.clock, { everyMs: TELL_EVERY_MS })
  }

  override async stop(): Promise<void> {
    await super.stop()
    await this.#keeping
  }

  /** What a read has met. Returns at once. */
  report(found: FoundDamage): void {
    if (this.#reports.length >= REPORTS_MAX) return
    this.#reports.push(found)
    this.#keeping = this.#keeping.then(() => this.#keep())
  }

  async #keep(): Promise<void> {
    for (let found = this.#reports.shift(); found !== undefined; found = this.#reports.shift()) {
      try {
        if ((await noteDamage(this.#cluster, found)) === 'full') this.#tellFull()
      } catch (failure) {
        this.#cluster.log.warn('Damage that a read found could not be recorded.', { ...found, ...cause(failure) })
      }
      await this.#cluster.system.turn()
    }
  }

  /** One look at some of what is known. */
  async look(): Promise<void> {
    const { system } = this.#cluster
    const rows = await this.#cluster.rows(DAMAGE)
    if (this.#next >= rows.length) {
      this.#next = 0
      const known = new Set(rows.map((row) => row['uuid']))
      for (const key of this.#tried.keys()) if (!known.has(key)) this.#tried.delete(key)
    }
    const some = rows.slice(this.#next, this.#next + LOOKED_AT_MAX)
    this.#next += LOOKED_AT_MAX
    const due: Damage[] = []
    const gone: string[] = []
    for await (const row of eachInTurns(system, some)) {
      if (this.isStopping) return
      if (!(await this.#isNeeded(row))) gone.push(row['uuid'])
      else if (this.#isDue(row)) due.push(row)
    }
    await this.#forget(...gone)
    const endMs = system.clock.elapsed() + TRYING_MS_MAX
    for (const row of due) {
      if (this.isStopping || system.clock.elapsed() >= endMs) break
      await this.#try(row)
    }
    await this.#search()
  }

  #tellFull(): void {
    this.#unkept.happened((passedOver) => {
      const details = { listed: DAMAGE_RECORDS_MAX, found: passedOver + 1 }
      this.#cluster.log.error('Reads find more damaged objects than can be listed.', details)
    })
  }

  /** Whether the record says something still: of an object, that it needs the blob; of a file, that no object needs it. */
  async #isNeeded(row: Damage): Promise<boolean> {
    const { catalog } = this.#cluster
    const [volume, blob] = [row['volume.uuid'], row['blob']]
    const volumeRow = await this.#cluster.find('storage/volumes', volume)
    if (volumeRow === undefined) return false
    if (isLoss(row['kind'])) return (await catalog.storedBlob(volume, blob)) !== undefined
    return !(await catalog.knownBlobs(volume, [blob], [placeOf(volumeRow).tree])).has(blob)
  }

  #isDue(row: Damage): boolean {
    const tried = this.#tried.get(row['uuid'])
    if (tried === undefined) return true
    const waitMs = Math.min(TRY_EVERY_MS * 2 ** (tried.times - 1), TRY_EVERY_MS_MAX)
    return this.#cluster.system.clock.elapsed() - tried.atMs >= waitMs
  }

  async #try(row: Damage): Promise<void> {
    const { catalog, system } = this.#cluster
    const [key, volume] = [row['uuid'], row['volume.uuid']]
    const times = (this.#tried.get(key)?.times ?? 0) + 1
    this.#tried.set(key, { atMs: system.clock.elapsed(), times })
    try {
      const volumeRow = await this.#cluster.find('storage/volumes', volume)
      if (volumeRow === undefined) return
      const { aggregate, tree } = placeOf(volumeRow)
      const files = { volumes: await this.#cluster.volumesOf(aggregate), tree }
      if (!isLoss(row['kind'])) {
        if (!(await isThere(files, row['blob']))) await this.#forget(key)
        return
      }
      const blob = await catalog.storedBlob(volume, row['blob'])
      if (blob === undefined) return
      if (await this.#isSound(files, blob)) await this.#forget(key)
      else await this.#repair({ row, files, blob })
    } catch (failure) {
      this.#failedFor(row, failure)
    }
  }

  #failedFor(row: Damage, failure: unknown): void {
    if (failure instanceof Unneeded || failure instanceof Stopping) return
    this.#failed.happened((passedOver) => {
      const details = { file: row['file'], ...cause(failure), others: passedOver }
      this.#cluster.log.warn('A damaged object could not be checked. It is retried.', details)
    })
  }

  readonly #pause = async (bytes: number): Promise<void> => {
    await this.#rate.spend(bytes, this.stopping)
    if (this.isStopping) throw new Stopping()
  }

  async #isSound(files: Files, blob: StoredBlob): Promise<boolean> {
    try {
      await checkBlob(files, blob, this.#pause)
      return true
    } catch (failure) {
      if (damageOf(failure) === undefined) throw failure
      return false
    }
  }

  async #forget(...keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return
    for (const key of keys) this.#tried.delete(key)
    await this.#cluster.catalog.commit(keys.map((key) => ({ do: 'remove-record', type: DAMAGE, key })))
  }

  async #repair(damaged: DamagedBlob): Promise<void> {
    const { digest } = damaged.blob
    if (digest !== undefined) {
      for await (const twin of this.#twins(damaged, digest)) if (await this.#repairFrom(damaged, twin, digest)) return
    }
    if (this.#sought.size < SOUGHT_MAX) this.#sought.set(damaged.row['uuid'], damaged)
  }

  /** One look through all blobs, for all that are damaged. */
  async #search(): Promise<void> {
    const { system } = this.#cluster
    if (this.#sought.size === 0 || system.clock.elapsed() < this.#searchAtMs) return
    const damaged = [...this.#sought.values()]
    this.#sought.clear()
    const share = new WorkShare(system, SEARCH_SHARE)
    const tries = new Map<DamagedBlob, number>()
    const found = async (one: DamagedBlob, twin: Twin) => {
      const tried = (tries.get(one) ?? 0) + 1
      tries.set(one, tried)
      // It was forgotten meanwhile, or repaired.
      if (tried > TWINS_TRIED || (await this.#cluster.find(DAMAGE, one.row['uuid'])) === undefined) return true
      try {
        const cluster = this.#cluster
        const md5 = (await digestOfDamaged(cluster, one)) ?? (await digestOfPart(cluster, one, twin))
        return md5 !== undefined && (await this.#repairFrom(one, twin, md5))
      } catch (failure) {
        this.#failedFor(one.row, failure)
        return true
      }
    }
    const pause = async () => {
      await share.rest(this.stopping)
      if (this.isStopping) throw new Stopping()
    }
    try {
      await searchTwins(this.#cluster, damaged, found, pause)
    } catch (failure) {
      if (!(failure instanceof Stopping)) throw failure
    } finally {
      this.#searchAtMs = system.clock.elapsed() + SEARCH_EVERY_MS
    }
  }

  /** Tells whether the twin is what it is taken for, and sound. */
  async #repairFrom({ row, files, blob }: DamagedBlob, { at, twin }: Twin, md5: string): Promise<boolean> {
    const reader = await at.volumes.open(at.tree, twin.blob, twin).catch(unlessDamaged)
    if (reader === undefined) return false
    try {
      const as = { label: await reader.label(), md5, ...(blob.crc === undefined ? {} : { crc: blob.crc }) }
      const { file, key = '', version = '' } = row
      const bucket = (await this.#cluster.find('protocols/s3/buckets', row['bucket.uuid'] ?? ''))?.['name'] ?? ''
      const volume = row['volume.uuid']
      const name = (await this.#cluster.find('storage/volumes', volume))?.['name'] ?? ''
      const told = { file, bucket, key, version, volume: name }
      await rewriteBlob(this.#cluster, volume, files, blob, reader, as, {
        pause: this.#pause,
        changes: [
          { do: 'remove-record', type: DAMAGE, key: row['uuid'] },
          this.#cluster.event('object.repaired', told),
        ],
      })
      this.#cluster.log.info('A damaged object was repaired from another object with the same bytes.', told)
      return true
    } catch (failure) {
      unlessDamaged(failure)
      return false
    } finally {
      await reader.close()
    }
  }

  /** Blobs with the digest and size of this one in other files: first those of its volume. */
  async *#twins({ row, blob }: DamagedBlob, digest: string): AsyncGenerator<Twin> {
    const { sizeBytes } = blob
    const volumes = await volumesFirst(this.#cluster, row['volume.uuid'])
    for await (const volume of eachInTurns(this.#cluster.system, volumes)) {
      const uuid = volume['uuid']
      const { aggregate, tree } = placeOf(volume)
      for (const twin of await this.#cluster.catalog.twins(uuid, { digest, sizeBytes }, TWINS_TRIED)) {
        if (isSameFile({ row, blob }, uuid, twin)) continue
        yield { at: { volumes: await this.#cluster.volumesOf(aggregate), tree }, twin }
      }
    }
  }
}

/** The cluster stops. */
class Stopping extends Error {}

function unlessDamaged(failure: unknown): undefined {
  if (damageOf(failure) === undefined) throw failure
}

function cause(failure: unknown): { readonly cause: string } {
  return { cause: describe(failure) }
}
