/** The certificate by which a data address shows who it is, where its object store server has one of its own. */
import { createSecureContext } from 'node:tls'
import type { Catalog } from '../ports/catalog.ts'
import { secureOptions } from '../wire/tls.ts'
import type { Tls } from '../wire/tls.ts'
import type { Log } from './plane.ts'
import { list, text } from './record-values.ts'

const CERTIFICATES = 'security/certificates'

/** Nothing where there is none that can be shown, which is told: then the address shows that of the cluster. */
export async function shownCertificate(
  parts: { readonly catalog: Catalog; readonly unseal: (sealed: string) => string; readonly log: Log },
  uuid: string,
): Promise<Tls | undefined> {
  if (uuid === '') return undefined
  const body = (await parts.catalog.record(CERTIFICATES, uuid))?.body
  const sealed = body?.['$privateKey']
  if (body === undefined || typeof sealed !== 'string') return undefined
  try {
    const chain = [body['public_certificate'], ...list(body['intermediate_certificates'])]
    const tls = { key: parts.unseal(sealed), cert: chain.map((one) => text(one).trimEnd()).join('\n') }
    createSecureContext(secureOptions(tls))
    return tls
  } catch (failure) {
    parts.log.warn('A certificate cannot be shown. The address shows that of the cluster.', {
      certificate: text(body['name']),
      failure: failure instanceof Error ? failure.message : String(failure),
    })
    return undefined
  }
}
