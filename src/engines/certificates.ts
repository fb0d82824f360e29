/** Keys and certificates: keys and signatures are made by Node.js; certificates and signing requests are put together here. */
import { createPrivateKey, generateKeyPair, type KeyObject, sign, X509Certificate } from 'node:crypto'
import { promisify } from 'node:util'
import type { CertificateFacts, Certificates, SigningRequest } from '../ports/certificates.ts'
import { bits, der, ia5, integer, objectId, pem, printable, sequence, setOf, utf8 } from './der.ts'
import { alternativeNames, isEmpty, selfSigned, signatureOf } from './x509.ts'

const makePair = promisify(generateKeyPair)

export const realCertificates: Certificates = {
  async makeSelfSigned({ keyBits, ...wanted }) {
    const { privateKey } = await makePair('rsa', { modulusLength: keyBits })
    const certificate = selfSigned({
      ...wanted,
      privateKey,
      keyUsage: wanted.isCa ? ['keyCertSign', 'cRLSign', 'digitalSignature'] : ['digitalSignature', 'keyEncipherment'],
      extendedKeyUsage: wanted.isCa ? [] : ['serverAuth', 'clientAuth'],
    })
    return { certificate, privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string }
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

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14'

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
  const signed = sequence(asked, signatureOf(privateKey, wanted.hash), bits(sign(wanted.hash, asked, privateKey)))
  return pem('CERTIFICATE REQUEST', signed)
}

function partValue(part: string, value: string): Buffer {
  if (part === 'C') return printable(value)
  return part === 'emailAddress' ? ia5(value) : utf8(value)
}
