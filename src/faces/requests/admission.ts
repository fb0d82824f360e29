/**
 * What every face asks before it reads or changes a resource: may the caller, does the release have it, does it take the
 * method, in the name of which SVM. Faces know their wire format and call what is here; none has a check of its own.
 */
import type { Behaviour, VerbName } from '../../core/behaviour.ts'
import type { Actions, Call, Performed } from '../../core/perform.ts'
import { hasAll } from '../../core/read/read.ts'
import type { Caller } from '../../core/verb.ts'
import { hasMethod, mayDo, type Role } from '../../model/access.ts'
import { Failure, failure } from '../../model/failure.ts'
import { collectionPath } from '../../model/paths.ts'
import type { Filter } from '../../model/query.ts'
import type { PathMatch } from '../../model/registry.ts'
import { isServed } from '../../model/release.ts'
import { printedKey, type Resource } from '../../model/resource.ts'
import type { Row } from '../../model/value.ts'
import { scopeFilters, type SvmScope } from './svm-scope.ts'

/** Somebody who was let in. */
export interface Visitor {
  readonly actions: Actions
  readonly caller: Caller
  readonly role: Role
  /** The SVM in whose name the call is. */
  scope(): Promise<SvmScope | undefined>
}

/** What a visitor wants to do, in the words of roles and of the audit trail: `PATCH /api/storage/volumes/…`. */
export class Attempt {
  readonly visitor: Visitor
  readonly method: string
  readonly path: string
  /** The audit trail says what became of it: a verb that was called has written its entry, or its refusal is there. */
  isNoted = false

  constructor(visitor: Visitor, method: string, path: string) {
    this.visitor = visitor
    this.method = method
    this.path = path
  }
}

const WRITES: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

/** Writes that are refused before their verb is called are in the audit trail too. */
export async function audited<Result>(attempt: Attempt, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (cause) {
    const { visitor, method, path, isNoted } = attempt
    if (!isNoted && WRITES.has(method) && !(cause instanceof MethodRefused)) {
      attempt.isNoted = true
      const message = cause instanceof Failure ? cause.message : 'internal error'
      await visitor.actions.audit(visitor.caller, `${method} ${path}`, 'error', message)
    }
    throw cause
  }
}

/** The resource does not have the method. */
export class MethodRefused extends Failure {
  readonly allowed: readonly string[]

  constructor(method: string, path: string, allowed: readonly string[]) {
    const { kind, code, message, target, givens, row } = failure('methodUnsupported', { method, path })
    super(kind, code, message, { target, givens }, row)
    this.allowed = allowed
  }
}

/** Lets an attempt on a resource in. The segments are those of its path, decoded; `match` is what they lead to. */
export async function admit(
  attempt: Attempt,
  segments: readonly string[],
  match: PathMatch | undefined,
): Promise<Admission> {
  const { visitor, method, path } = attempt
  const { role } = visitor
  const { cluster } = visitor.actions
  // A slash within a word is data: it must not make the path look like another one.
  const words = segments.map((segment) => segment.replaceAll('/', '%2F'))
  // A method that no path has is refused by any path, whoever asks.
  if (hasMethod(method) && !mayDo(role, `/${['api', ...words].join('/')}`, method)) {
    throw failure('roleDenies', { role: role.name, method, path })
  }
  const behaviour = match === undefined ? undefined : cluster.behaviours.get(match.resource.type)
  if (match === undefined || behaviour === undefined || !isServed(match.resource.since, cluster.release)) {
    throw failure('apiNotFound', { path })
  }
  const allowed = allowedMethods(behaviour, isInstance(match)).filter(
    // What is made has its keys in the body.
    (each) => match.isNarrowed !== true || each !== match.resource.createMethod,
  )
  if (!allowed.includes(method)) throw new MethodRefused(method, path, allowed)
  return new Admission(attempt, behaviour, match, await visitor.scope())
}

export function isInstance({ resource, instance }: PathMatch): boolean {
  return resource.isSingleton || instance.length > 0
}

export function allowedMethods(behaviour: Behaviour, isInstance: boolean): string[] {
  const { create, modify, remove, resource } = behaviour
  const methods = ['GET', 'HEAD', 'OPTIONS']
  if (!isInstance && create !== undefined) methods.push(resource.createMethod)
  if (modify !== undefined) methods.push('PATCH')
  if (remove !== undefined) methods.push('DELETE')
  return methods
}

/** An attempt that was let in: for which resource, and in whose name. */
export class Admission {
  readonly attempt: Attempt
  readonly behaviour: Behaviour
  readonly match: PathMatch
  readonly scope: SvmScope | undefined

  constructor(attempt: Attempt, behaviour: Behaviour, match: PathMatch, scope: SvmScope | undefined) {
    this.attempt = attempt
    this.behaviour = behaviour
    this.match = match
    this.scope = scope
  }

  get actions() {
    return this.attempt.visitor.actions
  }

  get cluster() {
    return this.actions.cluster
  }

  get resource(): Resource {
    return this.behaviour.resource
  }

  /** The path of the collection, whichever of its spellings was asked for. */
  get collection(): string {
    return collectionPath(this.resource, this.match.pathValues)
  }

  perform(verb: VerbName, call: Pick<Call, 'draft' | 'args'> & { readonly row?: Row }): Promise<Performed> {
    const { attempt, match } = this
    attempt.isNoted = true
    const { row } = call
    // What a query chose, or a body lists, is in the audit trail one by one.
    const path = row === undefined || match.instance.length > 0 ? attempt.path : this.pathOf(row)
    return this.actions.perform(this.behaviour, verb, {
      ...call,
      caller: attempt.visitor.caller,
      path: match.pathValues,
      description: `${attempt.method} ${path}`,
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
