/** How listeners speak TLS: version 1.2 with forward secrecy and authenticated ciphers, and version 1.3. */
import { constants } from 'node:crypto'
import type { TlsOptions } from 'node:tls'

export interface Tls {
  readonly key: string
  readonly cert: string
}

const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

/** For a new server, and again for each certificate that it is given later: Node keeps none of them from before. */
export function secureOptions({ key, cert }: Tls): TlsOptions {
  return {
    key,
    cert,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    // Renegotiation costs the server more than the client, and nothing here needs it.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  }
}
