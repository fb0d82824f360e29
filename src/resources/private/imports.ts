/**
 * `POST /api/private/imports`: brings a running cluster to what a seed file says, as a start with it would. The answer comes
 * when all is done; of a file that fails half way, what stood before the mistake is there, and the same call goes on.
 */
import { type Behaviour, define } from '../../core/behaviour.ts'
import { SEED_BYTES_MAX, SeedError } from '../../core/seed/document.ts'
import { inline } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import { count, each, secret, text, uuid } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { type Row, textOf, type Value } from '../../model/value.ts'

/** One after the other: the second finds what the first has made. */
const IMPORTS_LOCK = 'imports'

/** What is told of those that are under way, by the key of their answer. */
const told = new Map<string, Record<string, Value>>()

const importsResource = resource({
  path: '/private/imports',
  noun: 'import',
  doc: 'Imports apply a seed file to a running cluster: missing records are created, and different ones are changed. Importing a file again changes nothing. Only the role admin may import. Imports are not stored.',
  isContent: true,
  key: ['uuid'],
  nameWithin: false,
  fields: {
    uuid: { doc: 'The UUID of the import.', kind: uuid() },
    file: {
      doc: 'The name of the file, for messages.',
      kind: text({ charactersMin: 1, charactersMax: 1024 }),
      set: 'create',
      default: 'seed',
    },
    text: {
      doc: 'The content of the file: YAML, with the collections of this interface by their paths.',
      kind: secret({ charactersMin: 1, charactersMax: SEED_BYTES_MAX }),
      set: 'create',
      required: true,
    },
    made: { doc: 'The number of records that were created.', kind: count(), shownOnce: true },
    changed: { doc: 'The number of records that were changed.', kind: count(), shownOnce: true },
    same: { doc: 'The number of records that were already as in the file.', kind: count(), shownOnce: true },
    revealed: {
      doc: 'Secrets of created records that the file did not contain. Shown only once.',
      kind: each({
        record: { kind: text(), doc: 'The path of the record.' },
        field: { kind: text(), doc: 'The name of the field.' },
        value: { kind: text(), doc: 'The value of the field.' },
      }),
      shownOnce: true,
    },
  },
})

export const imports: Behaviour<typeof importsResource> = define(importsResource, {
  rows: () => Promise.resolve([]),
  create: inline({
    example: { file: 'lab.yaml', text: 'cluster:\n  location: Room 4\n' },
    alone: () => [IMPORTS_LOCK],
    plan(cluster, { caller, draft }) {
      // It acts as an administrator does, so nobody less may have it act.
      if (caller.role !== 'admin')
        throw failure('roleDenies', { role: caller.role, method: 'POST', path: '/api/private/imports' })
      const key = cluster.system.random.uuid()
      const reveal: Record<string, Value> = {}
      told.set(key, reveal)
      return Promise.resolve({ key, input: { file: draft['file'] ?? '', text: draft['text'] ?? '' }, reveal })
    },
    step: {
      name: 'seed',
      async run(cluster, { key, input }) {
        const reveal = told.get(key) ?? {}
        told.delete(key)
        try {
          const { made, changed, same, revealed } = await cluster.applySeed({
            name: input['file'],
            text: input['text'],
          })
          const shown = revealed.flatMap(({ title, fields }): Row[] =>
            Object.entries(fields).map(([field, value]) => ({ record: title, field, value: textOf(value) })),
          )
          Object.assign(reveal, { made, changed, same, ...(shown.length === 0 ? {} : { revealed: shown }) })
        } catch (cause) {
          if (!(cause instanceof SeedError)) throw cause
          throw failure('importRefused', { problem: cause.message })
        }
      },
    },
  }),
})
