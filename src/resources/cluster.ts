import { define } from '../core/behaviour.ts'
import type { Cluster } from '../core/cluster.ts'
import { plainModify } from '../core/plain.ts'
import { count, name, oneOf, text, uuid } from '../model/kinds/index.ts'
import { printRelease } from '../model/release.ts'
import type { Row } from '../model/value.ts'

export const versionFields = {
  'version.full': { doc: 'The product and its release, as one line.' },
  'version.generation': { doc: 'The first number of the release.', kind: count() },
  'version.major': { doc: 'The second number of the release.', kind: count() },
  'version.minor': { doc: 'The third number of the release.', kind: count() },
} as const

export function versionOf(cluster: Cluster): Row {
  const { generation, major, minor } = cluster.release
  return {
    'version.full': `Holdfast Release ${printRelease(cluster.release)}`,
    'version.generation': generation,
    'version.major': major,
    'version.minor': minor,
  }
}

export const cluster = define(
  {
    path: '/cluster',
    noun: 'cluster',
    doc: 'The cluster: its name, its release and its options.',
    key: [],
    nameWithin: false,
    fields: {
      name: { doc: 'The name of the cluster.', kind: name({ charactersMax: 44 }), set: 'modify' },
      uuid: { doc: 'The UUID of the cluster, made at the first start.', kind: uuid() },
      contact: { doc: 'Whom to ask about the cluster.', kind: text({ charactersMax: 255 }), set: 'modify' },
      location: { doc: 'Where the cluster is.', kind: text({ charactersMax: 255 }), set: 'modify' },
      ...versionFields,
      wire_dialect: {
        doc: 'How answers are spelled: `spec` to the letter of the specification, `native` as shipping tools expect, `auto` by the client.',
        kind: oneOf('auto', 'spec', 'native'),
        set: 'modify',
      },
    },
  },
  {
    derive: [
      {
        gives: Object.keys(versionFields),
        from: (cluster, rows) => Promise.resolve(rows.map(() => versionOf(cluster))),
      },
    ],
    modify: plainModify('cluster'),
  },
)
