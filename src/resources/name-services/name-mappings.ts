import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { plainVerbs } from '../../core/plain.ts'
import { failures } from '../../model/failure.ts'
import { count, oneOf, text } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { type Row, textAt } from '../../model/value.ts'

export const NAME_MAPPINGS = 'name-services/name-mappings'

/** Mappings of an SVM in one direction: the documented limit of the field. */
const MAPPINGS_MAX = 1024
const INDEX_MAX = 2 ** 31 - 1

/** What clients of the interface know these failures by. */
const codes = { tooMany: 65798173, pattern: 65798185 } as const

const words = () => text({ charactersMin: 1, charactersMax: 256 })

const nameMappingsResource = resource({
  path: `/${NAME_MAPPINGS}`,
  noun: 'name mapping',
  doc: 'Who a user of Windows or Kerberos is to UNIX, and the other way round. They are records: no files are served yet.',
  key: ['svm.uuid', 'direction', 'index'],
  recordKey: ['svm.uuid', 'direction', 'index'],
  parent: 'svm.uuid',
  nameWithin: false,
  order: [
    { path: 'svm.uuid', isDescending: false },
    { path: 'direction', isDescending: false },
    { path: 'index', isDescending: false },
  ],
  fields: {
    svm: { doc: 'The SVM that maps names so.', ref: 'svm/svms', set: 'create', required: true },
    direction: {
      doc: 'From where to where: `win_unix`, `unix_win`, or `krb_unix`.',
      kind: oneOf('win_unix', 'unix_win', 'krb_unix'),
      set: 'create',
      required: true,
    },
    index: {
      doc: 'Its place among those of its direction: the first whose pattern fits holds.',
      kind: count({ min: 1, max: INDEX_MAX }),
      set: 'create',
      required: true,
    },
    pattern: { doc: 'Whom it is about: a regular expression.', kind: words(), set: 'always', required: true },
    replacement: { doc: 'Who that is on the other side.', kind: words(), set: 'always', required: true },
    client_match: {
      doc: 'For which clients it holds: a host, an address or a network. Without it, for all.',
      kind: text({ charactersMax: 256 }),
      set: 'always',
    },
  },
})

export const nameMappings: Behaviour<typeof nameMappingsResource> = define(
  nameMappingsResource,
  plainVerbs(NAME_MAPPINGS, {
    example: { 'svm.name': 'svm1', direction: 'win_unix', index: 1, pattern: 'EXAMPLE\\\\(.+)', replacement: '\\1' },
    check: checkMapping,
  }),
)

async function checkMapping(cluster: Cluster, row: Row): Promise<Row> {
  const same = (await cluster.rows(NAME_MAPPINGS, textAt(row, 'svm.uuid'))).filter(
    (other) => other['direction'] === row['direction'] && other['index'] !== row['index'],
  )
  if (same.length >= MAPPINGS_MAX) {
    throw failures.invalid(undefined, `The SVM has ${MAPPINGS_MAX} of them, which is the limit.`, codes.tooMany)
  }
  if (same.some((other) => other['pattern'] === row['pattern'] && other['client_match'] === row['client_match'])) {
    throw failures.invalid('pattern', 'Another mapping of that direction has this pattern.', codes.pattern)
  }
  return row
}
