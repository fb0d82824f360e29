/** A certificate that is given, checked and completed with what it says. */
import type { Cluster } from '../../../core/cluster.ts'
import { failures } from '../../../model/failure.ts'
import { type Row, textAt } from '../../../model/value.ts'
import type { CertificateFacts } from '../../../ports/certificates.ts'

/** What clients of the interface know these failures by. */
const codes = {
  keyOfTrusted: 3_735_618,
  noName: 3_735_676,
  noKey: 3_735_693,
  chainOfTrusted: 3_735_696,
  notYet: 52_559_972,
  expired: 52_559_973,
  certificate: 52_559_975,
  otherKey: 52_559_976,
  key: 52_560_123,
} as const

/** The row, with what the certificate says and its private key sealed; or why it cannot be installed. */
export function installed(cluster: Cluster, draft: Row): Row {
  const { private_key: key, ...given } = draft
  const facts = factsOf(cluster, textAt(draft, 'public_certificate'), 'public_certificate')
  checkTime(facts, cluster.now())
  checkKey(cluster, draft)
  for (const each of (draft['intermediate_certificates'] ?? []) as readonly string[]) {
    factsOf(cluster, each, 'intermediate_certificates')
  }
  if (given['expiry_time'] !== undefined) throw failures.badValue('expiry_time', 'the certificate says it itself.')
  const said = saidBy(facts, textAt(draft, 'common_name'))
  for (const [path, value] of Object.entries(said)) {
    if (given[path] !== undefined && given[path] !== value) {
      throw failures.badValue(path, `the certificate says ${JSON.stringify(value)}.`)
    }
  }
  return {
    name: `${textAt(said, 'common_name').replaceAll(/[\s/]/g, '_')}_${facts.serialNumber}`,
    ...given,
    ...said,
    ca: facts.issuer,
    serial_number: facts.serialNumber,
    expiry_time: facts.notAfterMs,
    ...(typeof key === 'string' ? { $privateKey: cluster.secrets.seal(key) } : {}),
  }
}

function factsOf(cluster: Cluster, text: string, field: string): CertificateFacts {
  const facts = cluster.certificates.read(text)
  if (facts === undefined) throw failures.invalid(field, 'It is not a certificate in PEM.', codes.certificate)
  return facts
}

function checkTime(facts: CertificateFacts, nowMs: number): void {
  if (facts.notBeforeMs > nowMs) {
    throw failures.invalid('public_certificate', 'The certificate is not valid yet.', codes.notYet)
  }
  if (facts.notAfterMs <= nowMs) {
    throw failures.invalid('public_certificate', 'The certificate has expired.', codes.expired)
  }
}

function checkKey(cluster: Cluster, draft: Row): void {
  const key = draft['private_key']
  const isTrusted = draft['type'] === 'client_ca' || draft['type'] === 'server_ca'
  if (isTrusted) {
    if (key !== undefined) {
      throw failures.invalid('private_key', 'A certificate that is trusted comes without its key.', codes.keyOfTrusted)
    }
    if (draft['intermediate_certificates'] !== undefined) {
      throw failures.invalid('intermediate_certificates', 'Install each of them by itself.', codes.chainOfTrusted)
    }
    return
  }
  if (typeof key !== 'string') {
    throw failures.invalid('private_key', 'The certificate needs its private key.', codes.noKey)
  }
  const isOwn = cluster.certificates.isKeyOf(key, textAt(draft, 'public_certificate'))
  if (isOwn === undefined) {
    throw failures.invalid('private_key', 'It is not a private key in PEM without a passphrase.', codes.key)
  }
  if (!isOwn) throw failures.invalid('private_key', 'It is not the key of the certificate.', codes.otherKey)
}

/** What a certificate says of the fields that could be given with it. One without a common name takes the one given. */
function saidBy(facts: CertificateFacts, given: string): Row {
  const commonName = facts.commonName || given
  if (commonName === '') {
    throw failures.invalid('common_name', 'The certificate has no common name; give one.', codes.noName)
  }
  return {
    common_name: commonName,
    ...(facts.keyBits === 0 ? {} : { key_size: facts.keyBits }),
    ...(facts.hash === '' ? {} : { hash_function: facts.hash }),
  }
}
