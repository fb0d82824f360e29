import type { ObjectCall, Reply } from '../exchange/call.ts'
import { urlEncodedKey } from '../request/keys.ts'
import { decodeChecksum, findChecksumAlgorithm } from '../checksums/algorithms.ts'
import { readObjectChecksum } from '../checksums/claims.ts'
import { unquoted } from '../request/conditions.ts'
import { findNumber } from '../config/elements.ts'
import { invalidArgument, s3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { completeUpload } from '../objects/complete.ts'
import type { Expected, NamedPart } from '../objects/complete.ts'
import { partsMax } from '../objects/limits.ts'
import { inTurns } from '../exchange/turns.ts'
import { child, children, malformed, readXmlInTurns, wellFormedText, xmlDocument } from '../xml/xml.ts'
import type { XmlNode } from '../xml/xml.ts'
import { checksumElements, expirationHeaders, quoted } from './object-headers.ts'
import { writtenVersionHeaders } from './parameters.ts'
import { refuseUnbuilt } from './object-write.ts'
import { uploadIdOf } from './upload-parameters.ts'
import { conditionOfWrite, underCondition } from './write-conditions.ts'

export async function completeMultipartUpload(call: ObjectCall): Promise<Reply> {
  const { headers, store, bucket, key } = call
  refuseUnbuilt(headers)
  const expected = readExpected(headers)
  const document = await call.document({ isChecksumOfObject: true })
  const root = await readXmlInTurns(document, 'CompleteMultipartUpload', call.turn)
  const entries = children(root, 'Part')
  if (entries.length === 0) throw malformed('A Part is needed.')
  if (entries.length > partsMax) throw s3Error('TooManyParts')
  const condition = await conditionOfWrite(call)
  const object = await underCondition(condition, async () =>
    completeUpload(store, bucket, key, {
      upload: uploadIdOf(call),
      parts: await inTurns(entries, partsPerTurn, call.turn, readPart),
      expected,
      condition,
    }),
  )
  return {
    headers: { ...writtenVersionHeaders(object.version), ...expirationHeaders(bucket, { ...object, key }) },
    body: xmlDocument('CompleteMultipartUploadResult', {
      Location: `${call.bucketUrl}/${urlEncodedKey(key)}`,
      Bucket: bucket.name,
      Key: wellFormedText(Buffer.from(key).toString('utf8')),
      ETag: quoted(object.etag),
      ...checksumElements(object.checksum),
    }),
  }
}

/** They take about a millisecond. */
const partsPerTurn = 500

function readPart(entry: XmlNode): NamedPart {
  const number = findNumber(entry, 'PartNumber')
  if (number === undefined || number < 1 || number > partsMax) {
    throw invalidArgument(`PartNumber must be an integer between 1 and ${partsMax}`, 'PartNumber', String(number ?? ''))
  }
  return { number, etag: unquoted(child(entry, 'ETag').text.trim()), checksum: checksumOf(entry) }
}

function checksumOf(entry: XmlNode): NamedPart['checksum'] {
  const given = entry.children.filter(({ name }) => name.startsWith('Checksum') && name !== 'ChecksumType')
  const [first] = given
  if (first === undefined) return undefined
  const algorithm = findChecksumAlgorithm(nameOf(first))
  const value = first.text.trim()
  if (given.length === 1 && algorithm !== undefined && decodeChecksum(algorithm, value) !== undefined) {
    return { algorithm, value }
  }
  const values = given.map((one) => `${nameOf(one)}:${one.text};`).join('')
  throw invalidArgument('Invalid Base64 or multiple checksums present in request', 'Checksum', values)
}

function nameOf(element: XmlNode): string {
  return element.name.slice('Checksum'.length)
}

function readExpected(headers: RequestHeaders): Expected {
  const size = headerValue(headers, 'x-amz-mp-object-size')
  if (size !== undefined && !/^\d{1,15}$/.test(size)) {
    const problem = /^-\d+$/.test(size) ? 'is less than zero' : 'is invalid'
    throw s3Error('InvalidRequest', { message: `Value for x-amz-mp-object-size header ${problem}: '${size}'` })
  }
  const type = headerValue(headers, 'x-amz-checksum-type')?.toUpperCase()
  if (type !== undefined && type !== 'FULL_OBJECT' && type !== 'COMPOSITE') {
    throw s3Error('InvalidRequest', { message: 'Value for x-amz-checksum-type header is invalid.' })
  }
  return {
    sizeBytes: size === undefined ? undefined : Number(size),
    type,
    checksum: readObjectChecksum(headers),
  }
}
