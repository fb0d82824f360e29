import type { UploadPosition, UploadRow } from '../../ports/catalog.ts'
import type { BucketCall, Reply } from '../exchange/call.ts'
import { invalidArgument } from '../errors.ts'
import { isId } from '../objects/ids.ts'
import { readUpload } from '../objects/uploads.ts'
import { isoTime } from '../iso-time.ts'
import { xmlDocument } from '../xml/xml.ts'
import { owner } from './owner.ts'
import { keyWriter, readCount } from './parameters.ts'

/** Entries of one page, uploads and common prefixes together. */
const pageMax = 1000
/** Uploads that are read at once after a common prefix. */
const batchMin = 4
const readsATurn = 100
/** Upload ids are hex digits: this sorts behind all of them. */
const behindAllIds = '~'
/** Keys are UTF-8, which never has this byte: a key that ends with it sorts behind all that begin with what is before. */
const behindAllKeys = Buffer.from([0xff])

export async function listMultipartUploads(call: BucketCall): Promise<Reply> {
  const { query, bucket, svm } = call
  const limit = readCount(query, 'max-uploads', pageMax)
  const keyMarker = query.get('key-marker') ?? ''
  const idMarker = keyMarker === '' ? '' : (query.get('upload-id-marker') ?? '')
  await checkIdMarker(call, keyMarker, idMarker)
  const { entries, isTruncated } = await readPage(call, limit, startOf(keyMarker, idMarker))
  const write = keyWriter(query)
  const last = entries.at(-1)
  const delimiter = query.get('delimiter')
  return {
    body: xmlDocument('ListMultipartUploadsResult', {
      Bucket: bucket.name,
      KeyMarker: write.text(keyMarker),
      UploadIdMarker: idMarker,
      NextKeyMarker:
        isTruncated && last !== undefined
          ? write.key(last.upload === undefined ? last.prefix : last.upload.key)
          : undefined,
      NextUploadIdMarker: isTruncated ? last?.upload?.upload : undefined,
      Prefix: write.text(query.get('prefix') ?? ''),
      Delimiter: delimiter === undefined || delimiter === '' ? undefined : write.text(delimiter),
      EncodingType: write.encodingType,
      MaxUploads: limit,
      IsTruncated: isTruncated,
      Upload: entries.flatMap(({ upload }) => {
        if (upload === undefined) return []
        const { id, key, startedMs, algorithm, type } = readUpload(upload)
        return {
          Key: write.key(key),
          UploadId: id,
          Initiator: owner(svm),
          Owner: owner(svm),
          StorageClass: 'STANDARD',
          Initiated: isoTime(startedMs),
          ChecksumAlgorithm: algorithm,
          ChecksumType: type,
        }
      }),
      CommonPrefixes: entries.flatMap((entry) =>
        entry.upload === undefined ? { Prefix: write.key(entry.prefix) } : [],
      ),
    }),
  }
}

type Entry =
  | { readonly upload: UploadRow; readonly prefix?: undefined }
  | { readonly upload?: undefined; readonly prefix: Uint8Array }

/**
 * An upload that is gone since the last page was read is no mistake: tools abort what they list. One that never was there
 * by its form, or is of another key, is.
 */
async function checkIdMarker({ store, bucket }: BucketCall, keyMarker: string, idMarker: string): Promise<void> {
  if (idMarker === '') return
  const upload = isId(idMarker) ? await store.catalog.upload(bucket.uuid, idMarker) : undefined
  const isOfKey = upload === undefined || Buffer.from(keyMarker).equals(upload.key)
  if (isId(idMarker) && isOfKey) return
  throw invalidArgument('Invalid uploadId marker', 'upload-id-marker', idMarker)
}

function startOf(keyMarker: string, idMarker: string): UploadPosition | undefined {
  if (keyMarker === '') return undefined
  return { key: Buffer.from(keyMarker), upload: idMarker === '' ? behindAllIds : idMarker }
}

/** Goes through the open uploads in order, over each common prefix in one step. */
async function readPage(
  { query, store, bucket }: BucketCall,
  limit: number,
  start: UploadPosition | undefined,
): Promise<{ readonly entries: readonly Entry[]; readonly isTruncated: boolean }> {
  const prefix = Buffer.from(query.get('prefix') ?? '')
  const delimiter = Buffer.from(query.get('delimiter') ?? '')
  const entries: Entry[] = []
  let after = laterOf(start, prefix.length === 0 ? undefined : { key: prefix, upload: '' })
  // A key marker within a common prefix, or equal to it, has shown that prefix already.
  const shown = start === undefined ? undefined : commonPrefix(Buffer.from(start.key), prefix, delimiter)
  if (shown !== undefined) after = { key: Buffer.concat([shown, behindAllKeys]), upload: '' }
  // A snapshot has objects, not what was on its way to become some.
  if (limit === 0 || bucket.at !== undefined) return { entries, isTruncated: false }

  // A jump over a common prefix uses one upload of what was read; after it little is read, and then more again.
  let wanted = delimiter.length === 0 ? limit + 1 : batchMin
  for (let reads = 1; ; reads++) {
    const rows = await store.catalog.uploads(bucket.uuid, after, wanted)
    let jumped = false
    for (const row of rows) {
      const key = Buffer.from(row.key)
      if (!key.subarray(0, prefix.length).equals(prefix)) return { entries, isTruncated: false }
      if (entries.length === limit) return { entries, isTruncated: true }
      const common = commonPrefix(key, prefix, delimiter)
      if (common === undefined) {
        entries.push({ upload: row })
        after = { key, upload: row.upload }
      } else {
        entries.push({ prefix: common })
        after = { key: Buffer.concat([common, behindAllKeys]), upload: '' }
        jumped = true
        break
      }
    }
    if (!jumped && rows.length < wanted) return { entries, isTruncated: false }
    wanted = jumped ? batchMin : Math.min(wanted * 2, pageMax)
    // A page of common prefixes is a thousand of these reads: others get their turn in between.
    if (reads % readsATurn === 0) await store.system.clock.sleep(0)
  }
}

/** The part of a key up to and including the delimiter that follows the prefix. */
function commonPrefix(key: Buffer, prefix: Buffer, delimiter: Buffer): Uint8Array | undefined {
  if (delimiter.length === 0 || !key.subarray(0, prefix.length).equals(prefix)) return undefined
  const at = key.indexOf(delimiter, prefix.length)
  return at < 0 ? undefined : key.subarray(0, at + delimiter.length)
}

function laterOf(a: UploadPosition | undefined, b: UploadPosition | undefined): UploadPosition | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Buffer.compare(a.key, b.key) >= 0 ? a : b
}
