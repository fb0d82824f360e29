import { s3Error } from '../errors.ts'

/**
 * Percent-decodes exactly once, to bytes. A `%` without two hex digits is refused, so no two readers of the target can
 * disagree about what it names. `text` holds one character per byte (`latin1`), as Node's parser gives a target.
 */
export function percentDecode(text: string): Buffer {
  if (!text.includes('%')) return Buffer.from(text, 'latin1')
  const bytes = Buffer.allocUnsafe(text.length)
  let length = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code !== 0x25) {
      bytes[length++] = code
      continue
    }
    const high = hexDigit(text.charCodeAt(at + 1))
    const low = hexDigit(text.charCodeAt(at + 2))
    if (high < 0 || low < 0) {
      throw s3Error('InvalidURI', { message: 'The request target has a "%" that is not followed by two hex digits.' })
    }
    bytes[length++] = high * 16 + low
    at += 2
  }
  return bytes.subarray(0, length)
}

/**
 * Percent-encodes as Signature Version 4 wants it: all bytes but `A-Z a-z 0-9 - . _ ~` (and `/` where `keepSlash`),
 * with upper-case hex digits.
 */
export function percentEncode(bytes: Uint8Array, options: { readonly keepSlash: boolean }): string {
  const table = options.keepSlash ? encodedKeepingSlash : encoded
  let text = ''
  for (const byte of bytes) text += table[byte] ?? ''
  return text
}

const encoded = encodingTable('')
const encodedKeepingSlash = encodingTable('/')

function encodingTable(alsoKept: string): readonly string[] {
  return Array.from({ length: 256 }, (_, byte) => {
    const character = String.fromCharCode(byte)
    if (/[A-Za-z0-9\-._~]/.test(character) || (character !== '' && alsoKept.includes(character))) return character
    return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  })
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  if (code >= 0x41 && code <= 0x46) return code - 0x37
  if (code >= 0x61 && code <= 0x66) return code - 0x57
  return -1
}
