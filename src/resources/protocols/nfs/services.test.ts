import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'
import { wireCode } from '../../../../test/support/codes.ts'

const SERVICES = '/api/protocols/nfs/services'
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }

test('an SVM has one NFS service, which reads as na_ontap_nfs set it', async () => {
  const cluster = await startTestCluster()
  const body = {
    'svm.name': 'svm1',
    'protocol.v3_enabled': 'true',
    'protocol.v41_enabled': 'false',
    'protocol.v4_id_domain': 'example.com',
    enabled: 'true',
    root: { ignore_nt_acl: true },
    security: { chown_mode: 'restricted', permitted_encryption_types: ['aes_256'] },
    'transport.tcp_max_transfer_size': 131_072,
  }
  const made = await cluster.call('POST', `${SERVICES}?return_timeout=30`, body, TOOL)
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  assert.equal(made.headers['location'], `${SERVICES}/${svm}`)
  const again = await cluster.call('POST', SERVICES, body, TOOL)
  assert.deepEqual([again.status, again.body['error']?.['code']], [409, wireCode('nfsServiceTaken')])
  const fields =
    'protocol.v3_enabled,enabled,svm.uuid,vstorage_enabled,root.*,security.*,windows.*,transport.tcp_max_transfer_size'
  const [found] = recordsOf(
    (await cluster.call('GET', `${SERVICES}?svm.name=svm1&fields=${fields}`, undefined, TOOL)).body,
  )
  assert.deepEqual(
    [found?.['protocol']?.['v3_enabled'], found?.['enabled'], found?.['root'], found?.['vstorage_enabled']],
    [true, true, { ignore_nt_acl: true, skip_write_permission_check: false }, false],
  )
  assert.deepEqual(found?.['security']?.['permitted_encryption_types'], ['aes_256'])
  assert.equal(found?.['transport']?.['tcp_max_transfer_size'], 131_072)
  assert.equal((await cluster.call('PATCH', `${SERVICES}/${svm}`, { enabled: 'false' }, TOOL)).status, 200)
  const after = (await cluster.call('GET', `${SERVICES}/${svm}`)).body
  assert.deepEqual([after['state'], after['protocol']?.['v4_id_domain']], ['offline', 'example.com'])
  assert.equal((await cluster.call('DELETE', `${SERVICES}/${svm}`)).status, 200)
  assert.equal((await cluster.call('GET', `${SERVICES}/${svm}`)).status, 404)
  await cluster.close()
})

test('settings of an NFS service that cannot be are refused by name', async () => {
  const cluster = await startTestCluster()
  for (const [body, target] of [
    [{ 'transport.tcp_max_transfer_size': 4096 }, 'transport.tcp_max_transfer_size'],
    [{ 'credential_cache.positive_ttl': 1 }, 'credential_cache.positive_ttl'],
    [{ security: { chown_mode: 'sometimes' } }, 'security.chown_mode'],
    [{ protocol: { v3_enabled: 'maybe' } }, 'protocol.v3_enabled'],
    [{ transport: { tcp_enabled: false, udp_enabled: false } }, 'transport'],
  ] as const) {
    const reply = await cluster.call('POST', SERVICES, { svm: 'svm1', ...body })
    assert.deepEqual([reply.status, reply.body['error']?.['target']], [422, target], JSON.stringify(body))
  }
  await cluster.close()
})
