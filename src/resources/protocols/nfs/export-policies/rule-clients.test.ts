import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber, recordsOf } from '../../../../../test/support/body.ts'
import { startTestCluster } from '../../../../../test/support/cluster.ts'

const TOOL = { headers: { 'user-agent': 'python-requests/2.31.0' } }
const POLICIES = '/api/protocols/nfs/export-policies'

test('clients of a rule are added and removed one by one, and a rule keeps one at least', async () => {
  const cluster = await startTestCluster()
  const rules = [{ clients: [{ match: '10.0.0.0/8' }], ro_rule: ['any'], rw_rule: ['never'] }]
  await cluster.call('POST', POLICIES, { name: 'p', svm: { name: 'svm1' }, rules }, TOOL)
  const [policy] = recordsOf((await cluster.call('GET', `${POLICIES}?name=p&fields=id`, undefined, TOOL)).body)
  const rule = `${POLICIES}/${asNumber(policy?.['id'])}/rules/1`
  const clients = async () =>
    recordsOf((await cluster.call('GET', `${rule}/clients`, undefined, TOOL)).body).map((row) => row['match'])
  assert.equal((await cluster.call('POST', `${rule}/clients`, { match: '11.0.0.0/8' }, TOOL)).status, 201)
  assert.deepEqual(await clients(), ['10.0.0.0/8', '11.0.0.0/8'])
  assert.equal((await cluster.call('POST', `${rule}/clients`, { match: '11.0.0.0/8' }, TOOL)).status, 409)
  assert.equal((await cluster.call('POST', `${rule}/clients`, { match: '300.0.0.0/8' }, TOOL)).status, 400)
  const remove = (match: string) =>
    cluster.call('DELETE', `${rule}/clients/${encodeURIComponent(match)}`, undefined, TOOL)
  assert.equal((await remove('10.0.0.0/8')).status, 200)
  assert.deepEqual((await cluster.call('GET', `${rule}?fields=clients`, undefined, TOOL)).body['clients'], [
    { match: '11.0.0.0/8' },
  ])
  assert.equal((await remove('11.0.0.0/8')).status, 400)
  assert.equal((await remove('10.0.0.0/8')).status, 404)
  assert.equal((await cluster.call('POST', `${POLICIES}/1/rules/9/clients`, { match: '1.2.3.4' }, TOOL)).status, 404)
  await cluster.close()
})
