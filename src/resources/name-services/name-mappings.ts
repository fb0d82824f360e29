import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { plainVerbs } from '../../core/plain.ts'
import { failure } from '../../model/failure.ts'
import { count, oneOf, text } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import type { NewOf } from '../../model/rows.ts'

export const NAME_MAPPINGS = 'name-services/name-mappings'

/** Mappings of an SVM in one direction: the documented limit of the field. */
const MAPPINGS_MAX = 1024
const INDEX_MAX = 2 ** 31 - 1

const words = () => text({ charactersMin: 1, charactersMax: 256 })

const nameMappingsResource = resource({
  path: `/${NAME_MAPPINGS}`,
  noun: 'name mapping',
  doc: 'Name mappings between Windows, Kerberos and UNIX users. Stored without effect: files are not served yet.',
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
    svm: { doc: 'The SVM of the name mapping.', ref: 'svm/svms', set: 'create', required: true },
    direction: {
      doc: 'The direction of the mapping.',
      kind: oneOf({
        win_unix: 'From Windows to UNIX.',
        unix_win: 'From UNIX to Windows.',
        krb_unix: 'From Kerberos to UNIX.',
      }),
      set: 'create',
      required: true,
    },
    index: {
      doc: 'The index of the mapping in its direction. The first mapping whose pattern matches is used.',
      kind: count({ min: 1, max: INDEX_MAX }),
      set: 'create',
      required: true,
    },
    pattern: { doc: 'The regular expression that the name must match.', kind: words(), set: 'always', required: true },
    replacement: { doc: 'The name that replaces the matched name.', kind: words(), set: 'always', required: true },
    client_match: {
      doc: 'The host, address or network that the mapping is limited to. Default: all clients.',
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

async function checkMapping(cluster: Cluster, row: NewOf<typeof NAME_MAPPINGS>): Promise<NewOf<typeof NAME_MAPPINGS>> {
  const same = (await cluster.rows(NAME_MAPPINGS, row['svm.uuid'])).filter(
    (other) => other['direction'] === row['direction'] && other['index'] !== row['index'],
  )
  if (same.length >= MAPPINGS_MAX) {
    throw failure('nameMappingLimit', { max: MAPPINGS_MAX })
  }
  if (same.some((other) => other['pattern'] === row['pattern'] && other['client_match'] === row['client_match'])) {
    throw failure('nameMappingPatternTaken')
  }
  return row
}
