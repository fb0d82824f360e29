import type { VersionRow } from '../../ports/catalog.ts'
import type { BucketCall, Reply } from '../call.ts'
import { invalidArgument } from '../errors.ts'
import { xmlDocument } from '../xml.ts'
import type { XmlContent } from '../xml.ts'
import { quoted } from './object-headers.ts'
import { owner } from './owner.ts'
import { keyWriter, readCount } from './parameters.ts'

/** Entries of one page: versions, delete markers and common prefixes together. */
const pageMax = 1000

/** All rows of the keys, newest first. The client goes on after the last entry it was shown. */
export async function listObjectVersions(call: BucketCall): Promise<Reply> {
  const { query, store, bucket, svm } = call
  const limit = readCount(query, 'max-keys', pageMax)
  const keyMarker = query.get('key-marker') ?? ''
  const versionMarker = query.get('version-id-marker') || undefined
  if (versionMarker !== undefined && keyMarker === '') {
    throw invalidArgument(
      'A version-id marker cannot be specified without a key marker.',
      'version-id-marker',
      versionMarker,
    )
  }
  const delimiter = query.get('delimiter') ?? ''
  const page =
    limit === 0
      ? { versions: [], prefixes: [] }
      : await store.catalog.versions({
          bucket: bucket.uuid,
          prefix: Buffer.from(query.get('prefix') ?? ''),
          delimiter: Buffer.from(delimiter),
          afterKey: Buffer.from(keyMarker),
          ...(versionMarker === undefined ? {} : { afterVersion: versionMarker }),
          limit,
        })
  const write = keyWriter(query)
  const next = 'next' in page ? page.next : undefined
  return {
    body: xmlDocument('ListVersionsResult', {
      Name: bucket.name,
      Prefix: write.text(query.get('prefix') ?? ''),
      KeyMarker: write.text(keyMarker),
      VersionIdMarker: versionMarker ?? '',
      NextKeyMarker: next === undefined ? undefined : write.key(next.key),
      NextVersionIdMarker: next?.version,
      MaxKeys: limit,
      Delimiter: delimiter === '' ? undefined : write.text(delimiter),
      EncodingType: write.encodingType,
      IsTruncated: next !== undefined,
      Version: page.versions.filter((row) => !row.isMarker).map((row) => version(row, write.key, svm)),
      DeleteMarker: page.versions.filter((row) => row.isMarker).map((row) => place(row, write.key, svm)),
      CommonPrefixes: page.prefixes.map((prefix) => ({ Prefix: write.key(prefix) })),
    }),
  }
}

function version(row: VersionRow, writeKey: (key: Uint8Array) => string, svm: string): XmlContent {
  return {
    ETag: quoted(row.etag),
    ChecksumAlgorithm: row.checksum.algorithm,
    ChecksumType: row.checksum.type,
    Size: row.sizeBytes,
    StorageClass: 'STANDARD',
    ...place(row, writeKey, svm),
  }
}

function place(row: VersionRow, writeKey: (key: Uint8Array) => string, svm: string) {
  return {
    Key: writeKey(row.key),
    VersionId: row.version,
    IsLatest: row.isCurrent,
    LastModified: new Date(row.modifiedMs).toISOString(),
    Owner: owner(svm),
  }
}
