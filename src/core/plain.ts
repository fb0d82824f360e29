/** The verbs of a plain resource: a record with a uuid and perhaps a unique name, and nothing behind it. */
import { failure } from '../model/failure.ts'
import { recordKey, type TypeName } from '../model/resource.ts'
import type { Declared, NewOf, RowOf, SomeType } from '../model/rows.ts'
import type { Row } from '../model/value.ts'
import type { Change } from '../ports/catalog.ts'
import { type Belonging, belongingChanges } from './belongings.ts'
import type { Cluster } from './cluster.ts'
import type { Acts } from './behaviour.ts'
import type { Held } from './grounds.ts'
import { inline, uuidOfNew, type Verb } from './verb.ts'
import { commitUnused, type InUse } from './within.ts'

export interface PlainOptions<Of extends Row = Row, New extends Row = Row> {
  /** Looks at a new or changed row before it is written; may complete it or refuse it. `before`: as it was, if it was. */
  check?(cluster: Cluster, row: New, before?: Of): Promise<Row> | Row
  /** What the check of a change rests on, beside the record itself. */
  restsOn?(key: string): readonly Held[]
  /** What is committed with a row that was checked. */
  goesWithRow?(row: New, before?: Of): readonly Change[]
  /** Why it cannot go while a record names it that blocks this. Without it, what lives under it is named. */
  readonly inUse?: InUse
  /** A body that creates one. */
  readonly example?: Readonly<Record<string, unknown>>
  /** A body that changes one, where that of `example` has nothing that can be changed. */
  readonly exampleChange?: Readonly<Record<string, unknown>>
  /** What goes with its record, by the key of that. */
  goesWith?(key: string, row: Of): readonly Change[]
  /** Values that no other record may have, beside its name: by scope. */
  unique?(row: New): Readonly<Record<string, string>>
}

type OptionsOf<Type extends Declared> = PlainOptions<RowOf<Type>, NewOf<Type>>
type PlainActs = Required<Pick<Acts, 'create' | 'modify' | 'remove'>>

export function plainVerbs<Type extends Declared>(type: Type, options?: OptionsOf<Type>): PlainActs
export function plainVerbs(type: TypeName, options?: PlainOptions): PlainActs
export function plainVerbs(of: SomeType, options: PlainOptions = {}): PlainActs {
  const type = of as TypeName
  return { create: plainCreate(type, options), modify: plainModify(type, options), remove: plainRemove(type, options) }
}

export function plainCreate<Type extends Declared>(type: Type, options?: OptionsOf<Type>): Verb
export function plainCreate(type: TypeName, options?: PlainOptions): Verb
export function plainCreate(type: SomeType, options: PlainOptions = {}): Verb {
  return inline({
    ...(options.example === undefined ? {} : { example: options.example }),
    async plan(cluster, request) {
      const resource = cluster.registry.resource(type)
      const fresh = resource.fields.has('uuid') ? { uuid: uuidOfNew(cluster, request.draft) } : {}
      const draft: Row = { ...request.draft, ...fresh }
      const row = options.check === undefined ? draft : await options.check(cluster, draft)
      const key = recordKey(resource, row)
      if ((await cluster.find(type, key)) !== undefined) {
        const named = resource.recordKey.at(-1) ?? 'name'
        throw failure('recordNameTaken', { noun: resource.noun, field: named === 'uuid' ? 'name' : named })
      }
      return { key, input: row }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        await cluster.commit([
          ...(options.goesWithRow?.(input) ?? []),
          cluster.put(type as TypeName, input, { expect: 'absent', unique: options.unique?.(input) ?? {} }),
        ])
      },
    },
  })
}

export function plainModify<Type extends Declared>(type: Type, options?: OptionsOf<Type>): Verb
export function plainModify(type: TypeName, options?: PlainOptions): Verb
export function plainModify(type: SomeType, options: PlainOptions = {}): Verb {
  return inline({
    ...(options.exampleChange === undefined ? {} : { example: options.exampleChange }),
    async plan(cluster, request) {
      await options.check?.(cluster, { ...request.row, ...request.draft }, request.row)
      const key = recordKey(cluster.registry.resource(type), request.row ?? {})
      return { key, input: { ...request.draft }, locks: [`${type}:${key}`, ...(options.restsOn?.(key) ?? [])] }
    },
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        // As it is now, not as it was before the lock was given: other fields may have changed meanwhile.
        const record = await cluster.catalog.record(type, key)
        if (record === undefined) throw failure('recordNotFound', { noun: cluster.registry.resource(type).noun })
        const before = record.body as Row
        const changed: Row = { ...before, ...input }
        const row = options.check === undefined ? changed : await options.check(cluster, changed, before)
        await cluster.commit([
          ...(options.goesWithRow?.(row, before) ?? []),
          cluster.put(type as TypeName, row, { expect: record.revision, unique: options.unique?.(row) ?? {} }),
        ])
      },
    },
  })
}

export function plainRemove<Type extends Declared>(type: Type, options?: OptionsOf<Type>): Verb
export function plainRemove(type: TypeName, options?: PlainOptions): Verb
export function plainRemove(type: SomeType, options: PlainOptions = {}): Verb {
  return inline({
    plan(cluster, request) {
      const key = recordKey(cluster.registry.resource(type), request.row ?? {})
      return Promise.resolve({ key, input: {}, locks: [`${type}:${key}`] })
    },
    step: {
      name: 'remove record',
      async run(cluster, { key }) {
        const row = (await cluster.find(type, key)) ?? {}
        await removeRecord(cluster, type, key, { ...options, goesWith: () => options.goesWith?.(key, row) ?? [] })
      },
    },
  })
}

/** Removes a record with all that is deleted with it, whenever nothing blocks it. */
export async function removeRecord(
  cluster: Cluster,
  type: string,
  key: string,
  how: Belonging & { readonly inUse?: InUse; readonly goesWith?: () => readonly Change[] } = {},
): Promise<void> {
  const { inUse = stillHas, goesWith } = how
  await commitUnused(cluster, type, key, {
    inUse,
    changes: async () => [
      ...(await belongingChanges(cluster, type, key, how)),
      { do: 'remove-record', type, key },
      ...(goesWith?.() ?? []),
    ],
  })
}

const stillHas: InUse = ({ resource }) => failure('childrenRemain', { noun: resource.noun })
