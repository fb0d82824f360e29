import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { startTestCluster } from '../../../test/support/cluster.ts'
import { chooseDialect, dialects } from './dialects.ts'

test('a client that names itself gets the native dialect, a plain one that of the specification', () => {
  const choose = (app?: string, agent?: string) => chooseDialect('auto', app, agent).name
  assert.equal(choose(), 'spec')
  assert.equal(choose(undefined, 'curl/8.5.0'), 'spec')
  assert.equal(choose(undefined, 'Mozilla/5.0'), 'spec')
  assert.equal(choose('trident'), 'native')
  assert.equal(choose(''), 'native')
  for (const agent of [
    'NetApp-Harvest/24',
    'Trident/24.10',
    'ansible-httpget',
    'Terraform/1.9',
    'python-requests/2.32',
    'python-urllib3/2.8.0',
    'Go-http-client/1.1',
  ]) {
    assert.equal(choose(undefined, agent), 'native', agent)
  }
})

test('the option of the cluster wins over what the client says', async () => {
  assert.equal(chooseDialect('spec', 'trident', undefined), dialects.spec)
  assert.equal(chooseDialect('native', undefined, 'curl'), dialects.native)
  const cluster = await startTestCluster()
  await cluster.call('PATCH', '/api/cluster', { wire_dialect: 'native' })
  const { status, body } = await cluster.call('POST', '/api/svm/svms', { name: '1 2' })
  assert.deepEqual([status, typeof body['error']?.['code']], [400, 'string'])
  await cluster.close()
})

test('links are left away for a client that accepts plain JSON only', async () => {
  const cluster = await startTestCluster()
  const plain = await cluster.call('GET', '/api/svm/svms', undefined, { headers: { accept: 'application/json' } })
  assert.equal(plain.body['_links'], undefined)
  const hal = await cluster.call('GET', '/api/svm/svms', undefined, { headers: { accept: 'application/hal+json' } })
  const self = asText(recordsOf(hal.body)[0]?.['_links']?.['self']?.['href'])
  assert.equal((await cluster.call('GET', self)).status, 200)
  await cluster.close()
})

test('the link to the next page is there for every client', async () => {
  const cluster = await startTestCluster()
  for (const accept of ['application/json', 'application/hal+json', '*/*']) {
    const { body } = await cluster.call('GET', '/api/storage/volumes?max_records=1', undefined, { headers: { accept } })
    const next = await cluster.call('GET', asText(body['_links']?.['next']?.['href']), undefined, {
      headers: { accept },
    })
    assert.equal(recordsOf(next.body).length, 1)
  }
  await cluster.close()
})

test('tools are shown what they filter by, beside what they ask for', async () => {
  const cluster = await startTestCluster()
  const path = '/api/storage/volumes?name=vol1&svm.name=svm1&fields=size'
  const [tool] = recordsOf((await cluster.call('GET', path, undefined, { headers: { 'x-dot-client-app': 'a' } })).body)
  assert.deepEqual(tool?.['svm'], { name: 'svm1' })
  const [plain] = recordsOf((await cluster.call('GET', path)).body)
  assert.deepEqual(Object.keys(plain ?? {}), ['size'])
  await cluster.close()
})
