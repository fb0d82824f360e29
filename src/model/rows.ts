/**
 * The TypeScript types of rows, which follow from the declarations of resources. `RowTypes` has one for each type of
 * records: `src/resources/index.ts` adds those of all resources, and files that keep notes of their own add theirs. So a
 * path or a type that is misspelt, or that was renamed elsewhere, does not compile.
 */
import type { ValueOf } from './kinds/index.ts'
import type { DeclaredResource, FieldDeclaration, Fields, Resource, ResourceDeclaration, TypeName } from './resource.ts'
import type { Row, Value } from './value.ts'

export interface RowTypes {}

/** What requests give to make records, by type. */
export interface DraftTypes {}

/**
 * What is kept with records of a type and never shown. Names begin with `$`. Files that write them add them, in one place
 * for each type. A type that is here has no others; one that is not may have any.
 */
export interface NoteTypes {}

/** The name of a type of records: `storage/volumes`. */
export type RecordType = Extract<keyof RowTypes, string>

/** The same where it is not known before the product runs: it was taken from a resource. */
export type SomeType = RecordType | TypeName

/** What is read of a record of this type: its fields, and what is kept with them and never shown. */
export type RowOf<Type extends RecordType> = RowTypes[Type]

/** What is given of a record of this type: any of its fields. */
export type DraftOf<Type extends RecordType> = Given<RowTypes[Type]>

/** The name of a type of records that a resource declares. */
export type Declared = RecordType & keyof DraftTypes

/** What is given to make a record of this type. */
export type NewOf<Type extends Declared> = DraftTypes[Type]

type Given<Of> = { readonly [Path in keyof Of as Path extends `$${string}` ? never : Path]?: Of[Path] } & Hidden

/**
 * A row of a resource. What makes its key, must be given or is always set is there, and so is a parent that its path
 * names. The other fields may not be set, other parents neither: what belongs to no SVM may belong to the cluster. Of a
 * reference, the UUID is kept, and the name is there where it was looked up.
 */
export type DeclaredRow<Of extends ResourceDeclaration> = string extends keyof Of['fields']
  ? Row
  : Flat<
      {
        readonly [
          Path in keyof Of['fields'] & string as IsAlways<Of, Path> extends true ? StoredPath<Of, Path> : never
        ]: Held<Of['fields'][Path]>
      } & {
        readonly [
          Path in keyof Of['fields'] & string as IsAlways<Of, Path> extends true ? never : StoredPath<Of, Path>
        ]?: Held<Of['fields'][Path]>
      } & NamesOfReferences<Of>
    > &
      HiddenOf<Of>

/** What a request gives of a row: any of its fields. */
export type DeclaredDraft<Of extends ResourceDeclaration> = string extends keyof Of['fields']
  ? Row
  : Flat<
      {
        readonly [Path in keyof Of['fields'] & string as StoredPath<Of, Path>]?: Held<Of['fields'][Path]>
      } & NamesOfReferences<Of>
    >

/** What a request gives to make a record: what must be given is there. */
export type NewDraft<Of extends ResourceDeclaration> = string extends keyof Of['fields']
  ? Row
  : Flat<
      {
        readonly [
          Path in keyof Of['fields'] & string as IsGiven<Of, Path> extends true ? StoredPath<Of, Path> : never
        ]: Held<Of['fields'][Path]>
      } & {
        readonly [
          Path in keyof Of['fields'] & string as IsGiven<Of, Path> extends true ? never : StoredPath<Of, Path>
        ]?: Held<Of['fields'][Path]>
      } & NamesOfReferences<Of>
    > &
      HiddenGiven<Of>

/** What is given of declared arguments: those that are required or have a default are always there. */
export type ArgumentsOf<Args extends Fields> = string extends keyof Args
  ? Row
  : Flat<
      {
        readonly [
          Path in keyof Args & string as IsThere<Args[Path]> extends true ? ArgumentPath<Args, Path> : never
        ]: Held<Args[Path]>
      } & {
        readonly [
          Path in keyof Args & string as IsThere<Args[Path]> extends true ? never : ArgumentPath<Args, Path>
        ]?: Held<Args[Path]>
      }
    >

type IsThere<Of extends FieldDeclaration> = Of extends { readonly required: true } | { readonly default: Value }
  ? true
  : false

type ArgumentPath<Args extends Fields, Path extends keyof Args & string> = Args[Path] extends { readonly ref: string }
  ? `${Path}.uuid`
  : Path

/** Kept with a record and never shown: their names begin with `$`. */
export type Hidden = { readonly [name: `$${string}`]: Value }

type HiddenOf<Of extends ResourceDeclaration> = TypeOf<Of> extends keyof NoteTypes ? NoteTypes[TypeOf<Of>] : Hidden

/** The same of a row that is being made: none of them need be there yet. */
type HiddenGiven<Of extends ResourceDeclaration> =
  TypeOf<Of> extends keyof NoteTypes ? Partial<NoteTypes[TypeOf<Of>]> : Hidden

/** The type of its records: that of another resource where it shows those. */
type TypeOf<Of extends ResourceDeclaration> = Of extends { readonly rowsOf: infer Type extends string }
  ? Type
  : Of['path'] extends `/${infer Type}`
    ? Type
    : ''

type Flat<T> = { readonly [Path in keyof T]: T[Path] }

type NamesOfReferences<Of extends ResourceDeclaration> = {
  readonly [
    Path in keyof Of['fields'] & string as Of['fields'][Path] extends { readonly ref: string } ? `${Path}.name` : never
  ]?: string
}

type StoredPath<Of extends ResourceDeclaration, Path extends keyof Of['fields'] & string> = Of['fields'][Path] extends {
  readonly isGroup: true
}
  ? never
  : Of['fields'][Path] extends { readonly ref: string }
    ? `${Path}.uuid`
    : Path

type IsGiven<Of extends ResourceDeclaration, Path extends keyof Of['fields'] & string> = Of['fields'][Path] extends {
  readonly required: true
}
  ? true
  : false

type IsAlways<Of extends ResourceDeclaration, Path extends keyof Of['fields'] & string> = Of['fields'][Path] extends {
  readonly required: true
}
  ? true
  : Of['fields'][Path] extends { readonly isAlwaysSet: true }
    ? true
    : StoredPath<Of, Path> extends ParentInPath<Of>
      ? true
      : StoredPath<Of, Path> extends 'uuid' | Of['key'][number] | Texts<Of['recordKey']>
        ? true
        : false

/** The parent, where the path of its resource names it. */
type ParentInPath<Of extends ResourceDeclaration> = Of extends { readonly parent: infer Parent extends string }
  ? Of['path'] extends `${string}{${Parent}}${string}`
    ? Parent
    : never
  : never

type Texts<T> = T extends readonly string[] ? T[number] : never

type Held<Of extends FieldDeclaration> = Of extends { readonly kind: infer Kind }
  ? ValueOf<Kind>
  : Of extends { readonly refs: string }
    ? readonly NamedReference[]
    : string

/**
 * The paths by which the values of a record can be asked for: its fields, the members of what they list, and what stands
 * before a dot in one of these. Of records whose fields are not known before the product runs, any.
 */
export type PathOf<Type extends RecordType> = WithHeads<PathsIn<RowTypes[Type]>>

type PathsIn<Of> = { [Path in Shown<Of>]: Path | MembersAt<Path, NonNullable<Of[Path]>> }[Shown<Of>]

type Shown<Of> = Exclude<keyof Of & string, `$${string}`>

type MembersAt<Path extends string, Held> = Held extends readonly (infer Element)[]
  ? Element extends object
    ? `${Path}.${keyof Element & string}`
    : never
  : never

/** Paths, and what stands before a dot in one of them. */
export type WithHeads<Path extends string> = Path | HeadsOf<Path>

type HeadsOf<Path extends string> = Path extends `${infer Head}.${infer Tail}`
  ? Head | `${Head}.${HeadsOf<Tail>}`
  : never

export type NamedReference = { readonly uuid: string; readonly name?: string }

/** The row of a resource: `RowIn<typeof volumesResource>`. */
export type RowIn<Of extends Resource> = Of extends DeclaredResource<infer From> ? DeclaredRow<From> : Row

/** What a request gives of a row of a resource. */
export type DraftIn<Of extends Resource> = Of extends DeclaredResource<infer From> ? DeclaredDraft<From> : Row

/** What a request gives to make a record of a resource. */
export type NewDraftIn<Of extends Resource> = Of extends DeclaredResource<infer From> ? NewDraft<From> : Row

/** The type of the records of a resource. */
export type TypeIn<Of extends Resource> =
  Of extends DeclaredResource<infer Declared>
    ? Declared extends { readonly rowsOf: string }
      ? never
      : Declared['path'] extends `/${infer Type}`
        ? string extends Type
          ? never
          : Type
        : never
    : never
