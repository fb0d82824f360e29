/** What the catalog says that a volume holds, read beside a running product. */
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DirectoryVolumes } from '../../src/engines/directory/volumes.ts'
import { openSqliteCatalog } from '../../src/engines/sqlite/catalog.ts'
import type { Catalog, ObjectRow, VersionPosition } from '../../src/ports/catalog.ts'
import type { Volumes } from '../../src/ports/volumes.ts'
import type { Product } from '../support/product.ts'

export class Holds {
  readonly #catalog: Catalog
  readonly #volumes: Volumes

  private constructor(catalog: Catalog, volumes: Volumes) {
    this.#catalog = catalog
    this.#volumes = volumes
  }

  static async open(product: Product): Promise<Holds> {
    const [socket = ''] = await readdir(join(product.folder, 'run'))
    const catalog = openSqliteCatalog({
      file: join(product.folder, 'catalog', 'catalog.db'),
      commit: { socket: join(product.folder, 'run', socket) },
    })
    return new Holds(catalog, new DirectoryVolumes(join(product.folder, 'aggr1')))
  }

  async bucket(name: string): Promise<{ uuid: string; volume: string }> {
    const records = await this.#catalog.records('protocols/s3/buckets')
    const found = records.find((record) => record.body['name'] === name)
    if (found === undefined) throw new Error(`There is no bucket ${name}.`)
    return { uuid: found.key, volume: found.body['volume.uuid'] as string }
  }

  /** The objects of a bucket as a snapshot shows them. */
  async rowsAt(bucket: string, volume: string, snapshot: string): Promise<ObjectRow[]> {
    const row = (await this.#catalog.snapshots(volume)).find((each) => each.snapshot === snapshot)
    if (row === undefined) throw new Error('The snapshot is not there.')
    const rows: ObjectRow[] = []
    let after: VersionPosition | undefined
    do {
      const page = await this.#catalog.scan(bucket, after, 1000, { epoch: row.epoch })
      rows.push(...page.rows.filter(({ isCurrent, isMarker }) => isCurrent && !isMarker))
      after = page.next
    } while (after !== undefined)
    return rows
  }

  /** The SHA-256 of an object, from its blobs. */
  async sha256(volume: string, row: ObjectRow): Promise<string> {
    const hash = createHash('sha256')
    for (const { blob } of row.blobs) {
      const reader = await this.#volumes.open(volume, blob)
      try {
        for (let at = 0; at < reader.sizeBytes; at += 2 ** 20) {
          hash.update(await reader.read(at, Math.min(2 ** 20, reader.sizeBytes - at)))
        }
      } finally {
        await reader.close()
      }
    }
    return hash.digest('hex')
  }

  /** Files of a volume that the catalog does not know: what a crash left. */
  async strangers(volume: string): Promise<number> {
    const blobs = await Array.fromAsync(this.#volumes.blobs(volume))
    let strangers = 0
    for (let at = 0; at < blobs.length; at += 500) {
      const some = blobs.slice(at, at + 500)
      strangers += some.length - (await this.#catalog.knownBlobs(volume, some)).size
    }
    return strangers
  }

  close(): Promise<void> {
    return this.#catalog.close()
  }
}
