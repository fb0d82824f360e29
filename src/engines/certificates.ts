/**
 * Keys and certificates, made by the libraries of Node.js and `selfsigned`; signing requests are put together here.
 * `selfsigned` is loaded when it is used, as loading it takes a fifth of a start.
 */
import { createPrivateKey, generateKeyPair, type KeyObject, sign, X509Certificate } from 'node:crypto'
import { isIPv4 } from 'node:net'
import { promisify } from 'node:util'
import type { CertificateFacts, Certificates, SigningRequest, SubjectAlternatives } from '../ports/certificates.ts'
import { bits, der, ia5, integer, nothing, objectId, octets, pem, printable, sequence, setOf, utf8 } from './der.ts'

const makePair = promisify(generateKeyPair)

export const realCertificates: Certificates = {
  async makeSelfSigned(wanted) {
    const { generate } = await import('selfsigned')
    const made = await generate([{ name: 'commonName', value: wanted.commonName }], {
      keyType: 'rsa',
      keySize: wanted.keyBits,
      algorithm: wanted.hash,
      notBeforeDate: new Date(wanted.notBeforeMs),
      notAfterDate: new Date(wanted.notAfterMs),
      extensions: [
        { name: 'basicConstraints', cA: wanted.isCa, critical: true },
        wanted.isCa
          ? { name: 'keyUsage', keyCertSign: true, cRLSign: true, digitalSignature: true, critical: true }
          : { name: 'keyUsage', digitalSignature: true, keyEncipherment: true, critical: true },
        ...(wanted.isCa ? [] : [{ name: 'extKeyUsage', serverAuth: true, clientAuth: true } as const]),
        ...(isEmpty(wanted.alternatives)
          ? []
          : [{ name: 'subjectAltName', altNames: altNames(wanted.alternatives) } as const]),
      ],
    })
    return { certificate: made.cert, privateKey: made.private }
  },
  async makeSigningRequest(wanted) {
    const { privateKey, publicKey } = await (wanted.algorithm === 'rsa'
      ? makePair('rsa', { modulusLength: wanted.keyBits })
      : makePair('ec', { namedCurve: wanted.keyBits > 256 ? 'P-384' : 'P-256' }))
    return {
      request: signingRequest(wanted, publicKey, privateKey),
      privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    }
  },
  read(text) {
    const certificate = parsed(text)
    return certificate === undefined ? undefined : factsOf(certificate)
  },
  isKeyOf(privateKey, certificate) {
    try {
      return parsed(certificate)?.checkPrivateKey(createPrivateKey(privateKey)) ?? false
    } catch {
      return undefined
    }
  },
}

function parsed(text: string): X509Certificate | undefined {
  try {
    return new X509Certificate(text)
  } catch {
    return undefined
  }
}

function factsOf(certificate: X509Certificate): CertificateFacts {
  const { publicKey, signatureAlgorithm } = certificate
  return {
    commonName: commonNameIn(certificate.subject),
    issuer: commonNameIn(certificate.issuer),
    serialNumber: certificate.serialNumber,
    notBeforeMs: certificate.validFromDate.getTime(),
    notAfterMs: certificate.validToDate.getTime(),
    keyBits: publicKey.asymmetricKeyDetails?.modulusLength ?? 0,
    hash: /sha\d+/i.exec(signatureAlgorithm ?? '')?.[0].toLowerCase() ?? '',
  }
}

/** Node.js gives a subject as lines of `CN=name`; what it writes for one without any is undefined. */
function commonNameIn(subject: string | undefined): string {
  return /^CN=(.*)$/m.exec(subject ?? '')?.[1] ?? ''
}

function altNames({ dns, email, ip, uri }: SubjectAlternatives) {
  return [
    ...email.map((value) => ({ type: 1, value }) as const),
    ...dns.map((value) => ({ type: 2, value }) as const),
    ...uri.map((value) => ({ type: 6, value }) as const),
    ...ip.map((each) => ({ type: 7, ip: each }) as const),
  ]
}

function isEmpty({ dns, email, ip, uri }: SubjectAlternatives): boolean {
  return dns.length + email.length + ip.length + uri.length === 0
}

/** The object ids of what a subject has (RFC 5280, appendix A; the address of mail is of PKCS #9). */
const PARTS: Readonly<Record<string, string>> = {
  C: '2.5.4.6',
  ST: '2.5.4.8',
  L: '2.5.4.7',
  O: '2.5.4.10',
  OU: '2.5.4.11',
  CN: '2.5.4.3',
  emailAddress: '1.2.840.113549.1.9.1',
}

const SIGNATURES: Readonly<Record<string, string>> = {
  'rsa/sha256': '1.2.840.113549.1.1.11',
  'rsa/sha384': '1.2.840.113549.1.1.12',
  'rsa/sha512': '1.2.840.113549.1.1.13',
  'ec/sha256': '1.2.840.10045.4.3.2',
  'ec/sha384': '1.2.840.10045.4.3.3',
  'ec/sha512': '1.2.840.10045.4.3.4',
}
const EXTENSION_REQUEST = '1.2.840.113549.1.9.14'
const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17'

/** PKCS #10 (RFC 2986): what is asked for, how it is signed, and the signature with the new key. */
function signingRequest(wanted: SigningRequest, publicKey: KeyObject, privateKey: KeyObject): string {
  const subject = sequence(
    ...wanted.subject.map(([part, value]) => setOf(sequence(objectId(PARTS[part] ?? ''), partValue(part, value)))),
  )
  const extensions = isEmpty(wanted.alternatives)
    ? []
    : [sequence(objectId(EXTENSION_REQUEST), setOf(sequence(alternativeNames(wanted.alternatives))))]
  const asked = sequence(
    integer(0),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa0, ...extensions),
  )
  const algorithm = objectId(SIGNATURES[`${wanted.algorithm}/${wanted.hash}`] ?? '')
  const signed = sequence(
    asked,
    sequence(algorithm, ...(wanted.algorithm === 'rsa' ? [nothing()] : [])),
    bits(sign(wanted.hash, asked, privateKey)),
  )
  return pem('CERTIFICATE REQUEST', signed)
}

function partValue(part: string, value: string): Buffer {
  if (part === 'C') return printable(value)
  return part === 'emailAddress' ? ia5(value) : utf8(value)
}

/** Names have the tags of their kinds: 1 mail, 2 DNS, 6 URI, 7 address (RFC 5280, 4.2.1.6). */
function alternativeNames({ dns, email, ip, uri }: SubjectAlternatives): Buffer {
  const named = (tag: number, values: readonly string[]) =>
    values.map((value) => der(tag, Buffer.from(value, 'latin1')))
  const names = [...named(0x81, email), ...named(0x82, dns), ...named(0x86, uri)]
  const addresses = ip.map((address) => der(0x87, addressBytes(address)))
  return sequence(objectId(SUBJECT_ALTERNATIVE_NAME), octets(sequence(...names, ...addresses)))
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail = ''] = address.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const [before, after] = [groups(head), groups(tail)]
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex')
}
