import assert from 'node:assert/strict'
import { asText, recordsOf, type Body } from './body.ts'
import { startTestCluster, type TestCluster, type TestClusterOptions } from './cluster.ts'
import { leftovers } from './leftovers.ts'
import { RecoveryQueueWatch } from '../../src/background/recovery-queue-watch.ts'
import { removeOwedTrees } from '../../src/storage/removed-trees.ts'

export const VOLUMES = '/api/storage/volumes'
export const QUEUE = '/api/private/cli/volume/recovery-queue'

/** A cluster with what tests of deleted volumes do to it. */
export class Bench {
  readonly cluster: TestCluster
  readonly watch: RecoveryQueueWatch

  constructor(cluster: TestCluster) {
    this.cluster = cluster
    this.watch = new RecoveryQueueWatch(cluster.cluster)
  }

  async ask(method: string, path: string, body?: unknown, status = method === 'POST' ? 201 : 200): Promise<Body> {
    const answered = await this.cluster.call(method, path, body)
    assert.equal(answered.status, status, `${method} ${path}: ${JSON.stringify(answered.body)}`)
    return answered.body
  }

  async make(name: string, more: object = {}): Promise<string> {
    await this.ask('POST', VOLUMES, { name, svm: 'svm1', size: '1g', 'guarantee.type': 'none', ...more })
    return this.cluster.uuidOf(VOLUMES, name)
  }

  async drop(uuid: string, query = ''): Promise<void> {
    await this.ask('DELETE', `${VOLUMES}/${uuid}${query}`)
  }

  async queue(): Promise<readonly Body[]> {
    return recordsOf(await this.ask('GET', `${QUEUE}?fields=**`))
  }

  /** The names before they were deleted. */
  async queued(): Promise<string[]> {
    return (await this.queue()).map((row) => asText(row['volume']).replace(/_\d+$/, '')).toSorted()
  }

  async recover(uuid: string, more: object = {}, status = 201): Promise<Body> {
    const row = (await this.queue()).find((one) => asText(one['uuid']) === uuid)
    return this.ask('POST', `${QUEUE}/recover`, { vserver: 'svm1', volume: row?.['volume'], ...more }, status)
  }

  async pass(ms: number): Promise<void> {
    this.cluster.clock.aheadMs += ms
    await this.watch.look()
  }

  /** Objects that snapshots alone hold: what can still lie in a volume without buckets. */
  async hold(volume: string, bytes: number): Promise<void> {
    const key = Buffer.from('k')
    const bucket = `bucket of ${volume}`
    const object = {
      version: 'null',
      sizeBytes: bytes,
      etag: 'e',
      modifiedMs: 1,
      checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' },
      blobs: [{ blob: '0'.repeat(32), sizeBytes: bytes }],
      parts: null,
      details: {},
    } as const
    const { catalog } = this.cluster.cluster
    await catalog.commit([
      { do: 'open-bucket', bucket, volume, limitBytes: bytes },
      { do: 'put-object', bucket, key, object },
    ])
    await this.ask('POST', `${VOLUMES}/${volume}/snapshots`, { name: 'holding' })
    await catalog.commit([
      { do: 'delete-object', bucket, key },
      { do: 'close-bucket', bucket },
    ])
  }

  async left(): Promise<string[]> {
    await removeOwedTrees(this.cluster.cluster, new AbortController().signal)
    return leftovers(this.cluster.cluster, 'nowhere')
  }

  async events(): Promise<[string, unknown][]> {
    const { body } = await this.cluster.call('GET', '/api/support/ems/events?fields=**')
    return recordsOf(body).map((event) => [asText(event['message']?.['name']), event['parameters']])
  }
}

export async function begin(options: TestClusterOptions = {}): Promise<Bench> {
  return new Bench(await startTestCluster(options))
}
