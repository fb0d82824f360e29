/** A volume over real files that can be stored in less, in this process. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { aggregateOf } from '../../src/storage/aggregate-of.ts'
import { type Row, textAt } from '../../src/model/value.ts'
import type { StoredBlob } from '../../src/ports/catalog.ts'
import type { Volumes } from '../../src/ports/volumes.ts'
import { firstStart } from '../../src/resources/first-start.ts'
import { EFFICIENCY_RUNS } from '../../src/resources/storage/volumes/efficiency-runs.ts'
import { blobLabel } from '../../src/s3/objects/labels.ts'
import type { JobsCluster } from './jobs-cluster.ts'

export const CALLER = { user: 'admin', role: 'admin', from: 'test' }
const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' } as const

export interface EfficiencyVolume {
  readonly volume: string
  readonly engine: Volumes
  /** Stores an object of one blob, as a worker does; gives the blob. */
  readonly put: (key: string, bytes: Buffer) => Promise<string>
  readonly remove: (key: string) => Promise<void>
  readonly modify: (draft: Row) => Promise<void>
  /** A run from its beginning to its end. */
  readonly run: (draft: Row) => Promise<Row>
  /** What the files of all blobs take from the disk, each file once. */
  readonly diskBytes: () => number
  readonly sums: () => Promise<{ used: number; compression: number; dedupe: number }>
  /** Insists that the catalog says of each blob what is so on the disk. */
  readonly checkFiles: () => Promise<void>
}

/** The first start of a cluster whose first volume it is, unless that was before. */
export async function efficiencyVolume(open: JobsCluster, folder: string): Promise<EfficiencyVolume> {
  const { cluster, actions, jobs } = open
  await firstStart(actions, {
    adminPassword: 'a password for tests',
    accessKey: undefined,
    secretKey: undefined,
    isBare: false,
    aggregateFolder: 'aggr1',
    dataAddress: '127.0.0.1',
  })
  const svm = (await cluster.keyOfName('svm/svms', 'svm1')) ?? ''
  const volume = (await cluster.keyOfName('storage/volumes', 'vol1', svm)) ?? ''
  const engine = await cluster.volumesOf(aggregateOf(await cluster.row('storage/volumes', volume)))
  await cluster.catalog.commit([{ do: 'open-bucket', bucket: 'b', volume, limitBytes: 2 ** 40 }])
  const tree = join(folder, 'aggr1/volumes', volume, 'objects')
  const inodeOf = (blob: string) => statSync(join(tree, blob.slice(-2), blob)).ino
  let made = 0
  const ended = async (uuid: string) => {
    const job = await jobs.wait(uuid, 60_000)
    assert.equal(job['state'], 'success', JSON.stringify(job))
  }
  const sums = async () => {
    const counters = await cluster.catalog.volume(volume)
    assert.ok(counters)
    const { usedBytes: used, savedByCompressionBytes: compression, savedByDedupeBytes: dedupe } = counters
    return { used, compression, dedupe }
  }
  return {
    volume,
    engine,
    sums,
    async put(key, bytes) {
      const blob = (++made).toString(16).padStart(12, '0') + randomBytes(10).toString('hex')
      const etag = createHash('md5').update(bytes).digest('hex')
      const sizeBytes = bytes.length
      const writer = await engine.write(volume, blob)
      await writer.write(bytes)
      const { crc } = await writer.commit(
        blobLabel({ blob, bucket: 'b', key: Buffer.from(key), sizeBytes, etag, checksum, timeMs: 1 }),
      )
      const blobs = [{ blob, sizeBytes, crc }]
      const object = { version: 'null', sizeBytes, etag, modifiedMs: 1, checksum, blobs, parts: null, details: {} }
      await cluster.catalog.commit([{ do: 'put-object', bucket: 'b', key: Buffer.from(key), object }])
      return blob
    },
    async remove(key) {
      await cluster.catalog.commit([{ do: 'delete-object', bucket: 'b', key: Buffer.from(key) }])
    },
    async modify(draft) {
      const row = await cluster.row('storage/volumes', volume)
      const call = { caller: CALLER, draft, row, path: {}, args: {}, description: 'PATCH' }
      const performed = await actions.perform(cluster.behaviour('storage/volumes'), 'modify', call)
      await ended(textAt(performed.job, 'uuid'))
    },
    async run(draft) {
      const call = { caller: CALLER, draft, path: { 'volume.uuid': volume }, args: {}, description: 'POST' }
      const performed = await actions.perform(cluster.behaviour(EFFICIENCY_RUNS), 'create', call)
      await ended(textAt(performed.job, 'uuid'))
      return cluster.row(EFFICIENCY_RUNS, performed.key)
    },
    diskBytes() {
      const files = new Map<number, number>()
      for (const name of readdirSync(tree, { recursive: true, encoding: 'utf8' })) {
        const { ino, blocks } = statSync(join(tree, name))
        if (name.includes('/')) files.set(ino, blocks * 512)
      }
      return [...files.values()].reduce((sum, bytes) => sum + bytes, 0)
    },
    async checkFiles() {
      const { blobs } = await cluster.catalog.storedBlobs(volume, '', 100_000)
      const files = Map.groupBy(blobs, (one: StoredBlob) => one.group ?? one.blob)
      let storedBytes = 0
      for (const together of files.values()) {
        const inodes = new Set(together.map(({ blob }) => inodeOf(blob)))
        assert.equal(inodes.size, 1, 'blobs of a group are one file')
        const [first] = together
        const reader = await engine.open(volume, first?.blob ?? '')
        await reader.close()
        assert.equal(reader.storedBytes, first?.storedBytes)
        storedBytes += reader.storedBytes
      }
      assert.equal((await sums()).used, storedBytes)
      assert.deepEqual(new Set(await Array.fromAsync(engine.blobs(volume))), new Set(blobs.map(({ blob }) => blob)))
    },
  }
}
