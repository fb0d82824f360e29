import { type Behaviour, define } from '../../core/behaviour.ts'
import { each, text } from '../../model/kinds/index.ts'
import { printRelease } from '../../model/release.ts'
import { resource } from '../../model/resource.ts'

const clusterSoftwareResource = resource({
  path: '/cluster/software',
  noun: 'software of the cluster',
  doc: 'The release that the nodes run. Updates are installed with the product, so no update is ever under way.',
  key: [],
  nameWithin: false,
  fields: {
    version: { doc: 'The release that the cluster serves.' },
    nodes: {
      doc: 'The nodes of the cluster, with what they run.',
      kind: each({
        name: { kind: text(), doc: 'The name of the node.' },
        version: { kind: text(), doc: 'The release that the node serves.' },
      }),
    },
    status_details: {
      doc: 'Steps of the update that each node has done.',
      kind: each({
        name: { kind: text(), doc: 'Name of the update step.' },
        status: { kind: text(), doc: 'The result.' },
      }),
    },
    update_details: {
      doc: 'The phases of an update.',
      kind: each({
        phase: { kind: text(), doc: 'The name of the phase.' },
        status: { kind: text(), doc: 'The result.' },
      }),
    },
    validation_results: {
      doc: 'Results of the checks before an update.',
      kind: each({
        update_check: { kind: text(), doc: 'Name of the check before an update.' },
        status: { kind: text(), doc: 'The result.' },
      }),
    },
  },
})

export const clusterSoftware: Behaviour<typeof clusterSoftwareResource> = define(clusterSoftwareResource, {
  async rows(cluster) {
    const version = printRelease(cluster.release)
    const nodes = (await cluster.rows('cluster/nodes')).map(({ name = '' }) => ({ name, version }))
    return [{ version, nodes, status_details: [], update_details: [], validation_results: [] }]
  },
})
