import { isList, textOf } from '../../model/value.ts'
import type { Fields, ObjectDraft } from '../../ports/catalog.ts'
import type { Tag } from '../../records/tags.ts'
import type { ObjectMetadata } from '../request/metadata.ts'
import { defaultContentType } from '../request/metadata.ts'

/** What the object store keeps with an object for itself. */
export interface ObjectDetails {
  readonly metadata: ObjectMetadata
  /** The user who wrote it, '' for anybody. */
  readonly owner: string
  readonly tags: readonly Tag[]
  /** As the client named it. Absent: STANDARD. It is a label: everything is stored alike. */
  readonly storageClass?: string | undefined
  /** The multipart upload it was completed from: a repeated Complete is answered with what the first one made. */
  readonly upload?: string
}

export function writeDetails({ metadata, owner, tags, storageClass, upload }: ObjectDetails): Fields {
  const { user, ...content } = metadata
  return {
    ...content,
    user,
    owner,
    ...writeTags(tags),
    ...(storageClass === undefined ? {} : { storageClass }),
    ...(upload === undefined ? {} : { upload }),
  }
}

/** The same for an object, whose storage class listings show. */
export function objectDetails({
  storageClass,
  ...details
}: ObjectDetails): Pick<ObjectDraft, 'details' | 'storageClass'> {
  return { details: writeDetails(details), ...(storageClass === undefined ? {} : { storageClass }) }
}

/** The one detail that may change while the object stays. */
export function writeTags(tags: readonly Tag[]): Fields {
  return tags.length === 0 ? {} : { tags: tags.map(({ key, value }) => [key, value]) }
}

export function readDetails({ user, owner, upload, tags, storageClass, ...content }: Fields): ObjectDetails {
  return {
    metadata: { contentType: defaultContentType, ...texts(content), user: texts(user) },
    owner: typeof owner === 'string' ? owner : '',
    tags: isList(tags) ? tags.filter(isList).map(([key, value]) => ({ key: textOf(key), value: textOf(value) })) : [],
    ...(typeof storageClass === 'string' ? { storageClass } : {}),
    ...(typeof upload === 'string' ? { upload } : {}),
  }
}

function texts(fields: unknown): Record<string, string> {
  if (typeof fields !== 'object' || fields === null) return {}
  const found: [string, string][] = []
  for (const [name, value] of Object.entries(fields)) if (typeof value === 'string') found.push([name, value])
  return Object.fromEntries(found)
}
