import { checksumAlgorithms } from '../checksums/algorithms.ts'
import type { RequestHeaders } from './headers.ts'

/**
 * Presigners move headers into the query of the URL (`x-amz-tagging=a%3Db`), where Amazon takes them for what they are: the
 * URL says what will be done, and whoever has it cannot leave that out. A header that is sent wins.
 *
 * Checksums of the body stay unheeded: presigners that know no body yet put that of an empty one there.
 */
export function withHoisted(headers: RequestHeaders, query: ReadonlyMap<string, string>): RequestHeaders {
  if (!query.has('X-Amz-Signature')) return headers
  const all = new Map(headers)
  for (const [parameter, value] of query) {
    const name = parameter.toLowerCase()
    if (!name.startsWith('x-amz-') || all.has(name) || ofTheRequestItself.has(name)) continue
    // As the bytes of a header would have come.
    all.set(name, [Buffer.from(value, 'utf8').toString('latin1')])
  }
  return all
}

/** What belongs to the signature or to the body. */
const ofTheRequestItself: ReadonlySet<string> = new Set([
  'x-amz-algorithm',
  'x-amz-content-sha256',
  'x-amz-credential',
  'x-amz-date',
  'x-amz-decoded-content-length',
  'x-amz-expires',
  'x-amz-sdk-checksum-algorithm',
  'x-amz-security-token',
  'x-amz-signature',
  'x-amz-signedheaders',
  'x-amz-trailer',
  'x-amz-user-agent',
  ...Object.values(checksumAlgorithms).map(({ header }) => header),
])
