import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { realCertificates } from './certificates.ts'

const DAY_MS = 86_400_000
const NONE = { dns: [], email: [], ip: [], uri: [] }
const ALL = {
  dns: ['a.example.com', 'b.example.com'],
  email: ['a@example.com'],
  ip: ['192.0.2.7', '2001:db8::7'],
  uri: ['https://example.com/a'],
}

function openssl(args: readonly string[], input: string): string | undefined {
  try {
    return execFileSync('openssl', args, { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] })
  } catch (failure) {
    if ((failure as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw failure
  }
}

test('a certificate that signs itself says what was asked for, and its key is its own', async () => {
  const notBeforeMs = Math.floor(Date.now() / 1000) * 1000
  const wanted = {
    commonName: 'server.example.com',
    keyBits: 2048,
    hash: 'sha384',
    notBeforeMs,
    notAfterMs: notBeforeMs + 30 * DAY_MS,
    isCa: false,
    alternatives: ALL,
  }
  const made = await realCertificates.makeSelfSigned(wanted)
  const { serialNumber, ...facts } = realCertificates.read(made.certificate) ?? { serialNumber: '' }
  assert.match(serialNumber, /^[0-9A-F]+$/)
  assert.deepEqual(facts, {
    commonName: 'server.example.com',
    issuer: 'server.example.com',
    notBeforeMs,
    notAfterMs: wanted.notAfterMs,
    keyBits: 2048,
    hash: 'sha384',
  })
  const other = await realCertificates.makeSelfSigned({ ...wanted, alternatives: NONE, isCa: true })
  assert.equal(realCertificates.isKeyOf(made.privateKey, made.certificate), true)
  assert.equal(realCertificates.isKeyOf(other.privateKey, made.certificate), false)
  assert.equal(realCertificates.isKeyOf('no key', made.certificate), undefined)
  assert.equal(realCertificates.read('no certificate'), undefined)
})

test('openssl verifies a certificate that signs itself to the letter, also one that is valid for a hundred years', async (t) => {
  const notBeforeMs = Date.UTC(2026, 0, 2, 3, 4, 5)
  for (const isCa of [true, false]) {
    const { certificate } = await realCertificates.makeSelfSigned({
      commonName: 'Müller & Söhne',
      keyBits: 2048,
      hash: 'sha256',
      notBeforeMs,
      notAfterMs: Date.UTC(2126, 0, 2, 3, 4, 5),
      isCa,
      alternatives: isCa ? NONE : ALL,
    })
    const read = openssl(['x509', '-noout', '-text', '-nameopt', 'utf8'], certificate)
    if (read === undefined) {
      t.skip('There is no openssl here.')
      return
    }
    assert.match(read, /Not Before: Jan {2}2 03:04:05 2026 GMT\s+Not After : Jan {2}2 03:04:05 2126 GMT/)
    assert.match(read, /Subject: CN ?= ?Müller & Söhne/)
    assert.match(
      read,
      isCa ? /Key Usage: critical\s+Digital Signature, Certificate Sign, CRL Sign/ : /Key Encipherment/,
    )
    assert.match(read, isCa ? /CA:TRUE/ : /CA:FALSE/)
    assert.equal(read.includes('email:a@example.com, DNS:a.example.com, DNS:b.example.com'), !isCa)
    assert.equal(read.includes('IP Address:192.0.2.7, IP Address:2001:DB8:0:0:0:0:0:7'), !isCa)
    const folder = mkdtempSync(join(tmpdir(), 'certificate-'))
    try {
      const file = join(folder, 'server.crt')
      writeFileSync(file, certificate)
      // Who may sign nothing is trusted as it is.
      const trust = isCa ? [] : ['-partial_chain']
      assert.match(openssl(['verify', '-x509_strict', ...trust, '-CAfile', file, file], '') ?? '', /: OK/)
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
})

for (const algorithm of ['rsa', 'ec'] as const) {
  test(`openssl verifies a signing request with an ${algorithm} key, and reads in it what was asked for`, async (t) => {
    const made = await realCertificates.makeSigningRequest({
      subject: [
        ['C', 'US'],
        ['O', 'Müller & Söhne'],
        ['CN', 'server.example.com'],
        ['emailAddress', 'a@example.com'],
      ],
      algorithm,
      keyBits: algorithm === 'rsa' ? 2048 : 384,
      hash: 'sha256',
      alternatives: ALL,
    })
    const text = openssl(['req', '-noout', '-verify', '-text', '-nameopt', 'utf8,sep_comma_plus'], made.request)
    if (text === undefined) {
      t.skip('openssl is not installed')
      return
    }
    assert.match(text, /Subject: C=US,O=Müller & Söhne,CN=server\.example\.com,emailAddress=a@example\.com/)
    for (const name of ['DNS:a.example.com', 'DNS:b.example.com', 'email:a@example.com', 'URI:https://example.com/a']) {
      assert.ok(text.includes(name), name)
    }
    assert.match(text, /IP Address:192\.0\.2\.7, IP Address:2001:DB8:0:0:0:0:0:7/)
    assert.match(made.privateKey, /^-----BEGIN PRIVATE KEY-----/)
  })
}
