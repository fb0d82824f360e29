import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { startTestCluster } from '../../../test/support/cluster.ts'

const REQUESTS = '/api/security/certificate-signing-request'

test('a signing request and its key are in the answer alone', async () => {
  const cluster = await startTestCluster()
  const { status, body } = await cluster.call('POST', REQUESTS, {
    subject_name: 'C=US, O=Example\\, Inc., CN=server.example.com',
    algorithm: 'ec',
    security_strength: 192,
    subject_alternatives: { dns: ['server.example.com'] },
  })
  assert.equal(status, 200, JSON.stringify(body))
  const [made, ...others] = recordsOf(body)
  assert.deepEqual([Object.keys(made ?? {}), others.length], [['csr', 'generated_private_key'], 0])
  assert.match(asText(made?.['csr']), /^-----BEGIN CERTIFICATE REQUEST-----\n/)
  const key = createPrivateKey(asText(made?.['generated_private_key']))
  assert.deepEqual([key.asymmetricKeyType, key.asymmetricKeyDetails?.namedCurve], ['ec', 'secp384r1'])
  assert.deepEqual(recordsOf((await cluster.call('GET', REQUESTS)).body), [])
  assert.ok(!JSON.stringify(cluster.logged).includes('BEGIN'))
  await cluster.close()
})

test('a signing request that nobody could sign is refused with the reason', async () => {
  const cluster = await startTestCluster()
  for (const [body, target] of [
    [{ subject_name: 'nonsense' }, 'subject_name'],
    [{ subject_name: 'XX=a' }, 'subject_name'],
    [{ subject_name: 'CN=' }, 'subject_name'],
    [{ subject_name: 'C=USA' }, 'subject_name'],
    [{ security_strength: 192 }, 'security_strength'],
    [{ hash_function: 'md5' }, 'hash_function'],
    [{ subject_alternatives: { ip: ['a'] } }, 'subject_alternatives.ip'],
    [{ csr: 'a' }, 'csr'],
  ] as const) {
    const reply = await cluster.call('POST', REQUESTS, { subject_name: 'CN=a', ...body })
    assert.deepEqual([reply.status, reply.body['error']?.['target']], [422, target], JSON.stringify(body))
  }
  await cluster.close()
})
