import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'

const TOOL = { headers: { 'user-agent': 'python-requests/2.31.0' } }
const POLICIES = '/api/network/ip/service-policies'

test('each SVM has the built-in service policies, which keep their UUIDs and cannot be changed', async () => {
  const cluster = await startTestCluster()
  const asked = `${POLICIES}/?name=default-data-files&svm.name=svm1&fields=uuid,name,services,svm.name,ipspace.name`
  const look = async () => recordsOf((await cluster.call('GET', asked, undefined, TOOL)).body)
  const [policy] = await look()
  assert.equal((await look())[0]?.['uuid'], policy?.['uuid'])
  assert.deepEqual([policy?.['svm']?.['name'], policy?.['ipspace']?.['name']], ['svm1', 'Default'])
  assert.match(JSON.stringify(policy?.['services']), /"data_nfs"/)
  const one = await cluster.call('GET', `${POLICIES}/${asText(policy?.['uuid'])}`, undefined, TOOL)
  assert.equal(one.body['name'], 'default-data-files')
  assert.equal((await cluster.call('POST', POLICIES, { name: 'own' }, TOOL)).status, 405)
  await cluster.close()
})
