import type { KeptBucket } from './bucket-notes.ts'
import { conditionsOfRow, rowOfCondition } from './conditions.ts'
import type { Condition } from './conditions.ts'
import { findText, findTexts, is, list, type Stored, texts } from './stored.ts'

/**
 * Statements decide who may do what. A deny wins over any allow, in whatever order they stand, and what no statement
 * matches is refused. Names may be written as Amazon does (`s3:GetObject`, `arn:aws:s3:::bucket/key*`) or as ONTAP does
 * (`GetObject`, `bucket/key*`).
 */
export interface Statement {
  readonly sid?: string
  readonly effect: 'allow' | 'deny'
  /**
   * Only in bucket policies: user names, `*` for everyone (also without credentials), `group/<name>`. A server policy has
   * none, as it belongs to those it is attached to.
   */
  readonly principals?: readonly string[]
  /** In place of principals, of a denial: it is about everyone but these. */
  readonly notPrincipals?: readonly string[]
  /** Empty when `notActions` is there. */
  readonly actions: readonly string[]
  readonly notActions?: readonly string[]
  /** Empty when `notResources` is there. May have variables: `home/${aws:username}/*`. */
  readonly resources: readonly string[]
  readonly notResources?: readonly string[]
  /** All must hold. */
  readonly conditions?: readonly Condition[]
  /** `${…}` is no variable: so it is in Amazon's policies that do not say `"Version": "2012-10-17"`. */
  readonly isLiteral?: boolean
}

/**
 * Statements as records keep them and the management interface shows them. Its own fields cannot say everything that a
 * policy of Amazon's can, so there are more of them: `not_principals`, `not_actions`, `not_resources`, `is_literal`, and
 * conditions by `key` and `values`. With them a policy that came by S3 can be read and written back by the other way, and
 * is no wider for it.
 */
export type StatementRow = NonNullable<KeptBucket['policy.statements']>[number]

export function statementOfRow(row: Stored<StatementRow>, everything: readonly string[]): Statement {
  const sid = findText(row, 'sid')
  const principals = findTexts(row, 'principals')
  const notPrincipals = texts(row, 'not_principals')
  const notActions = texts(row, 'not_actions')
  const resources = texts(row, 'resources')
  const notResources = texts(row, 'not_resources')
  const conditions = list(row, 'conditions').flatMap(conditionsOfRow)
  return {
    ...(sid === undefined ? {} : { sid }),
    // Whatever is not clearly a grant is none.
    effect: is(row, 'effect', 'allow') ? 'allow' : 'deny',
    ...(principals === undefined ? {} : { principals }),
    ...(notPrincipals.length === 0 ? {} : { notPrincipals }),
    actions: texts(row, 'actions'),
    ...(notActions.length === 0 ? {} : { notActions }),
    resources: resources.length === 0 && notResources.length === 0 ? everything : resources,
    ...(notResources.length === 0 ? {} : { notResources }),
    ...(conditions.length === 0 ? {} : { conditions }),
    ...(is(row, 'is_literal', true) ? { isLiteral: true } : {}),
  }
}

export function rowOfStatement(statement: Statement): StatementRow {
  const { sid, effect, principals, notPrincipals, actions, notActions, resources, notResources, conditions } = statement
  return {
    ...(sid === undefined ? {} : { sid }),
    effect,
    ...(principals === undefined ? {} : { principals }),
    ...(notPrincipals === undefined ? {} : { not_principals: notPrincipals }),
    ...(notActions === undefined ? { actions } : { not_actions: notActions }),
    ...(notResources === undefined ? { resources } : { not_resources: notResources }),
    ...(conditions === undefined ? {} : { conditions: conditions.map(rowOfCondition) }),
    ...(statement.isLiteral === true ? { is_literal: true } : {}),
  }
}
