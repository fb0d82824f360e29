import type { ObjectChecksum, ObjectRow } from '../../ports/catalog.ts'
import type { ObjectCall, Reply } from '../exchange/call.ts'
import { checkReadConditions, rangeStillFits } from '../request/conditions.ts'
import { invalidArgument, s3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { responseOverrides } from '../request/metadata.ts'
import { insistOnSoundness } from '../objects/damage.ts'
import { partsMax } from '../objects/limits.ts'
import { findObject, withObject } from '../objects/read.ts'
import type { Open } from '../objects/read.ts'
import { contentRange, readRange } from '../request/ranges.ts'
import type { ByteRange } from '../request/ranges.ts'
import { refuseCustomerKey, refuseEncryptionHeaders } from './encryption-headers.ts'
import { checksumHeaders, objectHeaders, validatorHeaders } from './object-headers.ts'
import { versionHeaders } from './parameters.ts'

export function getObject(call: ObjectCall): Promise<Reply> {
  return readObject(call, { isWithBytes: true })
}

export function headObject(call: ObjectCall): Promise<Reply> {
  return readObject(call, { isWithBytes: false })
}

/** GET and HEAD are one: they differ in whether the bytes follow. */
async function readObject(call: ObjectCall, { isWithBytes }: { readonly isWithBytes: boolean }): Promise<Reply> {
  const { headers, query, store, bucket, key, caller } = call
  const version = query.get('versionId')
  const overrides = responseOverrides(query, { isAnonymous: caller === undefined })
  const partNumber = readPartNumber(query.get('partNumber'))
  const wantsChecksum = readChecksumMode(headers)
  refuseEncryptionHeaders(headers)
  const rangeHeader = headerValue(headers, 'range')
  if (partNumber !== undefined && rangeHeader !== undefined) {
    throw s3Error('InvalidRequest', { message: 'Cannot specify both Range header and partNumber query parameter' })
  }
  const answerRow = async (row: ObjectRow, open?: Open): Promise<Reply> => {
    refuseCustomerKey(headers)
    if (checkReadConditions(headers, row) === 'not-modified')
      return { status: 304, headers: { ...validatorHeaders(row), ...versionHeaders(bucket, row.version) } }
    if (open === undefined) await insistOnSoundness(bucket, row)
    const range =
      partNumber === undefined
        ? readRange(rangeStillFits(headers, row) ? rangeHeader : undefined, row.sizeBytes)
        : partRange(row, partNumber)
    const checksum = partNumber === undefined ? wholeChecksum(row, range) : partChecksum(row, partNumber)
    return {
      // An empty object has no range to name, so even its only part is answered as a whole.
      status: range === undefined ? 200 : 206,
      headers: {
        ...(await objectHeaders(call, row)),
        ...versionHeaders(bucket, row.version),
        ...overrides,
        ...(range === undefined ? {} : { 'Content-Range': contentRange(range, row.sizeBytes) }),
        ...(partNumber !== undefined && row.parts !== null ? { 'x-amz-mp-parts-count': String(row.parts.length) } : {}),
        ...(wantsChecksum && checksum !== undefined ? checksumHeaders(checksum) : {}),
      },
      body: {
        sizeBytes: range === undefined ? row.sizeBytes : range.end - range.start + 1,
        bytes: await open?.(range, store.buffers),
        spent: (piece) => store.buffers.giveBack(piece),
      },
    }
  }
  // Without bytes nothing is opened, so nothing can be replaced meanwhile.
  return isWithBytes
    ? withObject(store, bucket, key, answerRow, version)
    : answerRow(await findObject(store, bucket, key, version))
}

function readChecksumMode(headers: RequestHeaders): boolean {
  const mode = headerValue(headers, 'x-amz-checksum-mode')
  if (mode === undefined) return false
  if (mode.toUpperCase() === 'ENABLED') return true
  throw s3Error('InvalidRequest', { message: 'Value for x-amz-checksum-mode header is invalid.' })
}

function readPartNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const number = Number(text)
  if (/^\d{1,5}$/.test(text) && number >= 1 && number <= partsMax) return number
  throw invalidArgument(`Part number must be an integer between 1 and ${partsMax}, inclusive`, 'partNumber', text)
}

/** A checksum is of all bytes or of a part; there is none of any other range. */
function wholeChecksum({ checksum }: ObjectRow, range: ByteRange | undefined): ObjectChecksum | undefined {
  return range === undefined ? checksum : undefined
}

/** The part's own, of the algorithm of the object. An object that was put at once is its only part. */
function partChecksum({ checksum, parts }: ObjectRow, number: number): ObjectChecksum | undefined {
  if (parts === null) return checksum
  const part = parts.find((one) => one.number === number)
  return part === undefined ? undefined : { ...checksum, value: part.checksum }
}

/** Where a part lies in the object. One that was put at once has one part. */
function partRange({ parts, sizeBytes }: ObjectRow, number: number): ByteRange | undefined {
  let start = 0
  for (const part of parts ?? [{ number: 1, sizeBytes }]) {
    const end = start + part.sizeBytes - 1
    if (part.number === number) return end < start ? undefined : { start, end }
    start += part.sizeBytes
  }
  throw s3Error('InvalidPartNumber', { fields: { PartNumberRequested: String(number) } })
}
