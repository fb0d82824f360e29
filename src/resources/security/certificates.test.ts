import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { asText, recordsOf, type Body } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { realCertificates } from '../../engines/certificates.ts'
import { codeOf } from '../../model/failure.ts'

const CERTIFICATES = '/api/security/certificates'
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }
const DAY_MS = 86_400_000
const NONE = { dns: [], email: [], ip: [], uri: [] }

const failed = ({ status, body }: { status: number; body: Body }) => [
  status,
  body['error']?.['code'],
  body['error']?.['target'],
]

async function make(cluster: TestCluster, body: object): Promise<Body> {
  const reply = await cluster.call('POST', `${CERTIFICATES}?return_records=true`, body)
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
  return recordsOf(reply.body)[0] as Body
}

function sign(more: object = {}) {
  const nowMs = Date.now()
  return realCertificates.makeSelfSigned({
    commonName: 'given.example.com',
    keyBits: 2048,
    hash: 'sha256',
    notBeforeMs: nowMs - DAY_MS,
    notAfterMs: nowMs + DAY_MS,
    isCa: false,
    alternatives: NONE,
    ...more,
  })
}

test('a certificate is made as na_ontap_security_certificates asks, found by its name, and deleted', async () => {
  const cluster = await startTestCluster()
  const call = (method: string, target: string, body?: unknown) => cluster.call(method, target, body, TOOL)
  const find = async (query: string) =>
    recordsOf((await call('GET', `${CERTIFICATES}?fields=uuid&scope=cluster&${query}`)).body)
  const body = {
    type: 'server',
    common_name: 'a.example.com',
    name: 'c1',
    expiry_time: 'P365DT',
    key_size: 3072,
    hash_function: 'sha512',
  }
  assert.deepEqual(await find('name=c1'), [])
  assert.equal((await call('POST', CERTIFICATES, body)).status, 201)
  const [found] = await find('common_name=a.example.com&type=server')
  const path = `${CERTIFICATES}/${asText(found?.['uuid'])}`
  const shown = (await call('GET', path)).body
  assert.deepEqual(
    [shown['name'], shown['scope'], shown['key_size'], shown['hash_function'], shown['ca'], shown['private_key']],
    ['c1', 'cluster', 3072, 'sha512', 'a.example.com', undefined],
  )
  const certificate = new X509Certificate(asText(shown['public_certificate']))
  assert.equal(certificate.serialNumber, shown['serial_number'])
  assert.equal(certificate.validToDate.toISOString().replace('.000', ''), shown['expiry_time'])
  const days = (certificate.validToDate.getTime() - cluster.clock.now()) / DAY_MS
  assert.ok(days > 364.9 && days < 365.1, String(days))
  assert.deepEqual(failed(await call('POST', CERTIFICATES, body)), [409, '1', 'name'])
  assert.equal((await call('DELETE', path)).status, 200)
  assert.deepEqual(await find('name=c1'), [])
  await cluster.close()
})

test('a certificate of an SVM is its own, for the names that were asked for, and signs others where it is a root', async () => {
  const cluster = await startTestCluster()
  await cluster.call('POST', '/api/svm/svms', { name: 'svm2' })
  const alternatives = {
    dns: ['a.example.com'],
    ip: ['192.0.2.1'],
    email: ['a@example.com'],
    uri: ['https://a.example.com/'],
  }
  const one = { svm: { name: 'svm2' }, common_name: 'svm2', subject_alternatives: alternatives }
  const server = await make(cluster, { ...one, type: 'server', name: 'c1' })
  assert.deepEqual([server['scope'], server['svm']?.['name']], ['svm', 'svm2'])
  assert.deepEqual(server['subject_alternatives'], alternatives)
  const names = new X509Certificate(asText(server['public_certificate'])).subjectAltName
  assert.equal(names, 'email:a@example.com, DNS:a.example.com, URI:https://a.example.com/, IP Address:192.0.2.1')
  const root = await make(cluster, { type: 'root_ca', common_name: 'root', name: 'c1', expiry_time: 'P2Y' })
  assert.equal(new X509Certificate(asText(root['public_certificate'])).ca, true)
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm2')
  assert.equal((await cluster.call('DELETE', `/api/svm/svms/${svm}`)).status, 200)
  assert.deepEqual(recordsOf((await cluster.call('GET', `${CERTIFICATES}?scope=svm`)).body), [])
  await cluster.close()
})

test('a private key is kept sealed, and shown by nothing', async () => {
  const cluster = await startTestCluster()
  const given = await sign()
  const shown = await make(cluster, {
    type: 'server',
    common_name: 'given.example.com',
    public_certificate: given.certificate,
    private_key: given.privateKey,
    intermediate_certificates: [(await sign({ commonName: 'between', isCa: true })).certificate],
  })
  assert.match(asText(shown['name']), /^given\.example\.com_[0-9A-F]+$/)
  const key = given.privateKey.split('\n')[2] ?? ''
  assert.ok(key.length > 40)
  const records = JSON.stringify(await cluster.cluster.catalog.records('security/certificates'))
  const seen = JSON.stringify((await cluster.call('GET', `${CERTIFICATES}?fields=**`)).body)
  for (const text of [records, seen, JSON.stringify(shown), JSON.stringify(cluster.logged)])
    assert.ok(!text.includes(key))
  assert.equal((await cluster.call('GET', `${CERTIFICATES}?private_key=*`)).status, 400)
  await cluster.close()
})

test('certificates that cannot be made or installed are refused with the codes tools know', async () => {
  const cluster = await startTestCluster()
  const [good, other, late, early] = await Promise.all([
    sign(),
    sign(),
    sign({ notAfterMs: Date.now() - 1000 }),
    sign({ notBeforeMs: Date.now() + DAY_MS, notAfterMs: Date.now() + 2 * DAY_MS }),
  ])
  const install = { public_certificate: good.certificate, private_key: good.privateKey }
  for (const [body, code] of [
    [{ type: 'server' }, codeOf('fieldRequired')],
    [{ type: 'sideways', common_name: 'a' }, 262_197],
    [{ type: 'server_ca', common_name: 'a' }, codeOf('certificateTypeInstalled')],
    [{ type: 'server', common_name: 'a', key_size: 512 }, 262_197],
    [{ type: 'server', common_name: 'a', hash_function: 'md5' }, 262_197],
    [{ type: 'server', common_name: 'a', expiry_time: 'P20Y' }, 262_197],
    [{ type: 'server', common_name: 'a', expiry_time: 'PT1H' }, 262_197],
    [{ type: 'server', common_name: 'a', expiry_time: '1970-01-01T00:00:10Z' }, 262_197],
    [{ type: 'server', ...install, common_name: 'a' }, 262_197],
    [{ type: 'server', ...install, private_key: undefined }, codeOf('privateKeyMissing')],
    [{ type: 'server', ...install, private_key: other.privateKey }, codeOf('privateKeyMismatch')],
    [{ type: 'server', ...install, private_key: 'no key' }, codeOf('privateKeyMalformed')],
    [{ type: 'server', ...install, public_certificate: 'no certificate' }, codeOf('certificateMalformed')],
    [{ type: 'server', ...install, intermediate_certificates: ['nothing'] }, codeOf('certificateMalformed')],
    [{ type: 'server_ca', ...install }, codeOf('trustedKeyNeedless')],
    [{ type: 'client_ca', public_certificate: late.certificate }, codeOf('certificateExpired')],
    [{ type: 'client_ca', public_certificate: early.certificate }, codeOf('certificateNotYetValid')],
  ] as const) {
    const reply = await cluster.call('POST', CERTIFICATES, body)
    assert.deepEqual([reply.status, reply.body['error']?.['code']], [422, code], JSON.stringify(body).slice(0, 200))
  }
  await make(cluster, { type: 'client_ca', public_certificate: good.certificate })
  const again = { type: 'client_ca', name: 'another', public_certificate: good.certificate }
  assert.equal((await cluster.call('POST', CERTIFICATES, again)).status, 409)
  await cluster.close()
})
