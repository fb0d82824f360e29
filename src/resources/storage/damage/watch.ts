/**
 * Looks after what is known to be damaged: keeps what reads report, repairs it where a twin has the same bytes, and
 * forgets what is sound again or not needed any more.
 */
import type { Cluster } from '../../../core/cluster.ts'
import { DAMAGE, isLoss, noteDamage, type FoundDamage } from '../../../core/damage.ts'
import { describe } from '../../../core/jobs.ts'
import { Rounds } from '../../../core/rounds.ts'
import { placeOf } from '../../../core/tree-of.ts'
import { type Row, textAt } from '../../../model/value.ts'
import type { StoredBlob } from '../../../ports/catalog.ts'
import { checkBlob, damageOf, type Files } from './check-blob.ts'
import { rewriteBlob, Unneeded } from './rewrite.ts'

const LOOK_EVERY_MS = 2000
/** To look at a damaged blob is to read it, so it is not done more often. */
const TRY_EVERY_MS = 600_000
/** Reports that wait to be kept. More than these are found again by the next read. */
const REPORTS_MAX = 1000
/** Twins tried for one blob. */
const TWINS_TRIED = 4
/** Volumes searched for twins of one blob. */
const VOLUMES_SEARCHED = 1000

export class DamageWatch {
  readonly #cluster: Cluster
  readonly #rounds: Rounds
  readonly #reports: FoundDamage[] = []
  #keeping: Promise<void> = Promise.resolve()
  /** When each was tried last, by the key of its record. */
  readonly #triedMs = new Map<string, number>()

  constructor(cluster: Cluster) {
    this.#cluster = cluster
    const { system, log } = cluster
    this.#rounds = new Rounds(system.clock, {
      act: () => this.look(),
      failed: (failure) => log.warn('Damaged objects were not looked after. That is tried again.', cause(failure)),
      restMs: () => LOOK_EVERY_MS,
    })
  }

  start(): void {
    this.#rounds.start()
  }

  async stop(): Promise<void> {
    await this.#rounds.stop()
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
        await noteDamage(this.#cluster, found)
      } catch (failure) {
        this.#cluster.log.warn('Damage that a read found was not kept.', { ...found, ...cause(failure) })
      }
    }
  }

  /** One look at all that is known. */
  async look(): Promise<void> {
    const rows = await this.#cluster.rows(DAMAGE)
    const known = new Set(rows.map((row) => textAt(row, 'uuid')))
    for (const key of this.#triedMs.keys()) if (!known.has(key)) this.#triedMs.delete(key)
    for (const row of rows) {
      if (this.#rounds.isStopping) return
      if (isLoss(row['kind'])) await this.#lookAt(row)
    }
  }

  async #lookAt(row: Row): Promise<void> {
    const { catalog } = this.#cluster
    const [key, volume] = [textAt(row, 'uuid'), textAt(row, 'volume.uuid')]
    const volumeRow = await this.#cluster.find('storage/volumes', volume)
    const blob = volumeRow === undefined ? undefined : await catalog.storedBlob(volume, textAt(row, 'blob'))
    if (volumeRow === undefined || blob === undefined) return this.#forget(key)
    const nowMs = this.#cluster.system.clock.elapsed()
    if (nowMs - (this.#triedMs.get(key) ?? -Infinity) < TRY_EVERY_MS) return
    this.#triedMs.set(key, nowMs)
    const { aggregate, tree } = placeOf(volumeRow)
    const files = { volumes: await this.#cluster.volumesOf(aggregate), tree }
    try {
      if (await isSound(files, blob)) await this.#forget(key)
      else await this.#repair(row, volumeRow, files, blob)
    } catch (failure) {
      if (!(failure instanceof Unneeded)) {
        this.#cluster.log.warn('A damaged object was not repaired. That is tried again.', {
          file: row['file'],
          ...cause(failure),
        })
      }
    }
  }

  async #forget(key: string): Promise<void> {
    await this.#cluster.catalog.commit([{ do: 'remove-record', type: DAMAGE, key }])
  }

  async #repair(row: Row, volumeRow: Row, files: Files, blob: StoredBlob): Promise<void> {
    const volume = textAt(row, 'volume.uuid')
    for await (const { at, twin } of this.#twins(volume, blob)) {
      const reader = await at.volumes.open(at.tree, twin.blob, twin).catch(unlessDamaged)
      if (reader === undefined) continue
      try {
        const { digest: md5 = '' } = blob
        const as = { label: await reader.label(), md5, ...(blob.crc === undefined ? {} : { crc: blob.crc }) }
        const { file = '', key = '', version = '' } = row
        const bucket = (await this.#cluster.find('protocols/s3/buckets', textAt(row, 'bucket.uuid')))?.['name'] ?? ''
        const told = { file, bucket, key, version, volume: volumeRow['name'] ?? '' }
        await rewriteBlob(this.#cluster, volume, files, blob, reader, as, {
          pause: () => this.#cluster.system.turn(),
          changes: [
            { do: 'remove-record', type: DAMAGE, key: textAt(row, 'uuid') },
            this.#cluster.event('object.repaired', told),
          ],
        })
        this.#cluster.log.info('A damaged object was repaired with the bytes of a twin.', told)
        return
      } catch (failure) {
        unlessDamaged(failure)
      } finally {
        await reader.close()
      }
    }
  }

  /** Blobs with the digest and size of this one in other files: first those of its volume. */
  async *#twins(volume: string, blob: StoredBlob): AsyncGenerator<{ readonly at: Files; readonly twin: StoredBlob }> {
    const { digest, sizeBytes } = blob
    if (digest === undefined) return
    const rows = (await this.#cluster.rows('storage/volumes')).slice(0, VOLUMES_SEARCHED)
    const own = rows.filter((row) => row['uuid'] === volume)
    for (const row of [...own, ...rows.filter((row) => row['uuid'] !== volume)]) {
      const uuid = textAt(row, 'uuid')
      const { aggregate, tree } = placeOf(row)
      const twins = await this.#cluster.catalog.twins(uuid, { digest, sizeBytes }, TWINS_TRIED)
      for (const twin of twins) {
        const isSameFile =
          twin.blob === blob.blob || (uuid === volume && twin.group !== undefined && twin.group === blob.group)
        if (!isSameFile) yield { at: { volumes: await this.#cluster.volumesOf(aggregate), tree }, twin }
      }
    }
  }
}

async function isSound(files: Files, blob: StoredBlob): Promise<boolean> {
  try {
    await checkBlob(files, blob, () => Promise.resolve())
    return true
  } catch (failure) {
    if (damageOf(failure) === undefined) throw failure
    return false
  }
}

function unlessDamaged(failure: unknown): undefined {
  if (damageOf(failure) === undefined) throw failure
}

function cause(failure: unknown): { readonly cause: string } {
  return { cause: describe(failure) }
}
