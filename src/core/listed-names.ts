/**
 * Names that a record has in a list, as a resource of their own: the users of a group. Each is a record of the path of its
 * holder, is added by a POST and taken away by a DELETE.
 */
import { failure } from '../model/failure.ts'
import type { TypeName } from '../model/resource.ts'
import type { SomeType } from '../model/rows.ts'
import { type Row, textOf, type Value } from '../model/value.ts'
import type { Acts } from './behaviour.ts'
import type { Cluster } from './cluster.ts'
import { inline, type Verb, type VerbRequest } from './verb.ts'

export interface ListedNames {
  /** The type of the records that have the list. */
  readonly type: SomeType
  /** The field that is the list, of elements with a name. */
  readonly list: string
  /** The keys of the path, in the order of the key of the holder's record: `svm.uuid` is the first. */
  readonly pathKeys: readonly string[]
  readonly noun: string
  /** How many one list has at most. */
  readonly max: number
  /** Looks at a name before it is added. */
  readonly check?: (cluster: Cluster, holder: Row, name: string) => Promise<void>
  readonly example: Readonly<Record<string, unknown>>
}

export function listedNames(about: ListedNames): Required<Pick<Acts, 'rows' | 'create' | 'remove'>> {
  const keyOf = (path: Readonly<Record<string, string>>) => about.pathKeys.map((key) => path[key] ?? '').join('/')
  const namesOf = (holder: Row) => ((holder[about.list] ?? []) as readonly Row[]).map((one) => textOf(one['name']))
  const holderAt = (cluster: Cluster, path: Readonly<Record<string, string>>) => cluster.row(about.type, keyOf(path))

  /** Nobody else changes the list between plan and step. */
  function changing(example: Readonly<Record<string, unknown>>, change: Change): Verb {
    return inline({
      example,
      alone: ({ path }) => [{ lock: `${about.type}:${keyOf(path)}`, record: { type: about.type, key: keyOf(path) } }],
      async plan(cluster, request) {
        const holder = await holderAt(cluster, request.path)
        const { name, names } = await change(cluster, request, holder, namesOf(holder))
        return { key: name, input: { holder: keyOf(request.path), names } }
      },
      step: {
        name: 'write record',
        async run(cluster, { input }) {
          const record = await cluster.catalog.record(about.type, input['holder'])
          if (record === undefined)
            throw failure('recordNotFound', { noun: cluster.registry.resource(about.type).noun })
          const list: Value = input['names'].map((name) => ({ name }))
          const row: Row = { ...(record.body as Row), [about.list]: list }
          await cluster.commit([cluster.put(about.type as TypeName, row, { expect: record.revision })])
        },
      },
    })
  }

  return {
    async rows(cluster, path) {
      const holder = await holderAt(cluster, path)
      const of = about.pathKeys.map((key): [string, Value] => [key, path[key] ?? ''])
      return namesOf(holder).map((name) => Object.fromEntries([...of, ['name', name]]))
    },
    create: changing(about.example, async (cluster, { draft }, holder, names) => {
      const name = textOf(draft['name'])
      if (names.includes(name)) throw failure('namedRecordTaken', { noun: about.noun, name })
      if (names.length >= about.max) {
        throw failure('listLimitReached', { max: about.max })
      }
      await about.check?.(cluster, holder, name)
      return { name, names: [...names, name] }
    }),
    remove: changing({}, (_cluster, { row = {} }, _holder, names) => {
      const name = textOf(row['name'])
      return Promise.resolve({ name, names: names.filter((one) => one !== name) })
    }),
  }
}

type Change = (
  cluster: Cluster,
  request: VerbRequest,
  holder: Row,
  names: readonly string[],
) => Promise<{ readonly name: string; readonly names: readonly string[] }>
