import type { Fields } from '../../ports/catalog.ts'
import type { ObjectMetadata } from '../metadata.ts'
import { defaultContentType } from '../metadata.ts'

/** What the object store keeps with an object for itself. */
export interface ObjectDetails {
  readonly metadata: ObjectMetadata
  /** The user who wrote it, '' for anybody. */
  readonly owner: string
  /** The multipart upload it was completed from: a repeated Complete is answered with what the first one made. */
  readonly upload?: string
}

export function writeDetails({ metadata, owner, upload }: ObjectDetails): Fields {
  const { user, ...content } = metadata
  return { ...content, user, owner, ...(upload === undefined ? {} : { upload }) }
}

export function readDetails({ user, owner, upload, ...content }: Fields): ObjectDetails {
  return {
    metadata: { contentType: defaultContentType, ...texts(content), user: texts(user) },
    owner: typeof owner === 'string' ? owner : '',
    ...(typeof upload === 'string' ? { upload } : {}),
  }
}

function texts(fields: unknown): Record<string, string> {
  if (typeof fields !== 'object' || fields === null) return {}
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}
