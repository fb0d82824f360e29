/**
 * DER, as much of it as certificates and signing requests need (X.690). Each value is a tag, a length and the content; a length of 128
 * or more is the number of its bytes, with the highest bit set, and these bytes.
 *
 *     30 06          sequence, 6 bytes
 *        02 01 05    integer 5
 *        05 00       null
 *        0c ...
 */
export function der(tag: number, ...contents: readonly Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

export const sequence = (...contents: readonly Buffer[]) => der(0x30, ...contents)
export const setOf = (...contents: readonly Buffer[]) => der(0x31, ...contents)
export const utf8 = (value: string) => der(0x0c, Buffer.from(value, 'utf8'))
export const printable = (value: string) => der(0x13, Buffer.from(value, 'latin1'))
export const ia5 = (value: string) => der(0x16, Buffer.from(value, 'latin1'))
export const octets = (value: Buffer) => der(0x04, value)
/** Whole bytes: no bit of the last one is unused. */
export const bits = (value: Buffer) => der(0x03, Buffer.from([0]), value)
/** Named bits: those that are set, the highest being 0. Zeros at the end are left out (X.690, 11.2.2). */
export function flags(set: readonly number[]): Buffer {
  const bytes = Buffer.alloc(Math.floor(Math.max(...set) / 8) + 1)
  for (const bit of set) bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) | (0x80 >> (bit & 7))
  return der(0x03, Buffer.from([7 - (Math.max(...set) & 7)]), bytes)
}
export const nothing = () => der(0x05)
/** A number below 128. */
export const integer = (value: number) => der(0x02, Buffer.from([value]))

/** `1.2.840.113549`: the first two numbers are one byte, the others have seven bits in each byte. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

export function pem(label: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

function lengthOf(length: number): Buffer {
  if (length < 128) return Buffer.from([length])
  const hex = length.toString(16)
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex')
  return Buffer.concat([Buffer.from([0x80 | bytes.length]), bytes])
}

function base128(value: number): number[] {
  const bytes = [value % 128]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) bytes.unshift(128 | (rest % 128))
  return bytes
}
