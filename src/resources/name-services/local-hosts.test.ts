import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { startTestCluster } from '../../../test/support/cluster.ts'

const TOOL = { headers: { 'user-agent': 'python-requests/2.31.0' } }
const HOSTS = '/api/name-services/local-hosts'

test('local hosts are records of an SVM or of the cluster, one for each address, and go with their SVM', async () => {
  const cluster = await startTestCluster({ isBare: true })
  await cluster.call('POST', '/api/svm/svms?return_timeout=15', { name: 'svm1' })
  const host = { address: '192.0.2.9', hostname: 'one.example.com', aliases: ['one'], owner: { name: 'svm1' } }
  assert.equal((await cluster.call('POST', HOSTS, host, TOOL)).status, 201)
  const again = await cluster.call('POST', HOSTS, { ...host, hostname: 'other' }, TOOL)
  assert.deepEqual([again.status, again.body['error']?.['code']], [409, '1'])
  assert.equal((await cluster.call('POST', HOSTS, { address: '192.0.2.9', hostname: 'of-cluster' }, TOOL)).status, 201)
  const asked = `${HOSTS}?owner.name=svm1&address=192.0.2.9&fields=address,hostname,owner.name,aliases,scope`
  const [found] = recordsOf((await cluster.call('GET', asked, undefined, TOOL)).body)
  assert.deepEqual(
    [found?.['hostname'], found?.['aliases'], found?.['owner']?.['name'], found?.['scope']],
    ['one.example.com', ['one'], 'svm1', 'svm'],
  )
  const path = `${HOSTS}/${asText(found?.['owner']?.['uuid'])}/192.0.2.9`
  assert.equal((await cluster.call('PATCH', path, { hostname: 'two.example.com' }, TOOL)).status, 200)
  assert.equal((await cluster.call('GET', path, undefined, TOOL)).body['hostname'], 'two.example.com')
  const refused = await cluster.call('POST', HOSTS, { address: 'nowhere', hostname: 'x' }, TOOL)
  assert.deepEqual([refused.status, refused.body['error']?.['target']], [400, 'address'])
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  assert.equal((await cluster.call('DELETE', `/api/svm/svms/${svm}?return_timeout=15`, undefined, TOOL)).status, 200)
  const left = recordsOf((await cluster.call('GET', `${HOSTS}?fields=hostname`, undefined, TOOL)).body)
  assert.deepEqual(
    left.map((row) => row['hostname']),
    ['of-cluster'],
  )
  await cluster.close()
})
