import { type Row, textAt } from '../../../model/value.ts'
import { isList } from '../../../s3/record-values.ts'
import { checkCorsRules } from './cors.ts'
import { settleLocks } from './retention.ts'
import { RULES, settleRules } from './rules.ts'
import { checkBucketStatements } from './statement-checks.ts'

/**
 * A bucket's record as it is to be, once what was given has been looked at. S3 has checked its own documents, in the words
 * of Amazon; they are known by the fields that only S3 writes beside them.
 *
 * @param before the bucket as it was; absent for a new one
 * @param draft what was given
 */
export function settleBucket(before: Row | undefined, draft: Row, after: Row): Row {
  if (!('$policy' in draft && draft['$policy'] !== null)) {
    checkBucketStatements(draft['policy.statements'], textAt(after, 'name'))
  }
  checkCorsRules(draft['cors.rules'])
  const rules = draft[RULES]
  const isChecked = !isList(rules) || '$transitionMinimum' in draft
  return settleLocks(before, draft, withoutEmpty(isChecked ? after : { ...after, [RULES]: settleRules(rules) }))
}

/** An empty list takes away what was there, as the DELETE requests of S3 do. */
function withoutEmpty(row: Row): Row {
  const kept = Object.entries(row).filter(([name, value]) => !(lists.has(name) && isList(value) && value.length === 0))
  return Object.fromEntries(kept)
}

const lists: ReadonlySet<string> = new Set(['policy.statements', 'cors.rules', RULES])
