import type { ListedRow, ListPage } from '../../ports/catalog.ts'
import type { BucketCall, Reply } from '../exchange/call.ts'
import { invalidArgument } from '../errors.ts'
import { isoTime } from '../iso-time.ts'
import { escapeText, xmlElement } from '../xml/xml.ts'
import { longXmlDocument } from '../xml/xml-writer.ts'
import type { XmlElements } from '../xml/xml-writer.ts'
import { owner } from './owner.ts'
import { keyWriter, readCount } from './parameters.ts'
import type { KeyWriter } from './parameters.ts'

/** Entries of one page, objects and common prefixes together. */
const pageMax = 1000

/** Version 1: the client goes on after the last entry it was shown. */
export async function listObjects(call: BucketCall): Promise<Reply> {
  const { query } = call
  const marker = query.get('marker') ?? ''
  const page = await readPage(call, Buffer.from(marker))
  const write = keyWriter(query)
  const { Name, ...rest } = commonElements(call, page)
  return {
    body: pageDocument(page, {
      Name,
      Marker: write.text(marker),
      // Without a delimiter clients take the last key, and Amazon sends none.
      NextMarker: page.next !== undefined && query.has('delimiter') ? write.key(page.next) : undefined,
      ...rest,
      Contents: contentsOf(page, write, ownerText(call)),
      CommonPrefixes: prefixesOf(page, write),
    }),
  }
}

/** Version 2: the client goes on with a token. It holds the last entry shown, so it stays good whatever is written. */
export async function listObjectsV2(call: BucketCall): Promise<Reply> {
  const { query } = call
  const token = query.get('continuation-token')
  const startAfter = query.get('start-after')
  const page = await readPage(call, token ? readToken(token) : Buffer.from(startAfter ?? ''))
  const write = keyWriter(query)
  const withOwner = query.get('fetch-owner')?.toLowerCase() === 'true'
  return {
    body: pageDocument(page, {
      ...commonElements(call, page),
      KeyCount: page.objects.length + page.prefixes.length,
      ContinuationToken: token,
      NextContinuationToken: page.next === undefined ? undefined : Buffer.from(page.next).toString('base64url'),
      StartAfter: startAfter === undefined ? undefined : write.text(startAfter),
      Contents: contentsOf(page, write, withOwner ? ownerText(call) : ''),
      CommonPrefixes: prefixesOf(page, write),
    }),
  }
}

interface Page {
  readonly objects: readonly ListedRow[]
  readonly prefixes: readonly (Uint8Array | string)[]
  readonly limit: number
  /** The last entry, when there is more after it. */
  readonly next: Uint8Array | undefined
}

async function readPage({ query, store, bucket }: BucketCall, after: Uint8Array): Promise<Page> {
  const limit = readCount(query, 'max-keys', pageMax)
  if (limit === 0) return { objects: [], prefixes: [], limit, next: undefined }
  const asked = {
    bucket: bucket.uuid,
    prefix: Buffer.from(query.get('prefix') ?? ''),
    delimiter: Buffer.from(query.get('delimiter') ?? ''),
    limit,
    ...(bucket.at === undefined ? {} : { at: bucket.at }),
  }
  let page = await store.catalog.list({ ...asked, after })
  // A page may be empty and not the last, where very many keys in a row are deleted but kept as versions. Clients take an
  // empty page for the end, so they get the next one that shows something.
  while (page.next !== undefined && page.objects.length + prefixesIn(page).length === 0) {
    await store.system.clock.sleep(0)
    page = await store.catalog.list({ ...asked, after: page.next, ...(page.within === true ? { within: true } : {}) })
  }
  const { objects, next } = page
  const prefixes = prefixesIn(page)
  // Where the next page begins: behind what this one shows, so that nothing in between has to be remembered.
  const lastPrefix = prefixes.at(-1)
  const last = later(objects.at(-1)?.key, typeof lastPrefix === 'string' ? Buffer.from(lastPrefix) : lastPrefix)
  return { objects, prefixes, limit, next: next === undefined ? undefined : last }
}

function prefixesIn({ prefixes, prefixTexts }: ListPage): readonly (Uint8Array | string)[] {
  return prefixTexts ?? prefixes
}

function later(a: Uint8Array | undefined, b: Uint8Array | undefined): Uint8Array | undefined {
  if (a === undefined || b === undefined) return a ?? b
  return Buffer.compare(a, b) > 0 ? a : b
}

function commonElements({ query, bucket }: BucketCall, page: Page) {
  const write = keyWriter(query)
  const delimiter = query.get('delimiter')
  return {
    Name: bucket.name,
    Prefix: write.text(query.get('prefix') ?? ''),
    MaxKeys: page.limit,
    Delimiter: delimiter === undefined || delimiter === '' ? undefined : write.text(delimiter),
    EncodingType: write.encodingType,
    IsTruncated: page.next !== undefined,
  }
}

function pageDocument({ objects, prefixes }: Page, content: Parameters<typeof longXmlDocument>[1]): Buffer {
  const expectedBytes = headBytes + objects.length * objectBytes + prefixes.length * prefixBytes
  return longXmlDocument('ListBucketResult', content, expectedBytes)
}

/** What elements take where keys have below a hundred bytes, and mostly more than that. */
const headBytes = 1024
const objectBytes = 384
const prefixBytes = 128

/** A page has a thousand of these, so they are written in few pieces. Only the key may hold what needs escaping. */
function contentsOf({ objects }: Page, write: KeyWriter, ownerElement: string): XmlElements {
  return (to) => {
    let about: ListedRow['checksum'] | undefined
    let aboutText = ''
    for (const row of objects) {
      const { modifiedMs, etag, checksum, sizeBytes, storageClass = 'STANDARD' } = row
      if (checksum !== about) {
        about = checksum
        aboutText = `&quot;</ETag><ChecksumAlgorithm>${checksum.algorithm}</ChecksumAlgorithm><ChecksumType>${checksum.type}</ChecksumType><Size>`
      }
      to.add(
        `<Contents><Key>${escapeText(write.keyOf(row))}</Key><LastModified>${isoTime(modifiedMs)}</LastModified><ETag>&quot;` +
          `${etag}${aboutText}${sizeBytes}</Size><StorageClass>${storageClass}</StorageClass>${ownerElement}</Contents>`,
      )
    }
  }
}

function prefixesOf({ prefixes }: Page, write: KeyWriter): XmlElements {
  return (to) => {
    for (const prefix of prefixes) {
      const written = typeof prefix === 'string' ? write.text(prefix) : write.key(prefix)
      to.add(`<CommonPrefixes><Prefix>${escapeText(written)}</Prefix></CommonPrefixes>`)
    }
  }
}

function ownerText({ svm }: BucketCall): string {
  return xmlElement('Owner', owner(svm))
}

function readToken(token: string): Buffer {
  const key = Buffer.from(token, 'base64url')
  if (key.length > 0 && key.toString('base64url') === token) return key
  throw invalidArgument('The continuation token provided is incorrect', 'continuation-token', token)
}
