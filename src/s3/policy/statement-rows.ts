import type { FieldValue } from '../../ports/catalog.ts'
import { field, isList, list, text, texts } from '../record-values.ts'
import { conditionsOfRow, rowOfCondition } from './condition-rows.ts'
import type { Statement } from './statements.ts'

/**
 * Statements as records keep them and the management interface shows them. Its own fields cannot say everything that a
 * policy of Amazon's can, so there are more of them: `not_principals`, `not_actions`, `not_resources`, `is_literal`, and
 * conditions by `key` and `values`. With them a policy that came by S3 can be read and written back by the other way, and
 * is no wider for it.
 */
export function statementOfRow(row: FieldValue, everything: readonly string[]): Statement {
  const sid = field(row, 'sid')
  const principals = field(row, 'principals')
  const notPrincipals = texts(field(row, 'not_principals'))
  const notActions = texts(field(row, 'not_actions'))
  const resources = texts(field(row, 'resources'))
  const notResources = texts(field(row, 'not_resources'))
  const conditions = list(field(row, 'conditions')).flatMap(conditionsOfRow)
  return {
    ...(typeof sid === 'string' ? { sid } : {}),
    // Whatever is not clearly a grant is none.
    effect: field(row, 'effect') === 'allow' ? 'allow' : 'deny',
    ...(isList(principals) ? { principals: texts(principals) } : {}),
    ...(notPrincipals.length === 0 ? {} : { notPrincipals }),
    actions: texts(field(row, 'actions')),
    ...(notActions.length === 0 ? {} : { notActions }),
    resources: resources.length === 0 && notResources.length === 0 ? everything : resources,
    ...(notResources.length === 0 ? {} : { notResources }),
    ...(conditions.length === 0 ? {} : { conditions }),
    ...(field(row, 'is_literal') === true ? { isLiteral: true } : {}),
  }
}

export function rowOfStatement(statement: Statement): FieldValue {
  const { sid, effect, principals, notPrincipals, actions, notActions, resources, notResources, conditions } = statement
  return {
    ...(sid === undefined ? {} : { sid: text(sid) }),
    effect,
    ...(principals === undefined ? {} : { principals }),
    ...(notPrincipals === undefined ? {} : { not_principals: notPrincipals }),
    ...(notActions === undefined ? { actions } : { not_actions: notActions }),
    ...(notResources === undefined ? { resources } : { not_resources: notResources }),
    ...(conditions === undefined ? {} : { conditions: conditions.map(rowOfCondition) }),
    ...(statement.isLiteral === true ? { is_literal: true } : {}),
  }
}
