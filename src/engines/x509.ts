/** A certificate that signs itself (RFC 5280), with a key that Node.js made. */
import { createHash, createPublicKey, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'
import type { SubjectAlternatives } from '../ports/certificates.ts'
import { bits, der, flags, integer, nothing, objectId, octets, pem, sequence, setOf, utf8 } from './der.ts'

export interface SelfSigned {
  readonly commonName: string
  readonly privateKey: KeyObject
  /** `sha256` and its like. */
  readonly hash: string
  readonly notBeforeMs: number
  readonly notAfterMs: number
  /** Whether it may sign other certificates. */
  readonly isCa: boolean
  readonly keyUsage: readonly (keyof typeof KEY_USAGE)[]
  readonly extendedKeyUsage: readonly (keyof typeof EXTENDED_KEY_USAGE)[]
  readonly alternatives: SubjectAlternatives
}

/** By the place of their bit, the highest being 0. */
const KEY_USAGE = { digitalSignature: 0, keyEncipherment: 2, keyCertSign: 5, cRLSign: 6 } as const
const EXTENDED_KEY_USAGE = { serverAuth: '1.3.6.1.5.5.7.3.1', clientAuth: '1.3.6.1.5.5.7.3.2' } as const

export const SUBJECT_ALTERNATIVE_NAME = '2.5.29.17'
const SUBJECT_KEY_IDENTIFIER = '2.5.29.14'
const KEY_USAGE_ID = '2.5.29.15'
const BASIC_CONSTRAINTS = '2.5.29.19'
const EXTENDED_KEY_USAGE_ID = '2.5.29.37'
const COMMON_NAME = '2.5.4.3'

const SERIAL_BYTES = 16
/** The last year that the short form of a time can say. */
const SHORT_YEAR_MAX = 2049

const SIGNATURES: Readonly<Record<string, string>> = {
  'rsa/sha256': '1.2.840.113549.1.1.11',
  'rsa/sha384': '1.2.840.113549.1.1.12',
  'rsa/sha512': '1.2.840.113549.1.1.13',
  'ec/sha256': '1.2.840.10045.4.3.2',
  'ec/sha384': '1.2.840.10045.4.3.3',
  'ec/sha512': '1.2.840.10045.4.3.4',
}

export function selfSigned(wanted: SelfSigned): string {
  const { privateKey, hash, notBeforeMs, notAfterMs } = wanted
  const name = sequence(setOf(sequence(objectId(COMMON_NAME), utf8(wanted.commonName))))
  const key = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  const algorithm = signatureOf(privateKey, hash)
  const signed = sequence(
    der(0xa0, integer(2)),
    serial(),
    algorithm,
    name,
    sequence(time(notBeforeMs), time(notAfterMs)),
    name,
    key,
    der(0xa3, sequence(...extensionsOf(wanted, key))),
  )
  return pem('CERTIFICATE', sequence(signed, algorithm, bits(sign(hash, signed, privateKey))))
}

/** What says how something is signed with the key. */
export function signatureOf({ asymmetricKeyType }: KeyObject, hash: string): Buffer {
  const id = SIGNATURES[`${asymmetricKeyType}/${hash}`]
  if (id === undefined) throw new Error(`There is no signature with ${asymmetricKeyType} and ${hash}.`)
  return sequence(objectId(id), ...(asymmetricKeyType === 'rsa' ? [nothing()] : []))
}

/** Names have the tags of their kinds: 1 mail, 2 DNS, 6 URI, 7 address (RFC 5280, 4.2.1.6). */
export function alternativeNames({ dns, email, ip, uri }: SubjectAlternatives): Buffer {
  const named = (tag: number, values: readonly string[]) =>
    values.map((value) => der(tag, Buffer.from(value, 'latin1')))
  const names = [...named(0x81, email), ...named(0x82, dns), ...named(0x86, uri)]
  const addresses = ip.map((address) => der(0x87, addressBytes(address)))
  return sequence(objectId(SUBJECT_ALTERNATIVE_NAME), octets(sequence(...names, ...addresses)))
}

export function isEmpty({ dns, email, ip, uri }: SubjectAlternatives): boolean {
  return dns.length + email.length + ip.length + uri.length === 0
}

function extensionsOf({ isCa, keyUsage, extendedKeyUsage, alternatives }: SelfSigned, key: Buffer): Buffer[] {
  const yes = der(0x01, Buffer.from([0xff]))
  const usages = extendedKeyUsage.map((usage) => objectId(EXTENDED_KEY_USAGE[usage]))
  const identifier = createHash('sha1').update(key).digest()
  return [
    sequence(objectId(BASIC_CONSTRAINTS), yes, octets(sequence(...(isCa ? [yes] : [])))),
    sequence(objectId(KEY_USAGE_ID), yes, octets(flags(keyUsage.map((usage) => KEY_USAGE[usage])))),
    ...(usages.length === 0 ? [] : [sequence(objectId(EXTENDED_KEY_USAGE_ID), octets(sequence(...usages)))]),
    sequence(objectId(SUBJECT_KEY_IDENTIFIER), octets(octets(identifier))),
    ...(isEmpty(alternatives) ? [] : [alternativeNames(alternatives)]),
  ]
}

/** Positive, and of one length. */
function serial(): Buffer {
  const bytes = randomBytes(SERIAL_BYTES)
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return der(0x02, bytes)
}

/** `270102030405Z`; with four digits of the year where two are ambiguous. */
function time(ms: number): Buffer {
  const digits = new Date(ms).toISOString().slice(0, 19).replaceAll(/\D/g, '')
  if (Number(digits.slice(0, 4)) > SHORT_YEAR_MAX) return der(0x18, Buffer.from(`${digits}Z`))
  return der(0x17, Buffer.from(`${digits.slice(2)}Z`))
}

function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail = ''] = address.split('::')
  const groups = (part: string) => (part === '' ? [] : part.split(':'))
  const [before, after] = [groups(head), groups(tail)]
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0')
  return Buffer.from([...before, ...zeros, ...after].map((group) => group.padStart(4, '0')).join(''), 'hex')
}
