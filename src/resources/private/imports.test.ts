import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { basic, startTestCluster } from '../../../test/support/cluster.ts'

const IMPORTS = '/api/private/imports'
const LAB = `
svm/svms:
  - name: lab1
storage/volumes:
  - { name: data, svm: lab1, size: 10g, guarantee.type: none }
protocols/s3/services:
  - { name: s3, svm: lab1, data_volumes: [data] }
protocols/s3/services/users:
  - { name: anna, svm: lab1 }
`

test('a running cluster is brought to what a seed file says, shows new keys once, and stays so the second time', async () => {
  const cluster = await startTestCluster()
  const send = async () => cluster.call('POST', IMPORTS, { file: 'lab.yaml', text: LAB })
  const first = await send()
  assert.equal(first.status, 201, JSON.stringify(first.body))
  const [told] = recordsOf(first.body)
  assert.deepEqual([told?.['made'], told?.['changed'], told?.['same']], [4, 0, 0])
  const keys = (told?.['revealed'] ?? []) as unknown as readonly { field: string; value: string }[]
  assert.deepEqual(keys.map(({ field }) => field).toSorted(), ['access_key', 'secret_key'])
  const [again] = recordsOf((await send()).body)
  assert.deepEqual([again?.['made'], again?.['same'], again?.['revealed']], [0, 4, undefined])
  assert.equal(recordsOf((await cluster.call('GET', IMPORTS)).body).length, 0)
  await cluster.close()
})

test('mistakes are told with file and line, and what the file holds is in no audit entry', async () => {
  const cluster = await startTestCluster()
  const text = 'security/accounts:\n  - { name: eve, password: swordfish-1, role: nothing }\n'
  const refused = await cluster.call('POST', IMPORTS, { file: 'lab.yaml', text })
  assert.deepEqual([refused.status, refused.body['error']?.['target']], [422, 'text'])
  assert.match(asText(refused.body['error']?.['message']), /^lab\.yaml:2: security\/accounts "eve"/)
  const audit = await cluster.call('GET', '/api/security/audit/messages?fields=*')
  assert.doesNotMatch(JSON.stringify(audit.body), /swordfish/)
  await cluster.close()
})

test('none but administrators may have it act for them', async () => {
  const cluster = await startTestCluster()
  const privileges = [{ path: '/api', access: 'all' }]
  await cluster.call('POST', '/api/security/roles', { name: 'nearly', privileges })
  await cluster.call('POST', '/api/security/accounts', { name: 'eve', password: 'a long password', role: 'nearly' })
  const headers = { authorization: basic('eve', 'a long password') }
  const refused = await cluster.call('POST', IMPORTS, { text: LAB }, { headers })
  assert.deepEqual([refused.status, refused.body['error']?.['code']], [403, 6])
  await cluster.close()
})
