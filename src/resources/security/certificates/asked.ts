/** What is asked of a certificate, or of a request for one. */
import { address, count, list, Misfit, text, type Kind } from '../../../model/kinds/index.ts'
import type { FieldDeclaration, Fields } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'
import type { SubjectAlternatives } from '../../../ports/certificates.ts'

export const PEM_CHARACTERS_MAX = 32_768
const ALTERNATIVES_MAX = 100

/** Shorter keys and weaker hashes are not made. The first is that of who says nothing. */
export const KEY_BITS: readonly number[] = [2048, 3072, 4096]
export const HASHES = { sha256: 'SHA-256.', sha384: 'SHA-384.', sha512: 'SHA-512.' } as const
export const USUAL_HASH = 'sha256'

/** The length of an RSA key. */
export function keyBits(): Kind {
  const kind = count()
  return {
    ...kind,
    parse(value) {
      const bits = kind.parse(value)
      if (!KEY_BITS.includes(bits)) throw new Misfit(`${bits} is none of ${KEY_BITS.join(', ')}.`)
      return bits
    },
    schema: { type: 'integer', enum: [...KEY_BITS] },
  }
}

export function alternativeFields(since?: string) {
  const names = (doc: string, kind: Kind<string>) =>
    ({
      doc,
      kind: list(kind, { elementsMax: ALTERNATIVES_MAX }),
      set: 'create',
      ...(since === undefined ? {} : { since }),
    }) as const satisfies FieldDeclaration
  const ascii = (charactersMax: number) =>
    text({ charactersMin: 1, charactersMax, pattern: /^[\x21-\x7e]+$/, patternDoc: 'printable characters' })
  return {
    subject_alternatives: { doc: 'Other names that the certificate is to be valid for.', isGroup: true },
    'subject_alternatives.dns': names('Host names that the certificate is valid for.', ascii(253)),
    'subject_alternatives.email': names('E-mail addresses that the certificate is valid for.', ascii(254)),
    'subject_alternatives.ip': names('IP addresses that the certificate is valid for.', address()),
    'subject_alternatives.uri': names('URIs that the certificate is valid for.', ascii(2000)),
  } as const satisfies Fields
}

export function alternativesOf(draft: Row): SubjectAlternatives {
  const of = (kind: string) => (draft[`subject_alternatives.${kind}`] ?? []) as readonly string[]
  return { dns: of('dns'), email: of('email'), ip: of('ip'), uri: of('uri') }
}
