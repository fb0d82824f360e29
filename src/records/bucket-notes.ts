/** What is kept with a bucket and only S3 shows. Fields of the management interface say the rest. */
import type { ChangeOf, KeptOf, StoredRow } from './stored.ts'
import type { NotesOfNaming } from './namesakes.ts'
import type { Tag } from './tags.ts'

export type KeptBucket = KeptOf<'protocols/s3/buckets'>
export type StoredBucket = StoredRow<'protocols/s3/buckets'>

/** Fields to change in a bucket's record; `null` removes one. */
export type BucketChange = ChangeOf<'protocols/s3/buckets'>

/** `$namesAt` is of its statements. */
export type BucketNotes = NotesOfNaming & {
  /** The policy as S3 was given it, while nobody has changed the statements another way since. */
  readonly $policy?: string
  readonly $tags?: readonly Tag[]
  readonly $publicAccessBlock?: PublicAccessBlock
  /** The S3 user who made it. Absent where the management interface did: then it is of all who may make buckets. */
  readonly $maker?: Maker
  /** Whether BucketOwnerEnforced was chosen (true) or taken away (false). Buckets that nobody asked about have it. */
  readonly $ownership?: boolean
  /** As it was last said beside the lifecycle rules: `x-amz-transition-default-minimum-object-size`. */
  readonly $transitionMinimum?: string
  /** It came with a clone, and goes with it. */
  readonly $cameWithClone?: boolean
  /** It has locks, with or without a default retention. */
  readonly $hasLocks?: boolean
}

export type PublicAccessBlock = {
  /** Lists never make anything public here, so these two hold without being set. */
  readonly blockPublicAcls: boolean
  readonly ignorePublicAcls: boolean
  /** A policy that opens the bucket to everybody is refused. */
  readonly blockPublicPolicy: boolean
  /** Such a policy, if it is there already, opens nothing to those without credentials. */
  readonly restrictPublicBuckets: boolean
}

export type Maker = {
  readonly svm: string
  readonly user: string
}

declare module '../model/rows.ts' {
  interface NoteTypes {
    readonly 'protocols/s3/buckets': BucketNotes
  }
}
