import { type Behaviour, define } from '../../core/behaviour.ts'
import { inline } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import { count, oneOf, text } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { SUBJECT_PARTS } from '../../ports/certificates.ts'
import { alternativeFields, alternativesOf, HASHES, USUAL_HASH } from './certificates/asked.ts'

/** Bits of security, and the length of the key that has them (NIST SP 800-57, part 1, table 2). */
const STRENGTHS = { rsa: { 112: 2048, 128: 3072 }, ec: { 112: 256, 128: 256, 192: 384 } } as const

const certificateSigningRequestsResource = resource({
  path: '/security/certificate-signing-request',
  noun: 'certificate signing request',
  doc: 'Creates a key pair and a certificate signing request. Nothing is stored: only the response contains the private key.',
  since: '9.8',
  key: ['csr'],
  recordKey: ['csr'],
  nameWithin: false,
  fields: {
    subject_name: {
      doc: 'The subject of the certificate, as parts separated by commas: C=US,O=Example,CN=server.example.com.',
      kind: text({ charactersMin: 1, charactersMax: 1024 }),
      set: 'create',
    },
    algorithm: {
      doc: 'The algorithm of the keys.',
      kind: oneOf({ rsa: 'RSA.', ec: 'Elliptic curves.' }),
      set: 'create',
      default: 'rsa',
    },
    hash_function: {
      doc: 'The hash function of the signature.',
      kind: oneOf(HASHES),
      set: 'create',
      default: USUAL_HASH,
    },
    security_strength: {
      doc: 'The strength of the keys in bits: 112 or 128, for elliptic curves also 192.',
      kind: count({ min: 112, max: 192 }),
      set: 'create',
      default: 112,
    },
    ...alternativeFields(),
    csr: { doc: 'The certificate signing request in PEM.', kind: text(), shownOnce: true },
    generated_private_key: { doc: 'The private key in PEM.', kind: text(), shownOnce: true },
  },
})

export const certificateSigningRequests: Behaviour<typeof certificateSigningRequestsResource> = define(
  certificateSigningRequestsResource,
  {
    rows: () => Promise.resolve([]),
    create: inline({
      example: { subject_name: 'C=US,O=Example,CN=server.example.com' },
      async plan(cluster, { draft }) {
        const algorithm = draft['algorithm'] === 'ec' ? 'ec' : 'rsa'
        const strengths: Readonly<Record<number, number>> = STRENGTHS[algorithm]
        const bits = strengths[Number(draft['security_strength'])]
        if (bits === undefined) {
          throw failure('keyStrengthUnfit', { algorithm, strengths: Object.keys(strengths).join(', ') })
        }
        const { request, privateKey } = await cluster.certificates.makeSigningRequest({
          subject: subjectOf(draft['subject_name'] ?? ''),
          algorithm,
          keyBits: bits,
          hash: draft['hash_function'] ?? '',
          alternatives: alternativesOf(draft),
        })
        return { key: '', input: {}, isDone: true, reveal: { csr: request, generated_private_key: privateKey } }
      },
      step: { name: 'nothing', run: () => Promise.resolve() },
    }),
  },
)

/** `C=US,O=Example\, Inc.,CN=a`: a comma that belongs to a value has a backslash before it. */
function subjectOf(given: string): [string, string][] {
  if (given === '') return []
  return given
    .split(/(?<!\\),/)
    .map((part) => part.trim().replaceAll('\\,', ','))
    .map((part) => {
      const equals = part.indexOf('=')
      const name = SUBJECT_PARTS.find(
        (known) => known.toLowerCase() === part.slice(0, Math.max(0, equals)).trim().toLowerCase(),
      )
      const value = part.slice(equals + 1).trim()
      if (name === undefined || value === '') {
        throw failure('subjectPartUnknown', { part: part.slice(0, 80), parts: SUBJECT_PARTS.join(', ') })
      }
      if (name === 'C' && !/^[A-Za-z]{2}$/.test(value)) {
        throw failure('subjectCountryMalformed')
      }
      if (name === 'emailAddress' && !/^[\x21-\x7e]+$/.test(value)) {
        throw failure('subjectMailMalformed')
      }
      return [name, value]
    })
}
