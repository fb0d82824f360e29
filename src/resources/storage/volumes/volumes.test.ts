import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'

const VOLUMES = '/api/storage/volumes'

test('a data volume of an object store server is not deleted before it is taken off the server', async () => {
  const cluster = await startTestCluster()
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  const volume = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'vol1')}`
  assert.equal((await cluster.call('DELETE', volume)).status, 409)
  assert.equal((await cluster.call('PATCH', `/api/protocols/s3/services/${svm}`, { data_volumes: [] })).status, 200)
  assert.equal((await cluster.call('DELETE', volume)).status, 200)
  await cluster.close()
})

test('the root volume of an object store server is not deleted', async () => {
  const cluster = await startTestCluster()
  const root = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'svm1_s3_root')}`
  assert.equal((await cluster.call('DELETE', root)).status, 409)
  await cluster.close()
})

test('a guarantee is given only when the aggregate has the space, also to several at once', async () => {
  const cluster = await startTestCluster()
  const available = async () => {
    const { body } = await cluster.call('GET', '/api/storage/aggregates?fields=space.block_storage.available')
    return asNumber(recordsOf(body)[0]?.['space']?.['block_storage']?.['available'])
  }
  const whole = await available()
  const half = Math.floor(whole / 3)
  const made = await Promise.all(
    ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) =>
      cluster.call('POST', VOLUMES, {
        name,
        svm: 'svm1',
        size: Math.min(half, 300 * 2 ** 40),
        guarantee: { type: 'volume' },
      }),
    ),
  )
  const given = made.filter(({ status }) => status === 201).length * Math.min(half, 300 * 2 ** 40)
  assert.ok(given > 0 && given <= whole)
  assert.equal(await available(), whole - given)
  for (const { status, body } of made) {
    if (status !== 201) assert.deepEqual([status, body['error']?.['target']], [422, 'size'])
  }
  await cluster.close()
})

test('a thin volume takes nothing of the aggregate, and a guarantee that is given up is given back', async () => {
  const cluster = await startTestCluster()
  const footprint = async (path: string) =>
    asNumber((await cluster.call('GET', `${path}?fields=space.footprint`)).body['space']?.['footprint'])
  await cluster.call('POST', VOLUMES, { name: 'v1', svm: 'svm1', size: '1g' })
  const path = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'v1')}`
  assert.equal(await footprint(path), 2 ** 30)
  assert.equal((await cluster.call('PATCH', path, { guarantee: { type: 'none' } })).status, 200)
  assert.equal(await footprint(path), 0)
  await cluster.close()
})

test('a volume cannot be made in two aggregates, nor in one that is not there', async () => {
  const cluster = await startTestCluster()
  const create = (aggregates: unknown) =>
    cluster.call('POST', VOLUMES, { name: 'v1', svm: 'svm1', size: '1g', aggregates })
  assert.equal((await create([{ name: 'aggr1' }, { name: 'aggr1' }])).status, 422)
  const nowhere = await create([{ name: 'aggr9' }])
  assert.deepEqual([nowhere.status, nowhere.body['error']?.['target']], [422, 'aggregates'])
  assert.equal((await create(['aggr1'])).status, 201)
  await cluster.close()
})
