import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'

const KEYS = '/api/cluster/ntp/keys'
const SERVERS = '/api/cluster/ntp/servers'
const VALUE = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }

test('a key of time servers is kept, and its value never shown', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const key = { id: 10, digest_type: 'sha1', value: VALUE }
  assert.equal((await cluster.call('POST', KEYS, key, TOOL)).status, 201)
  assert.equal((await cluster.call('POST', KEYS, key, TOOL)).status, 409)
  const { body } = await cluster.call('GET', `${KEYS}?id=10&fields=id,digest_type,value`, undefined, TOOL)
  const [row] = recordsOf(body)
  assert.deepEqual([row?.['id'], row?.['digest_type'], row?.['value']], [10, 'sha1', undefined])
  assert.ok(!JSON.stringify(await cluster.cluster.rows('cluster/ntp/keys')).includes(VALUE))
  assert.equal((await cluster.call('PATCH', `${KEYS}/10`, { value: VALUE.toUpperCase() })).status, 200)
  for (const odd of [{ id: 0 }, { id: 65_536 }, { digest_type: 'md5' }, { value: 'abc' }, { value: 'g'.repeat(40) }]) {
    const { status, body: answer } = await cluster.call('POST', KEYS, { ...key, id: 11, ...odd })
    assert.equal(status, 422, JSON.stringify(odd))
    assert.ok(!JSON.stringify(answer).includes(odd.value ?? VALUE))
  }
  await cluster.close()
})

test('a server has a key that is there, which then is not deleted', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const server = { server: 'time.example.com', version: '4', key: { id: 10 } }
  assert.equal((await cluster.call('POST', SERVERS, server)).status, 422)
  await cluster.call('POST', KEYS, { id: 10, digest_type: 'sha1', value: VALUE })
  assert.equal((await cluster.call('POST', SERVERS, server)).status, 201)
  const path = `${SERVERS}/time.example.com`
  assert.equal((await cluster.call('PATCH', path, { key: { id: 10 } })).status, 200)
  assert.deepEqual((await cluster.call('GET', path)).body['key'], { id: 10 })
  assert.equal((await cluster.call('DELETE', `${KEYS}/10`)).status, 409)
  await cluster.call('DELETE', path)
  assert.equal((await cluster.call('DELETE', `${KEYS}/10`)).status, 200)
  await cluster.close()
})
