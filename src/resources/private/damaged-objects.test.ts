import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { noteDamage } from '../../storage/damage.ts'

const DAMAGED = '/api/private/damaged-objects'
let t: TestCluster
before(async () => {
  t = await startTestCluster()
})
after(() => t.close())

const health = async () => (await t.call('GET', '/api/cluster?fields=health')).body['health']

test('damaged objects are listed by what is known of them, and the cluster is degraded until they are sound', async () => {
  const volume = await t.uuidOf('/api/storage/volumes', 'vol1')
  const object = { version: 'null', sizeBytes: 3, etag: 'e', modifiedMs: 1, parts: null, details: {} }
  const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: '' } as const
  const blobs = [{ blob: 'lost', sizeBytes: 3, crc: 1 }]
  await t.cluster.catalog.commit([
    { do: 'open-bucket', bucket: 'b', volume, limitBytes: 1000 },
    { do: 'put-object', bucket: 'b', key: Buffer.from('k'), object: { ...object, checksum, blobs } },
  ])
  assert.equal(await health(), 'ok')
  const found = { volume, blob: 'lost', kind: 'missing', foundBy: 'read', message: 'It is not there.' } as const
  assert.equal(await noteDamage(t.cluster, { ...found, object: { bucket: 'b', key: 'k' } }), 'noted')
  assert.equal(await health(), 'degraded')
  const { body } = await t.call('GET', `${DAMAGED}?fields=*&kind=missing&volume.name=vol1`)
  const [record] = recordsOf(body)
  assert.deepEqual([record?.['key'], record?.['blob'], record?.['message']], ['k', 'lost', 'It is not there.'])
  const { status } = await t.call('DELETE', `${DAMAGED}/${asText(record?.['uuid'])}`)
  assert.equal(status, 200)
  assert.equal(await health(), 'ok')
})
