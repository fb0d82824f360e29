import { define } from '../../core/behaviour.ts'
import { versionFields, versionOf } from '../cluster.ts'

export const clusterVersion = define(
  {
    path: '/cluster/version',
    noun: 'version',
    doc: 'The release that is served. Clients gate features on its numbers.',
    key: [],
    fields: versionFields,
  },
  { rows: (cluster) => Promise.resolve([versionOf(cluster)]) },
)
