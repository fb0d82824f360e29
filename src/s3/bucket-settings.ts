import type { Fields, FieldValue } from '../ports/catalog.ts'
import type { CorsRule } from './config/cors.ts'
import { corsFields, readCorsRows } from './config/cors-rows.ts'
import { compileLifecycle } from './config/lifecycle.ts'
import type { Lifecycle, LifecycleRule } from './config/lifecycle.ts'
import { readLifecycleRows } from './config/lifecycle-rows.ts'
import type { LockConfiguration } from './config/object-lock.ts'
import { readLockFields } from './config/lock-fields.ts'
import type { PublicAccessBlock } from './config/public-access-block.ts'
import type { Tag } from './config/tagging.ts'
import { field, isList, text } from './record-values.ts'

/**
 * Everything a bucket can be told beside its name, size and policy. All of it is fields of the bucket's record: those that
 * the management interface shows too (`cors.rules`, `lifecycle_management.rules`, `retention.*`), and those that only S3
 * knows, which begin with `$`. What is absent was never said, or was taken back.
 */
export interface BucketSettings {
  readonly cors?: readonly CorsRule[]
  readonly lifecycle?: LifecycleSettings
  /** Present when the bucket has locks, with or without a default retention. */
  readonly locks?: LockConfiguration
  readonly tags?: readonly Tag[]
  readonly publicAccessBlock?: PublicAccessBlock
  readonly isOwnershipSet: boolean
  /** Whether a request named BucketOwnerEnforced. Buckets that nobody asked about have it all the same. */
  readonly isOwnershipChosen: boolean
  /** The S3 user who made it. Absent where the management interface did: then it is of all who may make buckets. */
  readonly maker?: Maker
}

export interface Maker {
  readonly svm: string
  readonly user: string
}

export interface LifecycleSettings {
  readonly rules: readonly LifecycleRule[]
  readonly compiled: Lifecycle
  /** As it was last said: `x-amz-transition-default-minimum-object-size`. */
  readonly transitionMinimum?: string
}

export function readSettings(body: Fields): BucketSettings {
  const cors = readCorsRows(body)
  const lifecycle = readLifecycle(body)
  const locks = readLockFields(body)
  const tags = body['$tags']
  const block = body['$publicAccessBlock']
  const maker = body['$maker']
  return {
    ...(cors === undefined ? {} : { cors }),
    ...(lifecycle === undefined ? {} : { lifecycle }),
    ...(locks === undefined ? {} : { locks }),
    ...(isList(tags) ? { tags: tags.map(readTag) } : {}),
    ...(typeof block === 'object' && block !== null ? { publicAccessBlock: readBlock(block) } : {}),
    isOwnershipSet: body['$ownership'] !== false,
    isOwnershipChosen: body['$ownership'] === true,
    ...(maker === undefined || maker === null
      ? {}
      : { maker: { svm: text(field(maker, 'svm')), user: text(field(maker, 'user')) } }),
  }
}

/** Fields to change in a bucket's record; `null` removes one. */
export const settingFields = {
  cors: corsFields,
  tags: (tags: readonly Tag[] | undefined): Fields => ({
    $tags: tags === undefined ? null : tags.map(({ key, value }) => ({ key, value })),
  }),
  publicAccessBlock: (block: PublicAccessBlock | undefined): Fields => ({
    $publicAccessBlock: block === undefined ? null : { ...block },
  }),
  maker: ({ svm, user }: Maker): Fields => ({ $maker: { svm, user } }),
  /** Every bucket begins with it, without this field: it is written where it was chosen, and where it was taken away. */
  ownership: (isSet: boolean): Fields => ({ $ownership: isSet }),
} as const

function readLifecycle(body: Fields): LifecycleSettings | undefined {
  const rules = readLifecycleRows(body)
  if (rules === undefined) return undefined
  const minimum = body['$transitionMinimum']
  // Most requests do not ask for it, and a bucket may have a thousand rules.
  let compiled: Lifecycle | undefined
  return {
    rules,
    get compiled() {
      return (compiled ??= compileLifecycle(rules))
    },
    ...(typeof minimum === 'string' ? { transitionMinimum: minimum } : {}),
  }
}

function readTag(value: FieldValue): Tag {
  return { key: text(field(value, 'key')), value: text(field(value, 'value')) }
}

function readBlock(value: FieldValue): PublicAccessBlock {
  const isSet = (name: string): boolean => field(value, name) === true
  return {
    blockPublicAcls: isSet('blockPublicAcls'),
    ignorePublicAcls: isSet('ignorePublicAcls'),
    blockPublicPolicy: isSet('blockPublicPolicy'),
    restrictPublicBuckets: isSet('restrictPublicBuckets'),
  }
}
