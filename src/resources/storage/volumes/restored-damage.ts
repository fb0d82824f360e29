/**
 * What is known to be damaged of what a restore has brought back. A restore moves rows and reads no bytes: damage that no
 * read and no scrub has met before is met by the next one.
 */
import type { Cluster } from '../../../core/cluster.ts'
import type { Work } from '../../../core/verb.ts'
import { DAMAGE, isLoss, noteDamage } from '../../../storage/damage.ts'
import type { Damage } from '../../../records/rows.ts'
import type { ObjectRow, VersionPosition } from '../../../ports/catalog.ts'

const BUCKETS = 'protocols/s3/buckets'
/** Rows read at a time. */
const PAGE = 500
/** Characters of a key in a message. */
const SHOWN_MAX = 200

/** A volume, or of one of its buckets a key, or the keys with a prefix. */
export interface RestoredPart {
  readonly volume: string
  readonly bucket?: string
  readonly key?: string
  readonly prefix?: string
}

/** Lets the record of the job tell of it. Where no damage is known, that costs next to nothing. */
export async function concludeWithDamage(cluster: Cluster, work: Pick<Work, 'conclude'>, part: RestoredPart) {
  const told = await restoredDamage(cluster, part)
  if (told !== undefined) work.conclude(told)
}

async function restoredDamage(cluster: Cluster, part: RestoredPart): Promise<string | undefined> {
  const records = (await cluster.rows(DAMAGE, part.volume)).filter((row) => isLoss(row['kind']))
  if (records.length === 0) return undefined
  const known = new Map(records.map((row) => [row['blob'], row]))
  let damaged = 0
  let first = ''
  for await (const [bucket, row] of rowsOf(cluster, part)) {
    const { key: bytes, version, blobs } = row
    const losses = blobs.map(({ blob }) => known.get(blob)).filter((one) => one !== undefined)
    if (losses.length === 0) continue
    const key = Buffer.from(bytes).toString()
    damaged++
    if (first === '') first = `${(await cluster.find(BUCKETS, bucket))?.['name'] ?? bucket}/${key}`
    for (const loss of losses) await name(cluster, loss, { bucket, key, version })
  }
  if (damaged === 0) return undefined
  const shown = first.length > SHOWN_MAX ? `${first.slice(0, SHOWN_MAX)}…` : first
  const told =
    damaged === 1
      ? `1 restored object is damaged: ${shown}.`
      : `${damaged} restored objects are damaged, such as ${shown}.`
  return `The snapshot was restored. ${told} Damaged objects are listed at /private/damaged-objects.`
}

/** A scrub does not name an object that only snapshots had. */
async function name(cluster: Cluster, loss: Damage, object: { bucket: string; key: string; version: string }) {
  if (loss['key'] !== undefined) return
  const { blob, kind, message } = loss
  await noteDamage(cluster, { volume: loss['volume.uuid'], blob, kind, message, foundBy: loss['found_by'], object })
}

async function* rowsOf(cluster: Cluster, part: RestoredPart): AsyncGenerator<readonly [string, ObjectRow]> {
  const { catalog, system } = cluster
  const { volume, bucket: only, key, prefix = '' } = part
  const buckets = only === undefined ? await catalog.records(BUCKETS, { parent: volume }) : [{ key: only }]
  for (const { key: bucket } of buckets) {
    const start = Buffer.from(key ?? prefix)
    const named = start.length === 0 ? undefined : await catalog.object(bucket, start)
    if (named !== undefined) yield [bucket, named]
    if (key !== undefined) continue
    let after: VersionPosition | undefined = start.length === 0 ? undefined : { key: start }
    do {
      const page = await catalog.scan(bucket, after, PAGE)
      for (const row of page.rows) {
        if (!Buffer.from(row.key).subarray(0, start.length).equals(start)) return
        yield [bucket, row]
      }
      after = page.next
      // Others get their turn between two pages.
      await system.clock.sleep(1)
    } while (after !== undefined)
  }
}
