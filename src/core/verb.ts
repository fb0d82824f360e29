/**
 * What happens when a verb is called: first `plan` looks (it may refuse, it changes nothing), then named steps act.
 *
 * A verb of one step whose change is one catalog commit runs inline. Anything longer is a job: its plan is written
 * before the first step, its progress after each, so that a crash at any point is followed by a resumption. Steps must
 * therefore be repeatable: `run` after a half-done `run`, `undo` after a half-done `run` or `undo`.
 */
import type { Fields } from '../model/resource.ts'
import type { ArgumentsOf, Declared, DraftOf, NewOf, RecordType, RowOf } from '../model/rows.ts'
import type { Row, Value } from '../model/value.ts'
import type { Change, Outcome } from '../ports/catalog.ts'
import type { Cluster } from './cluster.ts'
import type { Held } from './grounds.ts'

export type Caller = {
  readonly user: string
  readonly role: string
  /** How the request came in: an address, or the name of the part that asks. */
  readonly from: string
}

export interface VerbRequest<Of extends Row = Row, Draft extends Row = Row> {
  readonly caller: Caller
  /** The fields given, parsed, references resolved to uuids; complete with defaults for `create`. */
  readonly draft: Draft
  /** The record as it is now: for `modify`, `remove` and actions. */
  readonly row?: Of
  /** Keys of the path: `volume.uuid`. */
  readonly path: Readonly<Record<string, string>>
}

/** The values of the arguments that a verb declares, of their kinds and with their defaults. */
export interface WithArguments<Args = Row> {
  readonly args: Args
}

const NONE = {} as const satisfies Fields

/** No arguments. */
export type None = typeof NONE

/** The request of a verb that is about a record which is there. */
export interface ChangeRequest<Of extends Row = Row, Draft extends Row = Row> extends VerbRequest<Of, Draft> {
  readonly row: Of
}

/** The request of a verb that makes a record of this type, where the verb is written apart from its resource. */
export type Making<Type extends Declared, Args extends Fields = None> = VerbRequest<RowOf<Type>, NewOf<Type>> &
  WithArguments<ArgumentsOf<Args>>

/** The request of a verb about a record of this type, where the verb is written apart from its resource. */
export type Changing<Type extends RecordType, Args extends Fields = None> = ChangeRequest<RowOf<Type>, DraftOf<Type>> &
  WithArguments<ArgumentsOf<Args>>

/** The UUID of a record that is about to be made: the one that a seed file says, or a new one. */
export function uuidOfNew(cluster: Cluster, draft: Row): string {
  const wished = draft['uuid']
  return typeof wished === 'string' ? wished : cluster.system.random.uuid()
}

export interface Plan<Input extends Row = Row> {
  /** The key of the record that the verb is about. */
  readonly key: string
  /** What the steps need to know. Written to the catalog for jobs, so no secrets in the clear. */
  readonly input: Input
  /** Held while the steps run: `volume:<uuid>`. A second verb waits its turn. What an inline verb reads in its step rests on them. */
  readonly locks?: readonly Held[]
  /** Fields shown in this answer only: a key, a password. Kept in memory alone. */
  readonly reveal?: Row
  /** The record as a change leaves it, where that is not as it is now with the draft: see `action.ts`. */
  readonly after?: Row
  /** The verb finds everything as it should be: no step runs. */
  readonly isDone?: boolean
  /** This call takes long: it runs as a job, where others of the verb run inline. */
  readonly isLong?: boolean
}

/** The memo of a job whose steps note nothing. */
// It is empty on purpose: there is nothing to read.
// oxlint-disable-next-line typescript/no-generated-empty-object-type
export type NoMemo = Readonly<Record<never, Value>>

export interface Work<Input extends Row = Row, Memo extends Row = NoMemo> {
  readonly key: string
  readonly input: Input
  /** Notes from one step to a later one; kept with the job. None of them is there when the job begins. */
  readonly memo: { -readonly [Note in keyof Memo]?: Memo[Note] }
  /** Aborts when the cluster stops, or the job is to halt or to be given up. A step that takes long then ends with `Interrupted` as soon as it may. */
  readonly stopping: AbortSignal
  /** Tells how far a long step is, 0..1, and in words what it is at. */
  progress(done: number, message?: string): Promise<void>
  /** Says in words how it has ended, for the record of a job that succeeds. A step that is repeated says it again. */
  conclude(message: string): void
  /**
   * Commits changes and, with them, what becomes of the memo: a crash leaves both or neither, so a step that is repeated
   * goes on where it was. Fails as the catalog does, with a `CommitRefused` that counts these changes; the memo is then
   * as before.
   */
  commit(changes: readonly Change[], notes: Partial<Memo>): Promise<readonly Outcome[]>
}

/** Ends a step because the cluster stops. Nothing is undone: the job is taken up again at the next start. */
export class Interrupted extends Error {
  constructor() {
    super('The cluster is stopping. The job continues at the next start.')
    this.name = 'Interrupted'
  }
}

export interface Step<Input extends Row = Row> {
  readonly name: string
  /** The job may be given up while it is in this step: those up to it can be undone, or leave nothing that is half done. */
  readonly isCancellable?: boolean
  /** It ends with `Interrupted` soon after `work.stopping` aborts, and goes on where it was when it is run again. */
  readonly isPausable?: boolean
  run(cluster: Cluster, work: Work<Input>): Promise<void>
  undo?(cluster: Cluster, work: Work<Input>): Promise<void>
}

export interface Verb<Request extends VerbRequest = VerbRequest, Input extends Row = Row> {
  readonly isJob: boolean | 'when long'
  /** Arguments it takes beside fields: those of the query in the REST interface. */
  readonly args?: Fields
  /** A body that shows what it takes; also what the crash tests call it with. Names of the first start may be used. */
  readonly example?: Readonly<Record<string, unknown>>
  /** Others that take another way, by a name; `of` names the one with which the record is created that it is about. */
  readonly moreExamples?: Readonly<
    Record<string, { readonly body: Readonly<Record<string, unknown>>; readonly of?: string }>
  >
  /** Arguments that make it go different ways: the crash tests call it with each of these. Without, with none. */
  readonly exampleArgs?: readonly Row[]
  /** Held from before the plan to the end: for an inline verb whose plan chooses what only one can have. */
  alone?(request: Request): readonly Held[]
  plan(cluster: Cluster, request: Request & WithArguments): Promise<Plan<Input>>
  /** What they are told is what the plan gives: steps that several verbs share may ask for less of it. */
  readonly steps: readonly Step<NoInfer<Input>>[]
  /** It is an action of another type, spelled otherwise: see `action.ts`. */
  readonly spells?: { readonly type: string; readonly name: string }
}

/**
 * An inline verb has one step, so that a crash leaves all of it or nothing. Some of its calls may be jobs, where the plan
 * says so: for these the step is repeatable.
 */
export function inline<
  Request extends VerbRequest = VerbRequest,
  Input extends Row = Row,
  const Args extends Fields = None,
>(
  verb: Asked<Request, Input, Args> & { readonly step: Step<NoInfer<Input>>; readonly isJob?: 'when long' },
): Verb<Request, Input>
export function inline(
  verb: Omit<Verb, 'isJob' | 'steps'> & { readonly step: Step; readonly isJob?: 'when long' },
): Verb {
  const { step, isJob = false, ...rest } = verb
  return { ...rest, isJob, steps: [step] }
}

export function job<
  Request extends VerbRequest = VerbRequest,
  Input extends Row = Row,
  const Args extends Fields = None,
>(verb: Asked<Request, Input, Args> & Pick<Verb<Request, Input>, 'steps'>): Verb<Request, Input>
export function job(verb: Omit<Verb, 'isJob'>): Verb {
  return { ...verb, isJob: true }
}

/** A verb without what carries it out: its plan gets the arguments that it declares, and no others. */
export interface Asked<Request extends VerbRequest, Input extends Row, Args extends Fields> extends Omit<
  Verb<Request, Input>,
  'isJob' | 'steps' | 'args' | 'plan'
> {
  readonly args?: Args
  plan(cluster: Cluster, request: Request & WithArguments<ArgumentsOf<Args>>): Promise<Plan<Input>>
}
