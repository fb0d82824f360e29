/**
 * Actions: what can be done with a record beside changing and removing it, such as restoring a volume. An action has a
 * name, typed arguments, a doc, an example, and a word for what it may cost. Faces list actions and call them by name.
 *
 * In the REST interface, most are spelled by fields, or by arguments of the query, of a change. Such a request is the
 * action, where it says nothing else. Where it says more, it is one job: the steps of the change and of the actions come
 * one after the other, and are undone together. Where none of them is a job, they have to share the step of the change.
 *
 *     PATCH {"clone.split_initiated": true}                    ─▶  split
 *     PATCH {"clone.split_initiated": true, "comment": "own"}  ─▶  modify {"comment": "own"}, then split
 */
import { argumentsOf, completeArguments } from '../model/arguments.ts'
import { type Danger, dangers } from '../model/facts.ts'
import { type Failure, failure } from '../model/failure.ts'
import type { Field, Fields } from '../model/resource.ts'
import type { ArgumentsOf, DraftOf, RecordType, RowOf } from '../model/rows.ts'
import { isRecord, type Row, type Value } from '../model/value.ts'
import type { Behaviour } from './behaviour.ts'
import type { Cluster } from './cluster.ts'
import type { Job } from './jobs/job-record.ts'
import type { Asked, ChangeRequest, None, Plan, Step, Verb, VerbRequest, WithArguments, Work } from './verb.ts'

export interface Action<Request extends VerbRequest = VerbRequest, Input extends Row = Row>
  extends Verb<Request, Input>, ActionFacts {
  readonly example: Readonly<Record<string, unknown>>
}

interface ActionFacts {
  readonly doc: string
  readonly danger: Danger
  /** Arguments that show how it is called. A test of all actions calls it with them. */
  readonly example: Readonly<Record<string, unknown>>
  /** What must be under way for the example, in words: tests prepare it by these. */
  readonly needs?: string
  /** The example of `create`, by its name, that makes the record which the action can be done with. */
  readonly exampleOf?: string
  readonly spelled?: Spelling
}

/** How a change asks for an action. */
export interface Spelling {
  /** The fields, or arguments of the query, that ask for it: with one of these values, or with any. */
  readonly asks: Readonly<Record<string, readonly Value[] | 'any'>>
  /** The field, or the argument of the query, that gives an argument. */
  readonly args?: Readonly<Record<string, string>>
  /** Its steps come before those of the change. */
  readonly isFirst?: boolean
  /** Such a request can do nothing else: the failure of one that asks for more. */
  readonly alone?: () => Failure
  /** Actions that no request can ask for beside it, with the failure of one that does. */
  readonly excludes?: Readonly<Record<string, () => Failure>>
}

/** The actions of a resource by their names, in the order in which a request that asks for several does them. */
export type ActionTable = Readonly<Record<string, Action>>

/** The request of an action on a record of this type, where the action is written apart from its resource. */
export type Acting<Type extends RecordType, Args extends Fields = None> = ChangeRequest<RowOf<Type>, DraftOf<Type>> &
  WithArguments<ArgumentsOf<Args>>

/** With `steps`, it is a job. With one `step`, it is done when the request is answered. */
export function action<
  Request extends VerbRequest = ChangeRequest,
  Input extends Row = Row,
  const Args extends Fields = None,
>(
  declared: ActionFacts & Omit<Asked<Request, Input, Args>, 'example' | 'moreExamples' | 'exampleArgs'> & Does<Input>,
): Action<Request, Input>
export function action(declared: ActionFacts & Omit<Verb, 'isJob' | 'steps'> & Does<Row>): Action {
  if (declared.steps !== undefined) {
    const { step: _, isJob = true, ...rest } = declared
    return { ...rest, isJob }
  }
  const { step, isJob = false, ...rest } = declared
  return { ...rest, isJob, steps: [step] }
}

type Does<Input extends Row> =
  | { readonly steps: readonly Step<Input>[]; readonly step?: never; readonly isJob?: never }
  | { readonly step: Step<Input>; readonly steps?: never; readonly isJob?: 'when long' }

export interface Called {
  readonly name: string
  readonly action: Action
  /** Those of its arguments that are given. */
  readonly args: Row
}

/** What a change asks for: actions, and what is left to be changed. */
export interface Parts {
  readonly called: readonly Called[]
  readonly draft: Row
  readonly args: Row
}

export function partsOf(actions: ActionTable, draft: Row, args: Row): Parts {
  const left = { draft: new Map(Object.entries(draft)), args: new Map(Object.entries(args)) }
  const said = (path: string) => [left.args.get(path), left.draft.get(path)]
  const drop = (path: string) => {
    left.draft.delete(path)
    left.args.delete(path)
  }
  const called: Called[] = []
  for (const [name, action] of Object.entries(actions)) {
    const { spelled } = action
    if (spelled === undefined) continue
    const isAsked = Object.entries(spelled.asks).some(([path, words]) => said(path).some((value) => asks(words, value)))
    if (!isAsked) continue
    const given: Record<string, Value> = {}
    const paths = Object.keys(spelled.asks)
    for (const [argument, path] of spelledArguments(action)) {
      const value = said(path).find((one) => one !== undefined)
      if (value !== undefined) given[argument] = value
      paths.push(path)
    }
    for (const path of paths) drop(path)
    called.push({ name, action, args: given })
  }
  // A flag that is not raised asks for nothing.
  for (const path of flagsOf(actions)) if (!said(path).includes(true)) drop(path)
  const parts = { called, draft: Object.fromEntries(left.draft), args: Object.fromEntries(left.args) }
  insistOnFit(parts)
  return parts
}

/** Whether a request asks for one action and for nothing else. */
export function isOneAction({ called, draft, args }: Parts): boolean {
  return called.length === 1 && Object.keys(draft).length === 0 && Object.keys(args).length === 0
}

function asks(words: readonly Value[] | 'any', value: Value | undefined): boolean {
  return value !== undefined && (words === 'any' || words.includes(value))
}

function flagsOf(actions: ActionTable): string[] {
  return Object.values(actions).flatMap(({ spelled }) =>
    Object.entries(spelled?.asks ?? {}).flatMap(([path, words]) =>
      words !== 'any' && words[0] === true ? [path] : [],
    ),
  )
}

/** The arguments of an action that a change can give, with the paths that give them. A reference has two. */
function spelledArguments({ args, spelled }: Action): [argument: string, path: string][] {
  return [...argumentsOf(args).values()].flatMap(({ path, reference }): [string, string][] => {
    const direct = spelled?.args?.[path]
    if (direct !== undefined) return [[path, direct]]
    const base = reference === undefined ? undefined : spelled?.args?.[reference.base]
    return base === undefined || reference === undefined ? [] : [[path, `${base}.${reference.part}`]]
  })
}

/** All paths of a change that spell an action. */
export function spelledPaths(action: Action): readonly string[] {
  return [...new Set([...Object.keys(action.spelled?.asks ?? {}), ...spelledArguments(action).map(([, path]) => path)])]
}

/** Whether a field does nothing but spell an action: what is shown of it later is no setting. */
export function isSpelling({ actions = {} }: Pick<Behaviour, 'actions'>, { path, set }: Field): boolean {
  return set === 'modify' && Object.values(actions).some((action) => spelledPaths(action).includes(path))
}

/** What setting a field can cost: that is said by the field, or by the actions that it asks for. */
export function dangerOf({ actions = {} }: Pick<Behaviour, 'actions'>, { path, danger }: Field): Danger | undefined {
  const asked = Object.values(actions).filter(({ spelled }) => Object.hasOwn(spelled?.asks ?? {}, path))
  return danger ?? dangers.findLast((one) => asked.some((action) => action.danger === one))
}

function insistOnFit(parts: Parts): void {
  const { called } = parts
  for (const { action } of called) {
    const { alone, excludes = {} } = action.spelled ?? {}
    if (alone !== undefined && !isOneAction(parts)) throw alone()
    for (const other of called) {
      const refuse = excludes[other.name]
      if (refuse !== undefined) throw refuse()
    }
  }
}

/** A change with the actions that are asked for beside it, as one verb. */
export function withActions(modify: Verb, { called, draft, args }: Parts): Verb {
  const { args: _, ...rest } = modify
  const isJob = called.some(({ action }) => action.isJob === true) || modify.isJob
  const steps = stepsWith(modify, called)
  if (isJob === false) insistOnOneCommit(modify, called)
  return {
    ...rest,
    isJob,
    steps,
    alone: (request) => [modify, ...called.map(({ action }) => action)].flatMap((verb) => verb.alone?.(request) ?? []),
    plan: (cluster, request) => plannedWith(cluster, modify, called, { ...request, draft, args }),
  }
}

/** What is no job is one step, so that a crash leaves all of it or nothing: an action with a step of its own is asked for alone. */
function insistOnOneCommit(modify: Verb, called: readonly Called[]): void {
  const own = called.find(({ action }) => ownSteps(modify, action).length > 0)
  if (own === undefined) return
  const [field = own.name] = Object.keys(own.action.spelled?.asks ?? {})
  throw failure('actionAlone', { field })
}

/** What an action is told, by its name, where it is part of a change. */
const OF = '$of'

async function plannedWith(
  cluster: Cluster,
  modify: Verb,
  called: readonly Called[],
  request: VerbRequest & WithArguments,
): Promise<Plan> {
  const change = await modify.plan(cluster, { ...request, args: completeArguments(modify.args, request.args) })
  const row = { ...request.row, ...change.after }
  const plans: Plan[] = [change]
  const of: Record<string, Row> = {}
  const input: Record<string, Value> = { ...change.input }
  for (const { name, action, args } of called) {
    const plan = await action.plan(cluster, { ...request, row, draft: {}, args: completeArguments(action.args, args) })
    plans.push(plan)
    if (ownSteps(modify, action).length > 0) of[name] = plan.input
    else Object.assign(input, plan.input)
  }
  return {
    key: change.key,
    input: Object.keys(of).length === 0 ? input : { ...input, [OF]: of },
    locks: [...new Set(plans.flatMap(({ locks = [] }) => locks))],
    reveal: Object.assign({}, ...plans.map(({ reveal = {} }) => reveal)) as Row,
    isLong: plans.some(({ isLong }) => isLong === true),
  }
}

/** An action with the step of the change completes what that writes: both are one commit. */
function ownSteps(modify: Verb, action: Action): readonly Step[] {
  return action.steps.filter((step) => !modify.steps.includes(step))
}

function stepsWith(modify: Verb, called: readonly Pick<Called, 'name' | 'action'>[]): readonly Step[] {
  const own = (isFirst: boolean) =>
    called
      .filter(({ action }) => (action.spelled?.isFirst ?? false) === isFirst)
      .flatMap(({ name, action }) => ownSteps(modify, action).map((step) => partStep(name, step)))
  return [...own(true), ...modify.steps, ...own(false)]
}

/** The verb of a job: a change may have actions beside it. Nothing where the resource does not have it. */
export function verbOfJob(job: VerbOfJob, behaviour: Verbs): Verb | undefined {
  const { $verb: name, $input: input, $steps: steps } = job
  const { modify, actions = {} } = behaviour
  if (name === 'create' || name === 'remove') return behaviour[name]
  if (name !== 'modify') return actions[name]
  if (modify === undefined) return undefined
  const of = isRecord(input) ? input[OF] : undefined
  const isCalled = (action: string) => {
    if (isRecord(of)) return Object.hasOwn(of, action)
    // Before actions had names, a job of a change had the steps of all that it could ask for.
    return steps !== undefined && (actions[action]?.steps ?? []).every((step) => steps.includes(step.name))
  }
  const called = Object.entries(actions).flatMap(([action, one]) =>
    isCalled(action) ? [{ name: action, action: one }] : [],
  )
  return { ...modify, steps: stepsWith(modify, called) }
}

/** What a job says of its verb. */
export type VerbOfJob = Pick<Job, '$verb'> & Partial<Pick<Job, '$input' | '$steps'>>

type Verbs = Pick<Behaviour, 'create' | 'modify' | 'remove' | 'actions'>

function partStep(name: string, step: Step): Step {
  const back = async (cluster: Cluster, work: Work) => step.undo?.(cluster, partOf(work, name))
  return {
    ...step,
    run: (cluster, work) => step.run(cluster, partOf(work, name)),
    ...(step.undo === undefined ? {} : { undo: back }),
  }
}

function partOf(work: Work, name: string): Work {
  const of = work.input[OF]
  return {
    key: work.key,
    // Before actions had names, a job of a change had one input for all.
    input: isRecord(of) ? ((of[name] ?? {}) as Row) : work.input,
    memo: work.memo,
    get stopping() {
      return work.stopping
    },
    progress: (done, message) => work.progress(done, message),
    conclude: (message) => work.conclude(message),
    commit: (changes, notes) => work.commit(changes, notes),
  }
}

/**
 * A verb of a resource that has no records of its own: it names a record of another one in its draft or arguments, and
 * does an action with it.
 */
export function spells<Request extends VerbRequest = VerbRequest>(
  type: string,
  name: string,
  { action, named, ...rest }: Spells<Request>,
): Verb<Request> {
  const { isJob, steps } = action
  return {
    ...rest,
    isJob,
    steps,
    spells: { type, name },
    async plan(cluster, request) {
      const { row, args } = await named(cluster, request)
      return action.plan(cluster, { ...request, row, draft: {}, args: completeArguments(action.args, args) })
    },
  }
}

interface Spells<Request extends VerbRequest> extends Pick<Verb, 'args' | 'example' | 'exampleArgs'> {
  readonly action: Action
  readonly named: (
    cluster: Cluster,
    request: Request & WithArguments,
  ) => Promise<{ readonly row: Row; readonly args: Row }>
}
