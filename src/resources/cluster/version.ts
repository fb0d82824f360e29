import { type Behaviour, define } from '../../core/behaviour.ts'
import { resource } from '../../model/resource.ts'
import { versionFields, versionOf } from '../cluster.ts'

const clusterVersionResource = resource({
  path: '/cluster/version',
  noun: 'version',
  doc: 'The release that is served. Clients gate features on its numbers.',
  key: [],
  fields: versionFields,
})

export const clusterVersion: Behaviour<typeof clusterVersionResource> = define(clusterVersionResource, {
  rows: (cluster) => Promise.resolve([versionOf(cluster)]),
})
