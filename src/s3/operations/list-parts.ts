import type { ObjectCall, Reply } from '../exchange/call.ts'
import { invalidArgument } from '../errors.ts'
import { openUpload } from '../objects/uploads.ts'
import { wellFormedText, xmlDocument } from '../xml/xml.ts'
import { abortHeaders, partChecksumElements, quoted } from './object-headers.ts'
import { owner } from './owner.ts'
import { keyWriter, readCount } from './parameters.ts'
import { uploadIdOf } from './upload-parameters.ts'

/** Parts of one page. */
const pageMax = 1000

export async function listParts(call: ObjectCall): Promise<Reply> {
  const { query, store, bucket, key, svm } = call
  const upload = await openUpload(store, bucket, key, uploadIdOf(call))
  const limit = readCount(query, 'max-parts', pageMax)
  const marker = readMarker(query.get('part-number-marker'))
  const found = limit === 0 ? [] : await store.catalog.parts(bucket.uuid, upload.id, marker, limit + 1)
  const page = found.slice(0, limit)
  const write = keyWriter(query)
  return {
    headers: abortHeaders(bucket, upload),
    body: xmlDocument('ListPartsResult', {
      Bucket: bucket.name,
      // Nobody asks ListParts for an encoding, as it is not documented to have one.
      Key: wellFormedText(write.key(key)),
      UploadId: upload.id,
      Initiator: owner(svm),
      Owner: owner(svm),
      StorageClass: upload.details.storageClass ?? 'STANDARD',
      PartNumberMarker: marker,
      NextPartNumberMarker: page.at(-1)?.number,
      MaxParts: limit,
      IsTruncated: found.length > page.length,
      EncodingType: write.encodingType,
      ChecksumAlgorithm: upload.algorithm,
      ChecksumType: upload.type,
      Part: page.map((part) => {
        const about = {
          PartNumber: part.number,
          LastModified: new Date(part.modifiedMs).toISOString(),
          ETag: quoted(part.etag),
          Size: part.sizeBytes,
        }
        return Object.assign(about, partChecksumElements(part.checksum))
      }),
    }),
  }
}

function readMarker(text: string | undefined): number {
  if (text === undefined || text === '') return 0
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw invalidArgument('part-number-marker must be a number of a part.', 'part-number-marker', text)
}
