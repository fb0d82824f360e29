import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText } from '../../../test/support/body.ts'
import { startTestCluster } from '../../../test/support/cluster.ts'
import { addBuiltIns } from '../first-start.ts'
import { codeOf } from '../../model/failure.ts'

const IPSPACES = '/api/network/ipspaces'
const ROUTES = '/api/network/ip/routes'
const SVMS = '/api/svm/svms'

test('an SVM is in the IPspace that it was made in, which stays as long as it has SVMs', async () => {
  const cluster = await startTestCluster()
  assert.equal((await cluster.call('POST', IPSPACES, { name: 'tenants' })).status, 201)
  const space = await cluster.uuidOf(IPSPACES, 'tenants')
  assert.equal((await cluster.call('POST', SVMS, { name: 's', ipspace: 'tenants' })).status, 201)
  const svm = await cluster.uuidOf(SVMS, 's')
  const read = async () => (await cluster.call('GET', `${SVMS}/${svm}?fields=ipspace`)).body['ipspace']
  assert.deepEqual([(await read())?.['name'], (await read())?.['uuid']], ['tenants', space])

  const refused = await cluster.call('DELETE', `${IPSPACES}/${space}`)
  assert.deepEqual([refused.status, refused.body['error']?.['code']], [409, codeOf('ipspaceInUse')])
  assert.match(asText(refused.body['error']?.['message']), /The IPspace has the SVM "s"/)
  assert.equal((await cluster.call('PATCH', `${IPSPACES}/${space}`, { name: 'guests' })).status, 200)
  assert.equal((await read())?.['name'], 'guests')

  assert.equal((await cluster.call('DELETE', `${SVMS}/${svm}`)).status, 200)
  assert.equal((await cluster.call('DELETE', `${IPSPACES}/${space}`)).status, 200)
  await cluster.close()
})

test('an SVM is in the IPspace Default unless it names another, and in none that is not there', async () => {
  const cluster = await startTestCluster()
  const made = await cluster.call('POST', `${SVMS}?return_records=true`, { name: 's', ipspace: {} })
  assert.equal(made.status, 201)
  assert.equal(made.body['records']?.[0]?.['ipspace']?.['name'], 'Default')
  const refused = await cluster.call('POST', SVMS, { name: 't', ipspace: 'nowhere' })
  assert.deepEqual([refused.status, refused.body['error']?.['target']], [422, 'ipspace.name'])
  await cluster.close()
})

test('routes of an SVM are in its IPspace', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', IPSPACES, { name: 'tenants' })
  await cluster.call('POST', SVMS, { name: 's', ipspace: 'tenants' })
  const made = await cluster.call('POST', `${ROUTES}?return_records=true`, { svm: 's', gateway: '192.0.2.1' })
  assert.equal(made.body['records']?.[0]?.['ipspace']?.['name'], 'tenants')
  const refused = await cluster.call('POST', ROUTES, { svm: 's', gateway: '192.0.2.2', ipspace: 'Default' })
  assert.deepEqual([refused.status, refused.body['error']?.['target']], [422, 'ipspace'])
  await cluster.close()
})

test('an SVM from before there was a choice of IPspaces is in Default after the next start', async () => {
  const cluster = await startTestCluster()
  const { catalog } = cluster.cluster
  const svm = await cluster.uuidOf(SVMS, 'svm1')
  const row = await cluster.cluster.row('svm/svms', svm)
  const { 'ipspace.uuid': _, ...before } = row
  await catalog.commit([
    { do: 'put-record', type: 'svm/svms', key: svm, parent: '', body: { ...before, 'ipspace.name': 'Default' } },
  ])
  await addBuiltIns(cluster.cluster)
  const { body } = await cluster.call('GET', `${SVMS}/${svm}?fields=ipspace`)
  assert.equal(body['ipspace']?.['uuid'], await cluster.uuidOf(IPSPACES, 'Default'))
  await cluster.close()
})
