import type { ListedRow } from '../../ports/catalog.ts'
import { invalidArgument } from '../errors.ts'
import type { OpenBucket } from '../objects/store.ts'
import { percentEncode } from '../request/percent.ts'
import { urlEncodedKey } from '../request/keys.ts'

/** A whole number of a query, at most `max`: more is taken for that, as Amazon does. */
export function readCount(query: ReadonlyMap<string, string>, name: string, max: number): number {
  const value = query.get(name)
  if (value === undefined || value === '') return max
  if (!/^\d{1,10}$/.test(value) || Number(value) > 2 ** 31 - 1) {
    throw invalidArgument(`Argument ${name} must be an integer between 0 and 2147483647`, name, value)
  }
  return Math.min(Number(value), max)
}

/** How keys are written in a listing: as they are, or percent-encoded where the client asks for it. */
export interface KeyWriter {
  readonly encodingType: 'url' | undefined
  readonly key: (key: Uint8Array) => string
  readonly keyOf: (row: Pick<ListedRow, 'key' | 'keyText'>) => string
  readonly text: (text: string) => string
}

export function keyWriter(query: ReadonlyMap<string, string>): KeyWriter {
  const encodingType = query.get('encoding-type')
  if (encodingType === undefined) {
    return { encodingType, key: utf8Text, keyOf: (row) => row.keyText ?? utf8Text(row.key), text: (text) => text }
  }
  if (encodingType !== 'url') {
    throw invalidArgument('Invalid Encoding Method specified in Request', 'encoding-type', encodingType)
  }
  return {
    encodingType,
    key: urlEncodedKey,
    keyOf: (row) => urlEncodedKey(row.key),
    text: (text) => percentEncode(Buffer.from(text, 'utf8'), { keepSlash: true }),
  }
}

/** Without a copy of the bytes: a page has a thousand keys. */
function utf8Text(key: Uint8Array): string {
  return Buffer.isBuffer(key)
    ? key.toString('utf8')
    : Buffer.from(key.buffer, key.byteOffset, key.length).toString('utf8')
}

/** Which version an answer is about; nothing in a bucket that never had versions. */
export function versionHeaders({ versioning }: OpenBucket, version: string): Readonly<Record<string, string>> {
  return versioning === 'unversioned' ? {} : { 'x-amz-version-id': version }
}

/** Which version a write made. The version `null`, as writes make it without versions and while suspended, is not told. */
export function writtenVersionHeaders(version: string): Readonly<Record<string, string>> {
  return version === 'null' ? {} : { 'x-amz-version-id': version }
}
