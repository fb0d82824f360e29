/** What there is one of in a cluster, from the start: settings that have the defaults of their fields until they are set. */
import type { Fields, TypeName } from '../model/resource.ts'
import type { RecordType, RowOf, SomeType } from '../model/rows.ts'
import type { Row, Value } from '../model/value.ts'
import type { Acts } from './behaviour.ts'
import type { Cluster } from './cluster.ts'
import { sealSecrets } from './access/sealed.ts'
import { inline } from './verb.ts'

export interface SingletonOptions<Of extends Row = Row> {
  /** Looks at the changed settings before they are written; may complete them or refuse them. */
  check?(cluster: Cluster, row: Of): Promise<Row> | Row
  /** A body that changes the settings. */
  readonly example?: Readonly<Record<string, unknown>>
  /** Arguments that a change takes. */
  readonly args?: Fields
}

type SettingsActs = Required<Pick<Acts, 'rows' | 'modify'>>

export function singletonActs<Type extends RecordType>(
  type: Type,
  options?: SingletonOptions<RowOf<Type>>,
): SettingsActs
export function singletonActs(type: TypeName, options?: SingletonOptions): SettingsActs
export function singletonActs(of: SomeType, options: SingletonOptions = {}): SettingsActs {
  const type = of as TypeName
  return {
    rows: async (cluster) => [await settingsOf(cluster, type)],
    modify: inline({
      ...(options.example === undefined ? {} : { example: options.example }),
      ...(options.args === undefined ? {} : { args: options.args }),
      async plan(cluster, { row, draft }) {
        await options.check?.(cluster, { ...row, ...draft })
        return { key: '', input: sealSecrets(cluster, type, draft), locks: [{ lock: type, record: { type, key: '' } }] }
      },
      step: {
        name: 'write record',
        async run(cluster, { input }) {
          const changed: Row = { ...(await settingsOf(cluster, type)), ...input }
          const row = options.check === undefined ? changed : await options.check(cluster, changed)
          await cluster.commit([cluster.put(type, row)])
        },
      },
    }),
  }
}

export async function settingsOf<Type extends RecordType>(cluster: Cluster, type: Type): Promise<RowOf<Type>>
export async function settingsOf(cluster: Cluster, type: TypeName): Promise<Row>
export async function settingsOf(cluster: Cluster, type: SomeType): Promise<Row> {
  const defaults: Record<string, Value> = {}
  for (const field of cluster.registry.resource(type).fields.values()) {
    if (field.default !== undefined) defaults[field.path] = field.default
  }
  return { ...defaults, ...(await cluster.find(type, '')) }
}
