/** What is wrong with statements of a policy, by the codes that clients of the interface know. */
import { failure } from '../../../model/failure.ts'
import type { ValueOf } from '../../../model/kinds/index.ts'
import { type Statement, statementOfRow } from '../../../records/statements.ts'
import { stored } from '../../../records/stored.ts'
import type { statementsKind } from './statements.ts'
import { namesMax, policyProblem, principalProblem, statementsMax } from '../../../s3/policy/statements.ts'

/** All statements of a policy, as JSON. A document of S3 has 20 KiB, and is several times as long in rows. */
const CHARACTERS_MAX = 128 * 1024

type Statements = ValueOf<ReturnType<typeof statementsKind>>

/** Statements of the bucket's own policy. */
export function checkBucketStatements(rows: Statements | undefined, bucket: string): void {
  check('policy.statements', rows, [bucket, `${bucket}/*`], (statement) => {
    const isForAll = statement.principals === undefined && statement.notPrincipals === undefined
    return problemOf(isForAll ? { ...statement, principals: ['*'] } : statement, { bucket })
  })
}

/** Statements of a named policy. Those it is attached to are whom it is about; principals may narrow that. */
export function checkPolicyStatements(rows: Statements | undefined): void {
  check('statements', rows, ['*'], ({ principals, notPrincipals, ...statement }) => {
    const named = [...(principals ?? []), ...(notPrincipals ?? [])]
    const message = named.map(principalProblem).find((problem) => problem !== undefined)
    if (message !== undefined) return { field: 'principals', message }
    if (notPrincipals !== undefined && statement.effect === 'allow') {
      return { field: 'not_principals', message: 'To allow everyone but some is refused. Deny those some instead.' }
    }
    return problemOf(statement, {})
  })
}

interface Problem {
  readonly field: string
  readonly message: string
}

function check(
  field: string,
  rows: Statements | undefined,
  everything: readonly string[],
  problemOf: (statement: Statement) => Problem | undefined,
): void {
  // A change takes statements away by null.
  if (!Array.isArray(rows)) return
  if (rows.length > statementsMax || JSON.stringify(rows).length > CHARACTERS_MAX) {
    const limits = `${statementsMax} statements and ${CHARACTERS_MAX} characters together`
    throw failure('tooManyPolicyStatements', { limits, field })
  }
  for (const [at, row] of rows.entries()) {
    checkLists(row, `${field}[${at}]`)
    const problem = problemOf(statementOfRow(stored(row), everything))
    if (problem === undefined) continue
    throw failure(nameOf(problem.field), { field: `${field}[${at}].${problem.field}`, problem: problem.message })
  }
}

/** A field and its opposite exclude each other, and an empty list would be read as one that was not given. */
function checkLists(row: Statements[number], statement: string): void {
  for (const name of ['principals', 'actions', 'resources'] as const) {
    const [given, opposite] = [row[name], row[`not_${name}`]]
    for (const list of [given, opposite]) {
      if (list === undefined || list.length <= namesMax) continue
      throw failure('policyStatementListTooLong', {
        field: `${statement}.${name}`,
        problem: `A statement has at most ${namesMax} of its ${name}.`,
      })
    }
    if (opposite === undefined) continue
    if (given !== undefined) {
      throw failure(nameOf(name), {
        field: `${statement}.not_${name}`,
        problem: `A statement has either ${name} or not_${name}.`,
      })
    }
    if (opposite.length === 0) {
      throw failure(nameOf(name), { field: `${statement}.not_${name}`, problem: 'It is empty. Leave it out.' })
    }
  }
}

function problemOf(statement: Statement, options: { readonly bucket?: string }): Problem | undefined {
  const problem = policyProblem([statement], options)
  return problem === undefined ? undefined : { ...problem, field: problem.field.replace(/^statements\[0\]\./, '') }
}

function nameOf(field: string) {
  if (field === 'sid') return 'policyStatementSidUnfit'
  if (field.endsWith('principals')) return 'policyStatementPrincipalsUnfit'
  return field.endsWith('resources') ? 'policyStatementResourcesUnfit' : 'policyStatementUnfit'
}
