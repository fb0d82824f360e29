/**
 * The TypeScript types of rows, which follow from the declarations of resources. `RowTypes` has one for each type of
 * records: `src/resources/index.ts` adds those of all resources, and files that keep notes of their own add theirs. So a
 * path or a type that is misspelt, or that was renamed elsewhere, does not compile.
 */
import type { ValueOf } from './kinds/index.ts'
import type { DeclaredResource, FieldDeclaration, Resource, ResourceDeclaration, TypeName } from './resource.ts'
import type { Row, Value } from './value.ts'

export interface RowTypes {}

/** The name of a type of records: `storage/volumes`. */
export type RecordType = Extract<keyof RowTypes, string>

/** The same where it is not known before the product runs: it was taken from a resource. */
export type SomeType = RecordType | TypeName

/** What is read of a record of this type: its fields, and what is kept with them and never shown. */
export type RowOf<Type extends RecordType> = RowTypes[Type]

/**
 * A row of a resource. What makes its key or must be given is always there; the other fields may not be set, the parent
 * neither: what belongs to no SVM may belong to the cluster. Of a reference, the UUID is kept, and the name is there where
 * it was looked up.
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
      } & {
        readonly [
          Path in keyof Of['fields'] & string as Of['fields'][Path] extends { readonly ref: string }
            ? `${Path}.name`
            : never
        ]?: string
      }
    > &
      Hidden

/** Kept with a record and never shown: their names begin with `$`. */
export type Hidden = { readonly [name: `$${string}`]: Value }

type Flat<T> = { readonly [Path in keyof T]: T[Path] }

type StoredPath<Of extends ResourceDeclaration, Path extends keyof Of['fields'] & string> = Of['fields'][Path] extends {
  readonly isGroup: true
}
  ? never
  : Of['fields'][Path] extends { readonly ref: string }
    ? `${Path}.uuid`
    : Path

type IsAlways<Of extends ResourceDeclaration, Path extends keyof Of['fields'] & string> = Of['fields'][Path] extends {
  readonly required: true
}
  ? true
  : StoredPath<Of, Path> extends 'uuid' | Of['key'][number] | Texts<Of['recordKey']>
    ? true
    : false

type Texts<T> = T extends readonly string[] ? T[number] : never

type Held<Of extends FieldDeclaration> = Of extends { readonly kind: infer Kind }
  ? ValueOf<Kind>
  : Of extends { readonly refs: string }
    ? readonly NamedReference[]
    : string

export type NamedReference = { readonly uuid: string; readonly name?: string }

/** The row of a resource: `RowIn<typeof volumesResource>`. */
export type RowIn<Of extends Resource> = Of extends DeclaredResource<infer Declared> ? DeclaredRow<Declared> : Row

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
