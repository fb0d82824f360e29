/** One request that was let in: who asks, for which resource, in whose name, and how it is to be answered. */
import type { Behaviour, VerbName } from '../../core/behaviour.ts'
import type { Call, Performed } from '../../core/perform.ts'
import { hasAll } from '../../core/read.ts'
import type { Caller } from '../../core/verb.ts'
import type { Role } from '../../model/access.ts'
import { failure } from '../../model/failure.ts'
import type { Filter } from '../../model/query.ts'
import type { PathMatch } from '../../model/registry.ts'
import { printedKey, type Resource } from '../../model/resource.ts'
import type { Row } from '../../model/value.ts'
import type { RestFace, RestRequest } from './answer.ts'
import { commandBody, isCommandLine } from './command-line.ts'
import type { Dialect } from './dialects.ts'
import { parseJson } from './json.ts'
import { collectionPath } from '../../model/paths.ts'
import { linksFor, printer, textPrinter, type Links, type Print } from './printer.ts'
import { scopeFilters, type SvmScope } from './svm-scope.ts'

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

export class Exchange {
  readonly asked: Asked
  readonly behaviour: Behaviour
  readonly match: PathMatch
  readonly scope: SvmScope | undefined
  /** A verb was called, and has written its entry in the audit trail. */
  isPerformed = false

  constructor(asked: Asked, behaviour: Behaviour, match: PathMatch, scope: SvmScope | undefined) {
    this.asked = asked
    this.behaviour = behaviour
    this.match = match
    this.scope = scope
  }

  /** The same with another query. */
  asking(query: URLSearchParams): Exchange {
    return new Exchange({ ...this.asked, query }, this.behaviour, this.match, this.scope)
  }

  get cluster() {
    return this.asked.face.actions.cluster
  }

  get resource(): Resource {
    return this.behaviour.resource
  }

  get links(): Links {
    return linksFor(this.asked.request.headers['accept'])
  }

  /** The path of the collection, whichever of its spellings was asked for. */
  get collection(): string {
    return collectionPath(this.resource, this.match.pathValues)
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

  perform(verb: VerbName, call: Pick<Call, 'draft' | 'args'> & { readonly row?: Row }): Promise<Performed> {
    this.isPerformed = true
    const { face, request, caller } = this.asked
    const { row } = call
    // What a query chose, or a body lists, is in the audit trail one by one.
    const path = row === undefined || this.match.instance.length > 0 ? this.asked.path : this.pathOf(row)
    return face.actions.perform(this.behaviour, verb, {
      ...call,
      caller,
      path: this.match.pathValues,
      description: `${request.method} ${path}`,
    })
  }

  pathOf(row: Row): string {
    return [this.collection, ...this.instanceOf(row).map((word) => encodeURIComponent(word))].join('/')
  }

  /** The words of the path that lead to a row. */
  instanceOf(row: Row): string[] {
    return this.resource.key.map((key) => printedKey(this.resource, key, row))
  }

  /** What belongs to another SVM than the one in whose name the call is, or is not as the query says, is not there. */
  async insistOn(row: Row, conditions: readonly Filter[] = []): Promise<void> {
    const filters = [...scopeFilters(this.resource, this.scope), ...conditions]
    if (!(await hasAll(this.cluster, this.behaviour, row, filters))) {
      throw failure('recordNotFound', { noun: this.resource.noun }, { target: this.resource.key[0] })
    }
  }
}
