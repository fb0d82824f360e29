/** One request that was let in: who asks, for which resource, in whose name, and how it is to be answered. */
import type { Caller } from '../../core/verb.ts'
import type { Role } from '../../model/access.ts'
import { failure } from '../../model/failure.ts'
import type { Row } from '../../model/value.ts'
import { Admission, type Visitor } from '../requests/admission.ts'
import { svmScope } from '../requests/svm-scope.ts'
import type { RestFace, RestRequest } from './answer.ts'
import { commandBody, isCommandLine } from './command-line.ts'
import type { Dialect } from './dialects.ts'
import { parseJson } from './json.ts'
import { linksFor, printer, textPrinter, type Links, type Print } from './printer.ts'

/** What is known of a request before its resource is. */
export interface Asked {
  readonly face: RestFace
  readonly request: RestRequest
  readonly dialect: Dialect
  readonly caller: Caller
  readonly role: Role
  /** The path as it came. */
  readonly path: string
  readonly query: URLSearchParams
}

/** Somebody who was let in, and how what they ask for is answered. */
export type LetIn = Pick<Asked, 'face' | 'dialect' | 'caller' | 'role'>

export function visitorOf({ face, caller, role }: LetIn, { headers }: RestRequest): Visitor {
  const { actions } = face
  return { actions, caller, role, scope: () => svmScope(actions.cluster, headers) }
}

export class Exchange extends Admission {
  readonly asked: Asked

  constructor(asked: Asked, { attempt, behaviour, match, scope }: Admission) {
    super(attempt, behaviour, match, scope)
    this.asked = asked
  }

  /** The same with another query. */
  asking(query: URLSearchParams): Exchange {
    return new Exchange({ ...this.asked, query }, this)
  }

  get links(): Links {
    return linksFor(this.asked.request.headers['accept'])
  }

  headers(): Record<string, string> {
    return this.links === 'none' ? { 'content-type': 'application/json' } : {}
  }

  printer(fields: ReadonlySet<string>): Print {
    const { collection, links } = this
    return printer(this.cluster, this.resource, { fields, collection, links, dialect: this.asked.dialect })
  }

  textPrinter(fields: ReadonlySet<string>): ((row: Row) => string) | undefined {
    const { collection, links } = this
    return textPrinter(this.cluster, this.resource, { fields, collection, links, dialect: this.asked.dialect })
  }

  body(): unknown {
    const { method, body } = this.asked.request
    const { query } = this.asked
    if (body.trim() === '') {
      // What is asked for may be in the query alone: `PATCH /cluster/jobs/{uuid}?action=cancel`.
      const isInQuery =
        method === 'PATCH' && Object.keys(this.behaviour.modify?.args ?? {}).some((arg) => query.has(arg))
      if (method === 'DELETE' || isInQuery) return {}
      throw failure('bodyMissing')
    }
    // Whatever the content type says: curl's -d says it is a form, and the field's own examples leave it so.
    const given = parseJson(body)
    return isCommandLine(this.resource) ? commandBody(given) : given
  }
}
