import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestCluster } from '../../../test/support/cluster.ts'

test('fields in the query of a change are conditions: what does not have them is not there', async () => {
  const cluster = await startTestCluster()
  const volume = `/api/storage/volumes/${await cluster.uuidOf('/api/storage/volumes', 'vol1')}`
  const change = (query: string) => cluster.call('PATCH', `${volume}?${query}`, { comment: query })
  assert.equal((await change('name=vol1&svm.name=svm1&return_timeout=15')).status, 200)
  for (const query of ['name=vol2', 'svm.name=svm2', 'name=vol1&svm.name=!svm1']) {
    const { status, body } = await change(query)
    assert.deepEqual([status, body['error']?.['code']], [404, 4], query)
  }
  assert.deepEqual((await change('nothing=1')).body['error']?.['target'], 'nothing')
  assert.equal((await cluster.call('DELETE', `${volume}?name=vol2`)).status, 404)
  assert.equal((await cluster.call('GET', volume)).body['comment'], 'name=vol1&svm.name=svm1&return_timeout=15')
  await cluster.close()
})
