/**
 * How a command reaches resources: each read and each change is let in, refused, hit by faults and audited as a request of
 * the REST interface for it would be.
 */
import { collectionPath, segmentsTo } from '../../model/paths.ts'
import type { Order, Place } from '../../model/query.ts'
import type { Resource } from '../../model/resource.ts'
import type { Row } from '../../model/value.ts'
import { type Admission, admit, Attempt, audited, type Visitor } from '../requests/admission.ts'
import { readOne, readPage } from '../requests/reads.ts'
import type { SvmScope } from '../requests/svm-scope.ts'
import { changeRecord } from '../requests/writes.ts'
import type { RestReply, RestRequest } from '../rest/answer.ts'
import { encodePlace } from '../rest/arguments.ts'
import type { LetIn } from '../rest/exchange.ts'
import { faultOf } from '../rest/faulty.ts'
import type { Reading } from './query.ts'

/** How long a command waits for the job of one record. */
export const WAIT_SECONDS = 120

/** Where a collection is, or a record in it. */
export interface Address {
  /** The keys of the path. */
  readonly pathValues: Readonly<Record<string, string>>
  /** The words that lead to the record; none for a collection, and for what there is one of. */
  readonly instance?: readonly string[]
}

export interface PageQuery extends Reading {
  readonly orders?: readonly Order[]
  readonly limit: number
  readonly offset?: number
  readonly after?: Place | undefined
}

export interface Records {
  readonly rows: readonly Row[]
  /** Where the next page begins, when there is one. */
  readonly next?: string
}

/** A fault on demand hit what the command asked for. */
export class Faulted extends Error {
  readonly reply: RestReply

  constructor(reply: RestReply) {
    super('A fault on demand.')
    this.reply = reply
  }
}

export class Reach {
  readonly letIn: LetIn
  readonly request: RestRequest
  /** The command itself. */
  readonly #attempt: Attempt
  readonly #visitor: Visitor

  constructor(letIn: LetIn, request: RestRequest, attempt: Attempt) {
    this.letIn = letIn
    this.request = request
    this.#attempt = attempt
    const { visitor } = attempt
    let scope: Promise<SvmScope | undefined> | undefined
    this.#visitor = { ...visitor, scope: () => (scope ??= visitor.scope()) }
  }

  get cluster() {
    return this.letIn.face.actions.cluster
  }

  async admitting<Result>(
    method: string,
    resource: Resource,
    { pathValues, instance = [] }: Address,
    act: (admission: Admission) => Promise<Result>,
  ): Promise<Result> {
    const { face, dialect, caller } = this.letIn
    const path = [collectionPath(resource, pathValues), ...instance.map((word) => encodeURIComponent(word))].join('/')
    const fault = await faultOf(face, { method, target: path }, dialect, caller)
    if (fault !== undefined) throw new Faulted(fault)
    const attempt = new Attempt(this.#visitor, method, path)
    try {
      return await audited(attempt, async () => {
        const match = { resource, pathValues, instance }
        return act(await admit(attempt, segmentsTo(resource, pathValues, instance), match))
      })
    } finally {
      this.#attempt.isNoted ||= attempt.isNoted
    }
  }

  /** A page of a collection; or the one record that there is, of which fields are no filters. */
  read(
    resource: Resource,
    address: Address,
    query: (admission: Admission) => PageQuery,
  ): Promise<Records & { readonly admission: Admission }> {
    return this.admitting('GET', resource, address, async (admission) => {
      const { orders = [], offset = 0, after, ...asked } = query(admission)
      if (resource.isSingleton) return { admission, rows: [await readOne(admission, asked.fields)] }
      const from = after === undefined ? {} : { after }
      const { rows, next } = await readPage(admission, { ...asked, ...from, orders, offset })
      return { admission, rows, ...(next === undefined ? {} : { next: encodePlace(next) }) }
    })
  }

  /** Changes or removes a record, and waits for its job. */
  async change(method: 'PATCH' | 'DELETE', resource: Resource, address: Address, draft: unknown): Promise<void> {
    const verb = method === 'PATCH' ? 'modify' : 'remove'
    await this.admitting(method, resource, address, (admission) =>
      changeRecord(admission, verb, draft, { args: {}, filters: [], waitSeconds: WAIT_SECONDS }),
    )
  }
}
