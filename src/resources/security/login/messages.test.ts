import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'

const MESSAGES = '/api/security/login/messages'
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }

test('the cluster and each SVM have login messages, which come back as they were set', async () => {
  const cluster = await startTestCluster()
  const ask = async (query: string) => {
    const fields = 'fields=banner,message,show_cluster_message,uuid'
    return recordsOf((await cluster.call('GET', `${MESSAGES}?${fields}&${query}`, undefined, TOOL)).body)
  }
  for (const query of ['scope=cluster', 'scope=svm&svm.name=svm1']) {
    const [before, ...more] = await ask(query)
    assert.deepEqual([before?.['banner'], before?.['show_cluster_message'], more.length], [undefined, true, 0])
    const path = `${MESSAGES}/${asText(before?.['uuid'])}`
    const change = { banner: 'Authorized users only\n', message: 'Welcome', show_cluster_message: false }
    for (let round = 0; round < 2; round++) assert.equal((await cluster.call('PATCH', path, change, TOOL)).status, 200)
    const [after] = await ask(query)
    assert.deepEqual(
      { banner: after?.['banner'], message: after?.['message'], show_cluster_message: after?.['show_cluster_message'] },
      change,
    )
    assert.equal((await cluster.call('PATCH', path, { message: '' }, TOOL)).status, 200)
    assert.equal((await ask(query))[0]?.['message'], '')
    assert.equal((await cluster.call('PATCH', path, { banner: 'x'.repeat(2049) }, TOOL)).status, 400)
  }
  const nobody = `${MESSAGES}/00000000-0000-4000-8000-000000000000`
  assert.equal((await cluster.call('PATCH', nobody, { banner: 'x' })).status, 404)
  await cluster.close()
})
