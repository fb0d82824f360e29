import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'

const TOOL = { headers: { 'user-agent': 'python-requests/2.31.0' } }
const AGGREGATES = '/api/storage/aggregates'

test('an aggregate has one plex, which is online as long as its folder is there', async () => {
  const cluster = await startTestCluster()
  const path = `${AGGREGATES}/${await cluster.uuidOf(AGGREGATES, 'aggr1')}/plexes`
  const [plex] = recordsOf((await cluster.call('GET', `${path}?fields=*`, undefined, TOOL)).body)
  assert.deepEqual([plex?.['name'], plex?.['state'], plex?.['online']], ['plex0', 'normal', true])
  assert.equal((await cluster.call('GET', `${path}/plex0`, undefined, TOOL)).body['pool'], 'pool0')
  const nowhere = await cluster.call(
    'GET',
    `${AGGREGATES}/00000000-0000-4000-8000-000000000000/plexes`,
    undefined,
    TOOL,
  )
  assert.equal(nowhere.status, 404)
  await cluster.close()
})
