/** A resource with what it does: where its rows come from, what is derived when they are read, its verbs. */
import type { OwnEvent } from '../model/events/index.ts'
import type { OwnFailure } from '../model/failures/index.ts'
import type { Fields, Resource } from '../model/resource.ts'
import type { ArgumentsOf, DraftIn, NewDraftIn, RowIn, WithHeads } from '../model/rows.ts'
import type { Row } from '../model/value.ts'
import type { Action } from './action.ts'
import type { Cluster } from './cluster.ts'
import type { ChangeRequest, None, Verb, VerbRequest } from './verb.ts'

/** Who reads some fields of rows to derive others says both: `Derivation<Pick<Bucket, 'uuid'>, 'size', Bucket>`. */
export interface Derivation<
  Of extends Row = Row,
  Path extends string = WithHeads<keyof Of & string>,
  Gives extends Row = Of,
> {
  /** The field paths it gives. It runs only when one of them is asked for, filtered or sorted by. */
  readonly gives: readonly Path[]
  /**
   * For each row, in the same order, the fields to add. Rows of one reading come some at a time: what they have in common
   * is made `once`. A read of one record runs a dozen of these: who has nothing to wait for gives no promise.
   */
  from(
    cluster: Cluster,
    rows: readonly Of[],
    once: Once,
  ): readonly Derived<Gives>[] | Promise<readonly Derived<Gives>[]>
}

/** A derivation that several resources share: of its paths, the compiler knows none, and a test looks at them. */
export type SharedDerivation<Of extends Row = Row> = Derivation<Of, never, Row>

export function sharedPaths(...paths: readonly string[]): readonly never[] {
  return paths as readonly never[]
}

/** Derived fields of a row: null where one is not set. */
export type Derived<Of extends Row> = { readonly [Path in keyof Of]?: Of[Path] | null }

/** Gives what was made under this name in this reading, or makes it. */
export type Once = <Made>(name: string, make: () => Made) => Made

export function onceEach(): Once {
  const made = new Map<string, unknown>()
  return <Made>(name: string, make: () => Made) => {
    if (!made.has(name)) made.set(name, make())
    return made.get(name) as Made
  }
}

export interface SecretField<Of extends Row = Row> {
  /** What it is, if there is any, for an export that is to hold secrets. A field without this cannot be exported. */
  read?(cluster: Cluster, row: Of): string | undefined
  /** Whether it is what is given. */
  isSame?(cluster: Cluster, row: Of, given: string): Promise<boolean>
}

export interface Acts<Of extends Row = Row, Draft extends Row = Row, New extends Row = Row, Args = Row> {
  /**
   * Rows of a computed resource; without it, rows are records. `path` holds the keys of the path, those of the record too
   * where one is asked for.
   */
  rows?(this: void, cluster: Cluster, path: Readonly<Record<string, string>>, args: Args): Promise<Derived<Of>[]>
  /**
   * All rows of a computed resource, some at a time and in any order, where they are too many to be in memory at once; then
   * `rows` gives the one whose key is asked for.
   */
  readonly rowPages?: (cluster: Cluster) => AsyncIterable<readonly Row[]>
  /** Arguments of reads that `rows` takes. */
  readonly readArgs?: Fields
  readonly derive?: readonly Derivation<Of>[]
  /** Fields that are kept so that reads do not show them, and those that are of use only with them. */
  readonly secrets?: { readonly [Path in keyof Of & string]?: SecretField<Of> }
  readonly create?: Verb<VerbRequest<Of, New>>
  readonly modify?: Verb<ChangeRequest<Of, Draft>>
  readonly remove?: Verb<ChangeRequest<Of, Draft>>
  /** What else can be done with a record, by name, in the order in which a request that asks for several does them. */
  readonly actions?: Readonly<Record<string, Action<ChangeRequest<Of, Draft>>>>
  /** What only its verbs can fail with, beside the rows of the common table. */
  readonly failures?: Readonly<Record<string, OwnFailure>>
  /** What only its verbs log. */
  readonly events?: Readonly<Record<string, OwnEvent>>
}

export interface Behaviour<Of extends Resource = Resource> extends Acts<RowIn<Of>, DraftIn<Of>, NewDraftIn<Of>> {
  readonly resource: Of
}

export const VERB_NAMES = ['create', 'modify', 'remove'] as const
export type VerbName = (typeof VERB_NAMES)[number]

/**
 * What a resource does. The resource is a constant of its own, with a type that follows from its declaration alone, so that
 * what is done may speak of its rows.
 */
export function define<Of extends Resource, const Args extends Fields = None>(
  resource: Of,
  acts?: Acts<RowIn<Of>, DraftIn<Of>, NewDraftIn<Of>, ArgumentsOf<Args>> & { readonly readArgs?: Args },
): Behaviour<Of>
export function define<Of extends Resource>(
  resource: Of,
  acts: Acts<RowIn<Of>, DraftIn<Of>, NewDraftIn<Of>> = {},
): Behaviour<Of> {
  return { ...acts, resource }
}
