/** Keys and X.509 certificates: made with chance, so through a port. All texts are PEM. */
export interface SubjectAlternatives {
  readonly dns: readonly string[]
  readonly email: readonly string[]
  readonly ip: readonly string[]
  readonly uri: readonly string[]
}

export interface CertificateRequest {
  readonly commonName: string
  readonly keyBits: number
  readonly hash: string
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** Whether it may sign other certificates. */
  readonly isCa: boolean
  readonly alternatives: SubjectAlternatives
}

export interface SigningRequest {
  /** Name and value of each part, in order: `['C', 'US']`. The names are those of `SUBJECT_PARTS`. */
  readonly subject: readonly (readonly [string, string])[]
  readonly algorithm: 'rsa' | 'ec'
  readonly keyBits: number
  readonly hash: string
  readonly alternatives: SubjectAlternatives
}

/** The parts that the subject of a signing request may have. */
export const SUBJECT_PARTS = ['C', 'ST', 'L', 'O', 'OU', 'CN', 'emailAddress'] as const

export interface CertificateFacts {
  /** Empty where the subject has none. */
  readonly commonName: string
  /** The common name of who signed it. */
  readonly issuer: string
  /** Upper-case hexadecimal digits. */
  readonly serialNumber: string
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** 0 where the key has no such length. */
  readonly keyBits: number
  /** `sha256` and its like; empty where it is not known. */
  readonly hash: string
}

export interface Certificates {
  /** Makes a pair of keys and a certificate that it signs itself. */
  makeSelfSigned(wanted: CertificateRequest): Promise<{ certificate: string; privateKey: string }>
  /** Makes a pair of keys and a request (PKCS #10) that an authority signs. */
  makeSigningRequest(wanted: SigningRequest): Promise<{ request: string; privateKey: string }>
  /** What a certificate says; nothing where the text is none. */
  read(certificate: string): CertificateFacts | undefined
  /** Whether the private key is that of the certificate; nothing where the text is no private key without a passphrase. */
  isKeyOf(privateKey: string, certificate: string): boolean | undefined
}
