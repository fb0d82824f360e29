import type { ObjectRow } from '../../ports/catalog.ts'
import { demand } from '../exchange/call.ts'
import type { ObjectCall, Reply } from '../exchange/call.ts'
import { checksumAlgorithms } from '../checksums/algorithms.ts'
import { checkReadConditions } from '../request/conditions.ts'
import { invalidArgument, s3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { algorithmOf } from '../objects/checksums.ts'
import { findObject } from '../objects/read.ts'
import { xmlDocument } from '../xml/xml.ts'
import type { XmlContent } from '../xml/xml.ts'
import { refuseCustomerKey, refuseEncryptionHeaders } from './encryption-headers.ts'
import { checksumElements, lastModified, validatorHeaders } from './object-headers.ts'
import { versionHeaders } from './parameters.ts'

/** What HEAD tells of an object, and how it is made of parts: as much of it as the client names. */
export async function getObjectAttributes(call: ObjectCall): Promise<Reply> {
  const { headers, query, store, bucket, key } = call
  const version = query.get('versionId')
  // Amazon demands the right to read the object beside the right to read its attributes.
  await demand(call, version === undefined ? 's3:GetObject' : 's3:GetObjectVersion', bucket.name, key)
  const wanted = readAttributes(headers)
  const page = readPage(headers)
  refuseEncryptionHeaders(headers)
  const row = await findObject(store, bucket, key, version)
  refuseCustomerKey(headers)
  const versions = versionHeaders(bucket, row.version)
  if (checkReadConditions(headers, row) === 'not-modified') {
    return { status: 304, headers: { ...validatorHeaders(row), ...versions } }
  }
  const content: Readonly<Record<Attribute, XmlContent>> = {
    ETag: row.etag,
    Checksum: checksumElements(row.checksum),
    ObjectParts: row.parts === null ? undefined : partsPage(row, row.parts, page),
    StorageClass: row.storageClass ?? 'STANDARD',
    ObjectSize: row.sizeBytes,
  }
  return {
    headers: { ...lastModified(row), ...versions },
    body: xmlDocument(
      'GetObjectAttributesResponse',
      Object.fromEntries(attributes.filter((name) => wanted.has(name)).map((name) => [name, content[name]])),
    ),
  }
}

const attributes = ['ETag', 'Checksum', 'ObjectParts', 'StorageClass', 'ObjectSize'] as const
type Attribute = (typeof attributes)[number]

/** Parts of one page. */
const pageMax = 1000

function readAttributes(headers: RequestHeaders): ReadonlySet<Attribute> {
  const name = 'x-amz-object-attributes'
  const given = (headerValue(headers, name) ?? '').split(',').map((one) => one.trim())
  const named = given.filter((one) => one !== '')
  if (named.length === 0) {
    throw s3Error('InvalidRequest', {
      message: `The ${name} header specifying the attributes to be retrieved is either missing or empty`,
    })
  }
  return new Set(
    named.map((one) => {
      const known = attributes.find((attribute) => attribute === one)
      if (known === undefined) throw invalidArgument('Invalid attribute name specified.', name, one)
      return known
    }),
  )
}

interface Page {
  readonly marker: number
  readonly limit: number
}

function readPage(headers: RequestHeaders): Page {
  const limit = readNumber(headers, 'x-amz-max-parts') ?? pageMax
  return { marker: readNumber(headers, 'x-amz-part-number-marker') ?? 0, limit: Math.min(limit, pageMax) }
}

function readNumber(headers: RequestHeaders, name: string): number | undefined {
  const value = headerValue(headers, name)
  if (value === undefined || value === '') return undefined
  if (/^\d{1,9}$/.test(value)) return Number(value)
  throw invalidArgument(`${name} must be an integer between 0 and 999999999`, name, value)
}

/**
 * Amazon lists the parts of objects with a composite checksum, and tells only the number of those of others. Here all are
 * listed: what a client would read them for, the places where parts meet, is there in any case.
 */
function partsPage(row: ObjectRow, parts: NonNullable<ObjectRow['parts']>, { marker, limit }: Page): XmlContent {
  const { element } = checksumAlgorithms[algorithmOf(row.checksum)]
  const after = parts.filter((part) => part.number > marker)
  const listed = after.slice(0, limit)
  return {
    PartsCount: parts.length,
    PartNumberMarker: marker,
    NextPartNumberMarker: listed.at(-1)?.number ?? marker,
    MaxParts: limit,
    IsTruncated: limit > 0 && after.length > listed.length,
    Part: listed.map((part) => ({ [element]: part.checksum, PartNumber: part.number, Size: part.sizeBytes })),
  }
}
