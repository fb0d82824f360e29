import type { DraftOf } from '../../../model/rows.ts'
import type { Bucket } from '../../../records/rows.ts'
import { checkCorsRules } from './cors.ts'
import { settleLocks } from './retention.ts'
import { settleRules } from './rules.ts'
import { RULES } from '../../../records/lifecycle-rules.ts'
import { checkBucketStatements } from './statement-checks.ts'

/**
 * A bucket's record as it is to be, once what was given has been looked at. S3 has checked its own documents, in the words
 * of Amazon; they are known by the fields that only S3 writes beside them.
 *
 * @param before the bucket as it was; absent for a new one
 * @param draft what was given
 */
export function settleBucket(
  before: Bucket | undefined,
  draft: DraftOf<'protocols/s3/buckets'>,
  after: Bucket,
): Bucket {
  if (!('$policy' in draft && draft['$policy'] !== null)) {
    checkBucketStatements(draft['policy.statements'], after['name'])
  }
  checkCorsRules(draft['cors.rules'])
  const rules = draft[RULES]
  // A change takes rules away by null, or by an empty list.
  const isChecked = !Array.isArray(rules) || '$transitionMinimum' in draft
  return settleLocks(before, draft, withoutEmpty(isChecked ? after : { ...after, [RULES]: settleRules(rules) }))
}

/** An empty list takes away what was there, as the DELETE requests of S3 do. */
function withoutEmpty({
  'policy.statements': statements = [],
  'cors.rules': cors = [],
  [RULES]: rules = [],
  ...bucket
}: Bucket): Bucket {
  return {
    ...bucket,
    ...(statements.length === 0 ? {} : { 'policy.statements': statements }),
    ...(cors.length === 0 ? {} : { 'cors.rules': cors }),
    ...(rules.length === 0 ? {} : { [RULES]: rules }),
  }
}
