import type { ListedVersion, VersionsPage } from '../../ports/catalog.ts'
import type { BucketCall, Reply } from '../exchange/call.ts'
import { invalidArgument } from '../errors.ts'
import { isoTime } from '../iso-time.ts'
import { isVersionId } from '../request/keys.ts'
import { escapeText, xmlElement } from '../xml/xml.ts'
import { longXmlDocument } from '../xml/xml-writer.ts'
import type { XmlElements } from '../xml/xml-writer.ts'
import { owner } from './owner.ts'
import { keyWriter, readCount } from './parameters.ts'

/** Entries of one page: versions, delete markers and common prefixes together. */
const pageMax = 1000

type Versions = Pick<VersionsPage, 'versions'>

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
  if (versionMarker !== undefined && !isVersionId(versionMarker)) {
    throw invalidArgument('Invalid version id specified', 'version-id-marker', versionMarker)
  }
  const delimiter = query.get('delimiter') ?? ''
  const page =
    limit === 0
      ? { versions: [], prefixes: [] }
      : await store.catalog.versions({
          ...(bucket.at === undefined ? {} : { at: bucket.at }),
          bucket: bucket.uuid,
          prefix: Buffer.from(query.get('prefix') ?? ''),
          delimiter: Buffer.from(delimiter),
          afterKey: Buffer.from(keyMarker),
          ...(versionMarker === undefined ? {} : { afterVersion: versionMarker }),
          limit,
        })
  const write = keyWriter(query)
  const ownerElement = xmlElement('Owner', owner(svm))
  const next = 'next' in page ? page.next : undefined
  return {
    body: longXmlDocument(
      'ListVersionsResult',
      {
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
        Version: rowsOf(page, write.key, ownerElement),
        CommonPrefixes: page.prefixes.map((prefix) => ({ Prefix: write.key(prefix) })),
      },
      page.versions.length * versionBytes,
    ),
  }
}

/** What the elements of one take where keys are short. */
const versionBytes = 512

/** Versions and delete markers in one order. */
function rowsOf({ versions }: Versions, writeKey: (key: Uint8Array) => string, ownerElement: string): XmlElements {
  return (to) => {
    for (const row of versions) {
      const place = `${placeText(row, writeKey)}${ownerElement}`
      if (row.isMarker) {
        to.add(`<DeleteMarker>${place}</DeleteMarker>`)
        continue
      }
      const { etag, checksum, sizeBytes, storageClass = 'STANDARD' } = row
      to.add(
        `<Version><ETag>&quot;${etag}&quot;</ETag><ChecksumAlgorithm>${checksum.algorithm}</ChecksumAlgorithm>` +
          `<ChecksumType>${checksum.type}</ChecksumType><Size>${sizeBytes}</Size><StorageClass>${storageClass}` +
          `</StorageClass>${place}</Version>`,
      )
    }
  }
}

function placeText({ key, version, isCurrent, modifiedMs }: ListedVersion, writeKey: (key: Uint8Array) => string) {
  const keyText = escapeText(writeKey(key))
  return (
    `<Key>${keyText}</Key><VersionId>${version}</VersionId><IsLatest>${isCurrent}</IsLatest><LastModified>` +
    `${isoTime(modifiedMs)}</LastModified>`
  )
}
