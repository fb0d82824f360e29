import type { Tag } from '../../records/tags.ts'
import { invalidArgument, s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'
import { queryParameters } from '../request/query.ts'
import type { QueryParameter } from '../request/query.ts'
import { child, children, readXml, xmlDocument } from '../xml/xml.ts'
import type { XmlContent, XmlNode } from '../xml/xml.ts'
import { checkElements } from './elements.ts'

export const objectTagsMax = 10
export const bucketTagsMax = 50
/** Characters of Unicode, not bytes. */
export const tagKeyCharactersMax = 128
export const tagValueCharactersMax = 256

export type Tagged = 'object' | 'bucket'

/** The body of PutObjectTagging, PutBucketTagging, or the `tagging` field of a form. */
export function readTagging(body: Uint8Array, tagged: Tagged): readonly Tag[] {
  const root = readXml(body, 'Tagging')
  checkElements(root, ['TagSet'])
  const set = child(root, 'TagSet')
  checkElements(set, ['Tag'])
  const tags = children(set, 'Tag').map(readTag)
  checkCount(tags, tagged)
  tags.forEach(checkTag)
  if (hasDuplicateKeys(tags)) {
    throw s3Error('InvalidTag', { message: 'Cannot provide multiple Tags with the same key' })
  }
  return tags
}

/** `x-amz-tagging: a=1&b=two%20words`, of PutObject, CopyObject and CreateMultipartUpload. Absent: nothing. */
export function readTaggingHeader(headers: RequestHeaders): readonly Tag[] | undefined {
  const header = headerValue(headers, 'x-amz-tagging')
  if (header === undefined) return undefined
  const tags = parametersOf(header).map(({ name, value }) => ({ key: name, value }))
  if (hasDuplicateKeys(tags) || tags.some(({ key }) => key === '')) throw headerRefused(header)
  checkCount(tags, 'object')
  tags.forEach(checkTag)
  return tags
}

/** Whether a copy takes the tags of its source or those of `x-amz-tagging`. */
export function taggingDirective(headers: RequestHeaders): 'COPY' | 'REPLACE' {
  const directive = headerValue(headers, 'x-amz-tagging-directive') ?? 'COPY'
  if (directive === 'COPY' || directive === 'REPLACE') return directive
  throw invalidArgument('Unknown tagging directive.', 'x-amz-tagging-directive', directive)
}

/** Amazon tells tags in the order of their keys, whatever order they were given in. */
export function taggingDocument(tags: readonly Tag[]): string {
  const ordered = tags.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  return xmlDocument('Tagging', { TagSet: { Tag: ordered.map(tagContent) } })
}

/** GET and HEAD tell how many tags there are, and are silent about none. */
export function taggingCountHeaders(tags: readonly Tag[]): Readonly<Record<string, string>> {
  return tags.length === 0 ? {} : { 'x-amz-tagging-count': String(tags.length) }
}

/** One `<Tag>`, as lifecycle filters have it too. */
export function readTag(node: XmlNode): Tag {
  checkElements(node, ['Key', 'Value'])
  return { key: child(node, 'Key').text, value: child(node, 'Value').text }
}

export function tagContent({ key, value }: Tag): XmlContent {
  return { Key: key, Value: value }
}

/** Letters, digits, blanks and `_ . : / = + - @` of any language; names that begin with `aws:` are Amazon's own. */
export function checkTag({ key, value }: Tag): void {
  const isKey = key !== '' && charactersOf(key) <= tagKeyCharactersMax && lawful.test(key)
  if (!isKey)
    throw s3Error('InvalidTag', { message: 'The TagKey you have provided is invalid', fields: { TagKey: key } })
  if (/^aws:/i.test(key)) {
    throw s3Error('InvalidTag', {
      message: 'System tags cannot be added/updated by requester',
      fields: { TagKey: key },
    })
  }
  if (charactersOf(value) > tagValueCharactersMax || !lawful.test(value)) {
    throw s3Error('InvalidTag', {
      message: 'The TagValue you have provided is invalid',
      fields: { TagKey: key, TagValue: value },
    })
  }
}

export function hasDuplicateKeys(tags: readonly Tag[]): boolean {
  return new Set(tags.map(({ key }) => key)).size !== tags.length
}

const lawful = /^[\p{L}\p{Z}\p{N}\p{M}_.:/=+\-@]*$/u

function charactersOf(text: string): number {
  let characters = 0
  for (const _ of text) characters += 1
  return characters
}

export function checkCount(tags: readonly Tag[], tagged: Tagged): void {
  const tagsMax = tagged === 'object' ? objectTagsMax : bucketTagsMax
  if (tags.length <= tagsMax) return
  throw s3Error('BadRequest', {
    message:
      tagged === 'object'
        ? `Object tags cannot be greater than ${tagsMax}`
        : `Bucket tag count cannot be greater than ${tagsMax}`,
  })
}

function parametersOf(header: string): readonly QueryParameter[] {
  try {
    return queryParameters(header)
  } catch {
    throw headerRefused(header)
  }
}

function headerRefused(header: string): S3Error {
  return invalidArgument(
    "The header 'x-amz-tagging' shall be encoded as UTF-8 then URLEncoded URL query parameters without tag name duplicates.",
    'x-amz-tagging',
    header,
  )
}
