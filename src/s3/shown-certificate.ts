/** The certificate by which a data address shows who it is, where its object store server has one of its own. */
import { createSecureContext } from 'node:tls'
import type { Records } from '../ports/catalog.ts'
import { secureOptions } from '../wire/tls.ts'
import type { Tls } from '../wire/tls.ts'
import type { Log } from './plane.ts'
import { sealedKey } from '../records/certificates.ts'
import { findText, text, texts } from '../records/stored.ts'
import { findRow } from './tenancy/stored-rows.ts'

/** Nothing where there is none that can be shown, which is told: then the address shows that of the cluster. */
export async function shownCertificate(
  parts: { readonly catalog: Pick<Records, 'record'>; readonly unseal: (sealed: string) => string; readonly log: Log },
  uuid: string,
): Promise<Tls | undefined> {
  if (uuid === '') return undefined
  const certificate = await findRow(parts.catalog, 'security/certificates', uuid)
  if (certificate === undefined) return undefined
  const sealed = findText(certificate, sealedKey)
  if (sealed === undefined) return undefined
  try {
    const chain = [text(certificate, 'public_certificate'), ...texts(certificate, 'intermediate_certificates')]
    const tls = { key: parts.unseal(sealed), cert: chain.map((one) => one.trimEnd()).join('\n') }
    createSecureContext(secureOptions(tls))
    return tls
  } catch (failure) {
    parts.log.warn('A certificate cannot be shown. The address shows that of the cluster.', {
      certificate: text(certificate, 'name'),
      failure: failure instanceof Error ? failure.message : String(failure),
    })
    return undefined
  }
}
