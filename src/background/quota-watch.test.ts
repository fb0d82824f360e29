import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../test/support/body.ts'
import { startTestCluster } from '../../test/support/cluster.ts'
import { bytes, draft, put } from '../ports/catalog/fixtures.suite.ts'
import { QuotaWatch } from './quota-watch.ts'
import { QUOTA_NOTES } from '../records/quota-notes.ts'

const VOLUMES = '/api/storage/volumes'
const RULES = '/api/storage/quota/rules'
const KB = 1024

async function watched() {
  const cluster = await startTestCluster()
  await cluster.call('POST', VOLUMES, { name: 'v1', svm: 'svm1', size: '64m', guarantee: { type: 'none' } })
  const volume = await cluster.uuidOf(VOLUMES, 'v1')
  const { catalog } = cluster.cluster
  await catalog.commit([{ do: 'open-bucket', bucket: 'b', volume, limitBytes: 2 ** 50 }])
  const rule = await cluster.call('POST', RULES, {
    svm: 'svm1',
    volume: 'v1',
    type: 'user',
    users: [{ name: 'anna' }],
    space: { soft_limit: 100 * KB },
    files: { soft_limit: 1 },
  })
  assert.equal(rule.status, 201)
  await cluster.call('PATCH', `${VOLUMES}/${volume}`, { quota: { enabled: true } })
  let blob = 0
  let last = 0
  return {
    cluster,
    volume,
    rule: `${RULES}/${asText(recordsOf(rule.body)[0]?.['uuid'])}`,
    watch: new QuotaWatch(cluster.cluster),
    write: (key: string, sizeBytes: number) =>
      catalog.commit([put('b', key, draft(`b${++blob}`, sizeBytes, { owner: 'anna' }))]),
    remove: (key: string) => catalog.commit([{ do: 'delete-object', bucket: 'b', key: bytes(key) }]),
    notes: async () => (await catalog.records(QUOTA_NOTES)).length,
    /** The events about quotas since the last call, oldest first. */
    told: async () => {
      const fresh = (await catalog.log('events', { limit: 1000 })).filter(({ id }) => id > last).toReversed()
      last = fresh.at(-1)?.id ?? last
      const quotas = fresh.filter(({ body }) => asName(body['name']).startsWith('quota.'))
      return quotas.map(({ body }) => `${asName(body['name'])} ${asName(body['volume'])} ${asName(body['limit'])}`)
    },
  }
}

const asName = (value: unknown): string => (typeof value === 'string' ? value : '')

test('crossing a soft limit is told once, and so is what is below it again', async () => {
  const { cluster, watch, write, remove, told, notes } = await watched()
  await write('a', 100 * KB)
  await watch.look()
  assert.deepEqual(await told(), [], 'At the limit nothing is said.')
  await write('b', 1)
  await watch.look()
  await watch.look()
  assert.deepEqual(await told(), ['quota.soft_limit.exceeded v1 space', 'quota.soft_limit.exceeded v1 files'])
  await write('a', 99 * KB)
  await watch.look()
  assert.deepEqual(await told(), [], 'It is not far enough below.')
  await write('a', 98 * KB - 1)
  await watch.look()
  assert.deepEqual(await told(), ['quota.soft_limit.back v1 space'])
  await remove('b')
  await watch.look()
  assert.deepEqual(await told(), ['quota.soft_limit.back v1 files'])
  assert.equal(await notes(), 0)
  await cluster.close()
})

test('what was told is not told again after a restart, and a note whose rule went goes without a word', async () => {
  const { cluster, watch, rule, write, told, notes } = await watched()
  await write('a', 101 * KB)
  await watch.look()
  assert.deepEqual(await told(), ['quota.soft_limit.exceeded v1 space'])
  const next = new QuotaWatch(cluster.cluster)
  await next.look()
  assert.deepEqual(await told(), [])
  assert.equal(await notes(), 1)
  assert.equal((await cluster.call('DELETE', rule)).status, 200)
  await next.look()
  assert.equal(await notes(), 0)
  assert.deepEqual(await told(), [])
  await cluster.close()
})

test('a volume that is deleted takes the notes with it', async () => {
  const { cluster, volume, watch, write, remove, notes } = await watched()
  await write('a', 101 * KB)
  await watch.look()
  assert.equal(await notes(), 1)
  await remove('a')
  await cluster.cluster.catalog.commit([{ do: 'close-bucket', bucket: 'b' }])
  assert.equal((await cluster.call('DELETE', `${VOLUMES}/${volume}`)).status, 200)
  assert.equal(await notes(), 0)
  await watch.look()
  await cluster.close()
})
