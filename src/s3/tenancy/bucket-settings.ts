import type { CorsRule } from '../../records/cors-rules.ts'
import { corsFields, readCorsRows } from '../../records/cors-rules.ts'
import { compileLifecycle } from '../config/lifecycle.ts'
import type { Lifecycle } from '../config/lifecycle.ts'
import type { LifecycleRule } from '../../records/lifecycle-rules.ts'
import { readLifecycleRows } from '../../records/lifecycle-rules.ts'
import type { LockConfiguration } from '../../records/lock-fields.ts'
import { readLockFields } from '../../records/lock-fields.ts'
import type { Tag } from '../../records/tags.ts'
import type { BucketChange, Maker, PublicAccessBlock, StoredBucket } from '../../records/bucket-notes.ts'
import { findList, findMember, findText, is, type Stored, text } from '../../records/stored.ts'

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

export interface LifecycleSettings {
  readonly rules: readonly LifecycleRule[]
  readonly compiled: Lifecycle
  /** As it was last said: `x-amz-transition-default-minimum-object-size`. */
  readonly transitionMinimum?: string
}

export function readSettings(bucket: StoredBucket): BucketSettings {
  const cors = readCorsRows(bucket)
  const lifecycle = readLifecycle(bucket)
  const locks = readLockFields(bucket)
  const tags = findList(bucket, '$tags')
  const block = findMember(bucket, '$publicAccessBlock')
  const maker = findMember(bucket, '$maker')
  return {
    ...(cors === undefined ? {} : { cors }),
    ...(lifecycle === undefined ? {} : { lifecycle }),
    ...(locks === undefined ? {} : { locks }),
    ...(tags === undefined ? {} : { tags: tags.map(readTag) }),
    ...(block === undefined ? {} : { publicAccessBlock: readBlock(block) }),
    isOwnershipSet: !is(bucket, '$ownership', false),
    isOwnershipChosen: is(bucket, '$ownership', true),
    ...(maker === undefined ? {} : { maker: { svm: text(maker, 'svm'), user: text(maker, 'user') } }),
  }
}

/** Fields to change in a bucket's record; `null` removes one. */
export const settingFields = {
  cors: corsFields,
  tags: (tags: readonly Tag[] | undefined): BucketChange => ({ $tags: tags ?? null }),
  publicAccessBlock: (block: PublicAccessBlock | undefined): BucketChange => ({ $publicAccessBlock: block ?? null }),
  maker: ({ svm, user }: Maker): BucketChange => ({ $maker: { svm, user } }),
  /** Every bucket begins with it, without this field: it is written where it was chosen, and where it was taken away. */
  ownership: (isSet: boolean): BucketChange => ({ $ownership: isSet }),
} as const

function readLifecycle(bucket: StoredBucket): LifecycleSettings | undefined {
  const rules = readLifecycleRows(bucket)
  if (rules === undefined) return undefined
  const minimum = findText(bucket, '$transitionMinimum')
  // Most requests do not ask for it, and a bucket may have a thousand rules.
  let compiled: Lifecycle | undefined
  return {
    rules,
    get compiled() {
      return (compiled ??= compileLifecycle(rules))
    },
    ...(minimum === undefined ? {} : { transitionMinimum: minimum }),
  }
}

function readTag(tag: Stored<Tag>): Tag {
  return { key: text(tag, 'key'), value: text(tag, 'value') }
}

function readBlock(block: Stored<PublicAccessBlock>): PublicAccessBlock {
  const isSet = (name: keyof PublicAccessBlock): boolean => is(block, name, true)
  return {
    blockPublicAcls: isSet('blockPublicAcls'),
    ignorePublicAcls: isSet('ignorePublicAcls'),
    blockPublicPolicy: isSet('blockPublicPolicy'),
    restrictPublicBuckets: isSet('restrictPublicBuckets'),
  }
}
