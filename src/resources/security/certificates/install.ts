/** A certificate that is given, checked and completed with what it says. */
import type { Cluster } from '../../../core/cluster.ts'
import { failure } from '../../../model/failure.ts'
import type { NewOf } from '../../../model/rows.ts'
import { sealedKey } from '../../../records/certificates.ts'
import type { CertificateFacts } from '../../../ports/certificates.ts'

export type Draft = NewOf<'security/certificates'>

/** What is to be written of a certificate. */
export type Installed = ReturnType<typeof installed>

type Hash = NonNullable<Draft['hash_function']>

interface Said {
  readonly common_name: string
  readonly key_size?: number
  readonly hash_function?: Hash
}

/** The row, with what the certificate says and its private key sealed; or why it cannot be installed. */
export function installed(cluster: Cluster, draft: Draft) {
  const { private_key: key, ...given } = draft
  const facts = factsOf(cluster, draft['public_certificate'] ?? '', 'public_certificate')
  checkTime(facts, cluster.now())
  checkKey(cluster, draft)
  for (const each of draft['intermediate_certificates'] ?? []) {
    factsOf(cluster, each, 'intermediate_certificates')
  }
  if (given['expiry_time'] !== undefined) throw failure('expiryOfInstalled')
  const said = saidBy(facts, draft['common_name'] ?? '')
  for (const path of ['common_name', 'key_size', 'hash_function'] as const) {
    const value = said[path]
    if (value === undefined) continue
    if (given[path] !== undefined && given[path] !== value) {
      throw failure('certificateFieldMismatch', { value: JSON.stringify(value), field: path })
    }
  }
  return {
    name: `${said['common_name'].replaceAll(/[\s/]/g, '_')}_${facts.serialNumber}`,
    ...given,
    ...said,
    ca: facts.issuer,
    serial_number: facts.serialNumber,
    expiry_time: facts.notAfterMs,
    ...(typeof key === 'string' ? { [sealedKey]: cluster.secrets.seal(key) } : {}),
  }
}

function factsOf(cluster: Cluster, text: string, field: string): CertificateFacts {
  const facts = cluster.certificates.read(text)
  if (facts === undefined) throw failure('certificateMalformed', { field })
  return facts
}

function checkTime(facts: CertificateFacts, nowMs: number): void {
  if (facts.notBeforeMs > nowMs) {
    throw failure('certificateNotYetValid')
  }
  if (facts.notAfterMs <= nowMs) {
    throw failure('certificateExpired')
  }
}

function checkKey(cluster: Cluster, draft: Draft): void {
  const key = draft['private_key']
  const isTrusted = draft['type'] === 'client_ca' || draft['type'] === 'server_ca'
  if (isTrusted) {
    if (key !== undefined) {
      throw failure('trustedKeyNeedless')
    }
    if (draft['intermediate_certificates'] !== undefined) {
      throw failure('trustedChainNeedless')
    }
    return
  }
  if (typeof key !== 'string') {
    throw failure('privateKeyMissing')
  }
  const isOwn = cluster.certificates.isKeyOf(key, draft['public_certificate'] ?? '')
  if (isOwn === undefined) {
    throw failure('privateKeyMalformed')
  }
  if (!isOwn) throw failure('privateKeyMismatch')
}

/** What a certificate says of the fields that could be given with it. One without a common name takes the one given. */
function saidBy(facts: CertificateFacts, given: string): Said {
  const commonName = facts.commonName || given
  if (commonName === '') {
    throw failure('commonNameMissing')
  }
  return {
    common_name: commonName,
    ...(facts.keyBits === 0 ? {} : { key_size: facts.keyBits }),
    // One that was made elsewhere may have another, which is shown as it is.
    ...(facts.hash === '' ? {} : { hash_function: facts.hash as Hash }),
  }
}
