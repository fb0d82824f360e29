import { demand } from '../exchange/call.ts'
import type { ObjectCall, Reply } from '../exchange/call.ts'
import { taggingDirective } from '../config/tagging.ts'
import type { Tag } from '../../records/tags.ts'
import { findChecksumAlgorithm } from '../checksums/algorithms.ts'
import type { ChecksumAlgorithm } from '../checksums/algorithms.ts'
import { invalidArgument, s3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { websiteRedirectHeader } from '../request/metadata.ts'
import type { ObjectMetadata } from '../request/metadata.ts'
import { copyObject as copyInto } from '../objects/copy.ts'
import { readDetails } from '../objects/details.ts'
import { xmlDocument } from '../xml/xml.ts'
import { copySource } from './copy-source.ts'
import type { CopySource } from './copy-source.ts'
import { checksumElements, expirationHeaders, quoted } from './object-headers.ts'
import { readObjectWrite } from './object-write.ts'
import { writtenVersionHeaders } from './parameters.ts'
import { conditionOfWrite } from './write-conditions.ts'

export async function copyObject(call: ObjectCall): Promise<Reply> {
  const { headers, store, bucket, key } = call
  const write = await readObjectWrite(call)
  const isReplacing = readDirective(headers) === 'REPLACE'
  const isRetagging = taggingDirective(headers) === 'REPLACE'
  const algorithm = readAlgorithm(headers)
  const source = await copySource(call)
  // Out of a snapshot it is what it was, not what it is.
  const isPresent = source.bucket.at === undefined
  const isItself = isPresent && source.bucket.uuid === bucket.uuid && Buffer.from(source.key).equals(key)
  // A copy of an older version onto its key brings it back.
  const isRedirecting = headers.has(websiteRedirectHeader)
  const isChanging = isReplacing || isRedirecting || headers.has('x-amz-storage-class') || algorithm !== undefined
  if (isItself && source.version === undefined && !isChanging) {
    throw s3Error('InvalidRequest', {
      message:
        'This copy request is illegal because it is trying to copy an object to itself without changing the ' +
        "object's metadata, storage class, website redirect location or encryption attributes.",
    })
  }
  const copy = await copyInto(store, {
    source,
    target: { bucket, key },
    details: async (row) => {
      source.check(row)
      const kept = readDetails(row.details)
      if (!isRetagging && kept.tags.length > 0) await demandForTags(call, source, kept.tags)
      return {
        metadata: isReplacing ? write.metadata : copiedMetadata(kept.metadata, write.metadata),
        owner: write.owner,
        tags: isRetagging ? (write.tags ?? []) : kept.tags,
        storageClass: write.storageClass,
      }
    },
    locks: write,
    algorithm,
    condition: await conditionOfWrite(call),
  })
  return {
    headers: {
      ...writtenVersionHeaders(copy.version),
      ...source.headers(),
      ...expirationHeaders(bucket, { ...copy, key }),
    },
    body: xmlDocument('CopyObjectResult', {
      LastModified: new Date(copy.modifiedMs).toISOString(),
      ETag: quoted(copy.etag),
      ...checksumElements(copy.checksum),
    }),
  }
}

/** Where readers are redirected is of one object: a copy has it of its own request or not at all. */
function copiedMetadata(source: ObjectMetadata, { websiteRedirectLocation }: ObjectMetadata): ObjectMetadata {
  const { websiteRedirectLocation: _, ...kept } = source
  return { ...kept, ...(websiteRedirectLocation === undefined ? {} : { websiteRedirectLocation }) }
}

/** Tags that go with a copy are read in one place and put in another: each takes its permission. */
async function demandForTags(call: ObjectCall, source: CopySource, tags: readonly Tag[]): Promise<void> {
  const { bucket, key, version } = source
  const read = version === undefined ? 's3:GetObjectTagging' : 's3:GetObjectVersionTagging'
  await demand(call, read, bucket.name, key, { version: version ?? null })
  await demand(call, 's3:PutObjectTagging', call.bucket.name, call.key, { requestTags: () => tags })
}

function readDirective(headers: RequestHeaders): 'COPY' | 'REPLACE' {
  const value = headerValue(headers, 'x-amz-metadata-directive') ?? 'COPY'
  if (value === 'COPY' || value === 'REPLACE') return value
  throw invalidArgument('Unknown metadata directive.', 'x-amz-metadata-directive', value)
}

function readAlgorithm(headers: RequestHeaders): ChecksumAlgorithm | undefined {
  const name = headerValue(headers, 'x-amz-checksum-algorithm')
  if (name === undefined) return undefined
  const algorithm = findChecksumAlgorithm(name)
  if (algorithm !== undefined) return algorithm
  throw s3Error('InvalidRequest', { message: `Checksum algorithm provided is unsupported: ${name}` })
}
