/**
 * A resource is declared once, and everything else is derived from the declaration: routes, body validation, filters,
 * ordering, role checks, release gating, the OpenAPI document.
 *
 * Fields are flat dotted paths. A reference to another resource is declared as one field (`svm: { ref: 'svm/svms' }`)
 * and becomes two: `svm.uuid`, which is stored, and `svm.name`, which is looked up when it is read, so that a rename
 * shows everywhere at once.
 */
import { type Danger, labelOf, type Labels, labelsOf, type When } from './facts.ts'
import { each, name, text, uuid } from './kinds/index.ts'
import type { Kind } from './kinds/index.ts'
import { type Fate, type Naming, namingOtherwise, type NamesOtherwise } from './naming.ts'
import { splits, valuesAt, withoutValue } from './values-at.ts'
import type { Member } from './kinds/kind.ts'
import { type Row, textOf, type Value } from './value.ts'

export interface Order {
  readonly path: string
  readonly isDescending: boolean
}

export interface FieldDeclaration {
  readonly doc: string
  readonly kind?: Kind
  /** The type of the resource referred to. */
  readonly ref?: string
  /** A list of references; its elements have `name` and `uuid`. */
  readonly refs?: string
  /** What else is shown of each of these. A derivation of the resource gives it. */
  readonly refsShow?: Readonly<Record<string, { readonly kind: Kind; readonly doc: string }>>
  /** A name that refers to nothing: setting a reference to it clears the reference. */
  readonly noneName?: string
  /** When a client may set it. Without this, the field is read-only. */
  readonly set?: 'create' | 'modify' | 'always'
  readonly required?: boolean
  /** Every record has it: where a request does not give it, what makes the record sets it. */
  readonly isAlwaysSet?: true
  readonly default?: Value
  /** The release that introduced it, where that is later than the resource. */
  readonly since?: string
  /** Given only when it is asked for by name. */
  readonly isExpensive?: boolean
  /** Shown in the answer of the request that made it, never again. */
  readonly shownOnce?: boolean
  /** `null` in a change takes it back to what it is where nobody says anything. */
  readonly isClearable?: boolean
  /** It says how a record is made or changed, or spells another field: no setting of its own, so exports leave it out. */
  readonly isInput?: boolean
  /** What faces call it. Without it, its path in words: see `labelOf`. */
  readonly label?: string
  /** It applies only where this holds: forms hide it elsewhere. */
  readonly when?: When
  /** What setting it can cost, where that is more than another change of the record. */
  readonly danger?: Danger
  /** No field of its own: it says what the fields below its path are together. See `groups`. */
  readonly isGroup?: boolean
}

export interface Field {
  readonly path: string
  readonly doc: string
  readonly kind: Kind
  readonly set: 'create' | 'modify' | 'always' | 'never'
  readonly isRequired: boolean
  readonly default: Value | undefined
  readonly since: string | undefined
  readonly isExpensive: boolean
  readonly shownOnce: boolean
  readonly isClearable: boolean
  readonly isInput: boolean
  readonly label: string
  readonly when: When | undefined
  readonly danger: Danger | undefined
  readonly noneName: string | undefined
  /** Where this is the name or the uuid of another record: its type, and the path without the last word. */
  readonly reference:
    | { readonly type: TypeName; readonly base: string; readonly part: 'name' | 'uuid' | 'list' }
    | undefined
}

/** Fields that several resources share are written `as const satisfies Fields`, so that their kinds stay known. */
export type Fields = Readonly<Record<string, FieldDeclaration>>

export interface ResourceDeclaration {
  /** `/storage/volumes`, or with keys of the parent: `/storage/volumes/{volume.uuid}/snapshots`. */
  readonly path: string
  /** Other paths that show the same rows in the same way. */
  readonly aliases?: readonly string[]
  /** What one is called in messages: `volume`. */
  readonly noun: string
  readonly doc: string
  readonly since?: string
  /** The fields that address one in its path, after the path's own keys. None for a singleton. */
  readonly key: readonly string[]
  /** Fields that are shown beside the key where no fields are asked for and only keys are shown. */
  readonly shownUnasked?: readonly string[]
  /** A field that addresses one as well as its key does. */
  readonly alsoBy?: string
  /** The type of the records, where they are those of another resource (a second path to the same rows). */
  readonly rowsOf?: string
  /** The fields that make the key of its record in the catalog. Without this: its uuid. */
  readonly recordKey?: readonly string[]
  /** The field that holds the key of the record it lives under: `svm.uuid`. */
  readonly parent?: string
  /** The type of that record, where the field is no reference. Records go with the one they live under. */
  readonly parentType?: string
  /**
   * What becomes of a record when one that it names is deleted, by the path of the reference: `svm`. Without it, a record
   * is deleted with its parent, and other references are of no consequence.
   */
  readonly within?: Readonly<Record<string, Fate | NamesOtherwise>>
  /** Names are unique within the records that share this field; without it, in the cluster. `false`: names may repeat. */
  readonly nameWithin?: string | false
  /** A record where the field of `nameWithin` is not set belongs to all: its name leads to it from anywhere. */
  readonly isShared?: boolean
  /** Its records are what clients stored, or of a moment, and no configuration: exports leave them out. */
  readonly isContent?: boolean
  /** Its parent is a volume, whose snapshots show its records as they were. */
  readonly isInSnapshots?: boolean
  /** The method that makes one. */
  readonly createMethod?: 'POST' | 'PUT'
  /** The order of a collection that is asked for in none. Without it, by name and key. */
  readonly order?: readonly Order[]
  /** The fields that a list shows where nobody chooses others, the most important ones first. */
  readonly columns?: readonly string[]
  /** What forms ask for, by the titles of their parts, in the order in which it is asked. */
  readonly form?: Readonly<Record<string, readonly string[]>>
  /** What removing one can cost. Without it, what it held is lost. */
  readonly removal?: Danger
  readonly fields: Fields
}

declare const OF_RESOURCE: unique symbol

/** The name of a type that was taken from a resource, not written down. */
export type TypeName = string & { readonly [OF_RESOURCE]: true }

export interface Resource {
  /** The path without its first slash and parameters' values: the name that everything else uses. */
  readonly type: TypeName
  readonly path: string
  readonly aliases: readonly string[]
  readonly noun: string
  readonly doc: string
  readonly since: string | undefined
  readonly key: readonly string[]
  readonly shownUnasked: readonly string[]
  readonly alsoBy: string | undefined
  readonly rowsOf: TypeName
  readonly recordKey: readonly string[]
  readonly parent: string | undefined
  readonly parentType: TypeName | undefined
  /** The same and, where an SVM can be the parent, the cluster: what belongs to no SVM may belong to that. */
  readonly parentTypes: readonly TypeName[]
  readonly within: readonly Naming[]
  readonly nameWithin: string | false | undefined
  readonly isShared: boolean
  readonly isContent: boolean
  readonly isInSnapshots: boolean
  readonly createMethod: 'POST' | 'PUT'
  readonly order: readonly Order[]
  readonly isSingleton: boolean
  readonly labels: Labels
  readonly columns: readonly string[]
  readonly form: Readonly<Record<string, readonly string[]>>
  readonly removal: Danger
  /** The dotted names between braces in the path: `volume.uuid`. */
  readonly pathKeys: readonly string[]
  readonly fields: ReadonlyMap<string, Field>
  /** What the fields below a path are together: `space` of `space.used`. References are among them. */
  readonly groups: ReadonlyMap<string, string>
}

declare const DECLARED: unique symbol

/** A resource that remembers how it was declared: the types of its rows follow from that (`rows.ts`). */
export interface DeclaredResource<Of extends ResourceDeclaration> extends Resource {
  readonly [DECLARED]?: Of
}

/** Says what fields below a path are together. Stands among the fields, so that files that share fields share it. */
export function groups<const Docs extends Readonly<Record<string, string>>>(
  docs: Docs,
): { readonly [Path in keyof Docs]: { readonly doc: string; readonly isGroup: true } } {
  const made = Object.entries(docs).map(([path, doc]) => [path, { doc, isGroup: true }])
  return Object.fromEntries(made) as { readonly [Path in keyof Docs]: { readonly doc: string; readonly isGroup: true } }
}

/** Nothing but what can be declared: a literal that is inferred is not checked for more. */
export type Exactly<Of extends ResourceDeclaration> = Record<Exclude<keyof Of, keyof ResourceDeclaration>, never> & {
  readonly fields: {
    readonly [Path in keyof Of['fields']]: Record<Exclude<keyof Of['fields'][Path], keyof FieldDeclaration>, never>
  }
}

/**
 * The paths of the fields that are declared: of a reference its two, of a list any below it, as it takes long to find out
 * what its members have. Where fields are put together at run time, any. The test of all declarations finds what is wrong
 * there.
 */
type PathIn<Of> = string extends keyof Of
  ? string
  : { readonly [Path in keyof Of & string]: PathsOf<Path, Of[Path]> }[keyof Of & string]

type PathsOf<Path extends string, Of> = Of extends { readonly isGroup: true }
  ? never
  : Of extends { readonly ref: string }
    ? `${Path}.name` | `${Path}.uuid`
    : Of extends { readonly kind: { parse(value: unknown): string | number | boolean } }
      ? Path
      : Of extends { readonly kind: unknown } | { readonly refs: string }
        ? Path | `${Path}.${string}`
        : Path

/** Paths of its own fields alone: one that is misspelt, or was renamed, does not compile. */
interface OfFields<Of extends Fields, Path extends string> {
  readonly key: readonly Path[]
  readonly shownUnasked?: readonly Path[]
  readonly alsoBy?: Path
  /** What is kept and never shown may be part of it. */
  readonly recordKey?: readonly (Path | `$${string}`)[]
  readonly parent?: Path
  readonly nameWithin?: Path | false
  readonly order?: readonly { readonly path: Path; readonly isDescending: boolean }[]
  readonly columns?: readonly Path[]
  readonly form?: Readonly<Record<string, readonly Path[]>>
  readonly fields: {
    readonly [One in keyof Of]: Of[One] extends { readonly when: { readonly field: infer Other } }
      ? Other extends Path
        ? unknown
        : { readonly when: { readonly field: Path } }
      : unknown
  }
}

const SVMS = 'svm/svms' as TypeName
const CLUSTER = 'cluster' as TypeName

export function resource<const Of extends ResourceDeclaration>(
  declared: Of & Exactly<Of> & OfFields<Of['fields'], PathIn<Of['fields']>>,
): DeclaredResource<Of> {
  const whole = made(declared)
  insistOnFields(whole)
  return whole
}

/** Fields by their paths, references as the two fields that they become. */
export function expandFields(declared: Fields): ReadonlyMap<string, Field> {
  const fields = new Map<string, Field>()
  for (const [path, field] of Object.entries(declared)) {
    if (field.isGroup === true) continue
    for (const made of expand(path, field)) fields.set(made.path, made)
  }
  return fields
}

function made(declared: ResourceDeclaration): Resource {
  const fields = expandFields(declared.fields)
  const groups = new Map<string, string>()
  for (const [path, field] of Object.entries(declared.fields)) {
    if (field.isGroup === true || field.ref !== undefined) groups.set(path, field.doc)
  }
  const parentType = (declared.parentType as TypeName | undefined) ?? fields.get(declared.parent ?? '')?.reference?.type
  return {
    type: declared.path.slice(1) as TypeName,
    path: declared.path,
    aliases: declared.aliases ?? [],
    noun: declared.noun,
    doc: declared.doc,
    since: declared.since,
    key: declared.key,
    shownUnasked: declared.shownUnasked ?? [],
    alsoBy: declared.alsoBy,
    rowsOf: (declared.rowsOf ?? declared.path.slice(1)) as TypeName,
    recordKey: declared.recordKey ?? ['uuid'],
    parent: declared.parent,
    parentType,
    parentTypes: parentType === undefined ? [] : parentType === SVMS ? [SVMS, CLUSTER] : [parentType],
    within: namings(declared, fields, parentType),
    nameWithin: declared.nameWithin,
    isShared: declared.isShared ?? false,
    isContent: declared.isContent ?? false,
    isInSnapshots: declared.isInSnapshots ?? false,
    createMethod: declared.createMethod ?? 'POST',
    order: declared.order ?? [],
    isSingleton: declared.key.length === 0,
    pathKeys: [...declared.path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? ''),
    labels: labelsOf(declared.noun),
    columns: declared.columns ?? usualColumns(declared, fields),
    form: declared.form ?? {},
    removal: declared.removal ?? 'destructive',
    fields,
    groups,
  }
}

/** What most lists show: what one is called, whose it is, and how it is. */
function usualColumns({ key }: ResourceDeclaration, fields: ReadonlyMap<string, Field>): readonly string[] {
  const named = fields.has('name') ? ['name'] : key.filter((path) => !/(^|\.)uuid$/.test(path))
  const shown = [...named, 'svm.name', 'type', 'enabled', 'state', 'comment'].filter((path) => fields.has(path))
  return shown.length === 0 ? key.filter((path) => fields.has(path)) : [...new Set(shown)]
}

/** Facts that name a field which is not there are mistakes that show at once. */
function insistOnFields(made: Resource): void {
  const conditions = [...made.fields.values()].flatMap(({ when }) => when?.field ?? [])
  for (const path of [...made.columns, ...Object.values(made.form).flat(), ...conditions]) {
    if (fieldAt(made, path) === undefined) throw new Error(`${made.type} has no field "${path}".`)
  }
}

/** What `within` says, with the parent that it need not mention. */
function namings(
  { path: resourcePath, parent, within = {} }: ResourceDeclaration,
  fields: ReadonlyMap<string, Field>,
  parentType: TypeName | undefined,
): Naming[] {
  const parentBase = parent?.replace(/\.[^.]+$/, '')
  const ofParent = parentBase === undefined || parentBase in within ? {} : ({ [parentBase]: 'deleted' } as const)
  return Object.entries({ ...ofParent, ...within }).map(([path, said]): Naming => {
    const isParent = path === parentBase
    if (typeof said !== 'string') return namingOtherwise(said, path, isParent)
    const type = isParent ? parentType : (fields.get(`${path}.uuid`) ?? fields.get(path))?.reference?.type
    if (type === undefined) throw new Error(`${resourcePath}: "${path}" names no record.`)
    const keyPath = isParent && parent !== undefined ? parent : `${path}.uuid`
    const keys = (row: Row) => valuesAt(row, keyPath).filter((value) => typeof value === 'string' && value !== '')
    const letGo = (row: Row, key: string) => withoutValue(row, keyPath, key)
    return { path, type, fate: said, isParent, keys: keys as Naming['keys'], letGo }
  })
}

function expand(path: string, declared: FieldDeclaration): Field[] {
  const label = declared.label ?? labelOf(path)
  const common = {
    doc: declared.doc,
    set: declared.set ?? 'never',
    isRequired: declared.required ?? false,
    since: declared.since,
    isExpensive: declared.isExpensive ?? false,
    shownOnce: declared.shownOnce ?? false,
    isClearable: declared.isClearable ?? false,
    isInput: declared.isInput ?? false,
    when: declared.when,
    danger: declared.danger,
    noneName: declared.noneName,
  } as const
  if (declared.ref !== undefined) {
    const ref = declared.ref as TypeName
    return [
      {
        ...common,
        path: `${path}.name`,
        label: declared.label ?? labelOf(`${path}.name`),
        doc: partOf(declared.doc, 'name'),
        kind: text({ charactersMax: 255 }),
        default: declared.default,
        reference: { type: ref, base: path, part: 'name' },
      },
      {
        ...common,
        path: `${path}.uuid`,
        label: labelOf(`${path}.uuid`),
        doc: partOf(declared.doc, 'UUID'),
        kind: uuid(),
        isRequired: false,
        default: undefined,
        reference: { type: ref, base: path, part: 'uuid' },
      },
    ]
  }
  if (declared.refs !== undefined) {
    const shown = Object.entries(declared.refsShow ?? {}).map(([word, member]) => [word, { ...member, readOnly: true }])
    const one = oneOfType(declared.refs)
    const kind = each({
      name: { kind: name({ charactersMax: 255 }), doc: `The name of the ${one}.` },
      uuid: { kind: uuid(), doc: `The UUID of the ${one}.` },
      ...(Object.fromEntries(shown) as Readonly<Record<string, Member>>),
    })
    return [
      {
        ...common,
        path,
        label,
        kind,
        default: declared.default,
        reference: { type: declared.refs as TypeName, base: path, part: 'list' },
      },
    ]
  }
  return [{ ...common, path, label, kind: declared.kind ?? text(), default: declared.default, reference: undefined }]
}

/** `The SVM of the volume.` becomes `The name of the SVM of the volume.` */
function partOf(doc: string, part: string): string {
  return /^(The|An?) /.test(doc)
    ? `The ${part} of ${doc.charAt(0).toLowerCase()}${doc.slice(1)}`
    : `The ${part}. ${doc}`
}

/** What one of a type is called: `aggregate`, `snapshot policy`. */
function oneOfType(type: string): string {
  const [last = type] = type.split('/').slice(-1)
  return last.replace(/ies$/, 'y').replace(/s$/, '').replaceAll('-', ' ')
}

/** The declared spelling of a field's name: the command line writes `export-policy`, and some clients do so here. */
export function declaredName(resource: Pick<Resource, 'fields'>, given: string): string {
  return resource.fields.has(given) ? given : given.replaceAll('-', '_')
}

/** The field a dotted path means: the field itself, or a member of a list (`aggregates.name`, `copies.schedule.name`). */
export function fieldAt(resource: Resource, path: string): { field: Field; kind: Kind; member?: string } | undefined {
  const field = resource.fields.get(path)
  if (field !== undefined) return { field, kind: field.kind }
  for (const [base, member] of splits(path)) {
    const holder = resource.fields.get(base)
    const kind = member.split('.').reduce<Kind | undefined>((of, word) => of?.members?.[word]?.kind, holder?.kind)
    if (holder !== undefined && kind !== undefined) return { field: holder, kind, member }
  }
  return undefined
}

/** What tells rows apart and orders them where nothing else does: the name first, for people. */
export function identityPaths(resource: Resource): readonly string[] {
  const hasName = resource.fields.has('name') && !resource.key.includes('name')
  return [...(hasName ? ['name'] : []), ...resource.key]
}

/** The key of a row's record in the catalog. */
export function recordKey(resource: Resource, row: Row): string {
  return resource.recordKey.map((path) => textOf(row[path] ?? '')).join('/')
}

const placing = new WeakMap<Resource, ReadonlySet<string>>()

/** What a row is found, named and ordered by where nobody says otherwise. */
export function placingPaths(resource: Resource): ReadonlySet<string> {
  const known = placing.get(resource)
  if (known !== undefined) return known
  const { parent, pathKeys, order } = resource
  const made = new Set([
    ...identityPaths(resource),
    ...resource.recordKey,
    ...pathKeys,
    ...(parent === undefined ? [] : [parent]),
    ...order.map(({ path }) => path),
  ])
  placing.set(resource, made)
  return made
}

/** A key of a row as it stands in its path: a time is not the number it is kept as. */
export function printedKey(resource: Resource, key: string, row: Row): string {
  const value = row[key]
  if (value === undefined || value === null) return ''
  return textOf(resource.fields.get(key)?.kind.print(value) ?? value)
}
