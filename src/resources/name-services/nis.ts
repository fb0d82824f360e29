import { type Behaviour, define } from '../../core/behaviour.ts'
import { plainVerbs } from '../../core/plain.ts'
import { list, text } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'

export const NIS = 'name-services/nis'

const SERVERS_MAX = 10

const nisResource = resource({
  path: `/${NIS}`,
  noun: 'NIS configuration',
  doc: 'NIS configurations of SVMs. Stored without effect: NIS servers are not queried.',
  key: ['svm.uuid'],
  recordKey: ['svm.uuid'],
  parent: 'svm.uuid',
  nameWithin: false,
  fields: {
    svm: { doc: 'The SVM of the NIS configuration.', ref: 'svm/svms', set: 'create', required: true },
    domain: {
      doc: 'The NIS domain.',
      kind: text({ charactersMin: 1, charactersMax: 64 }),
      set: 'always',
      required: true,
    },
    servers: {
      doc: 'The servers of the domain, by name or address.',
      kind: list(text({ charactersMin: 1, charactersMax: 255 }), { elementsMax: SERVERS_MAX }),
      set: 'always',
      required: true,
    },
    bound_servers: { doc: 'The servers that respond. Always empty: servers are not queried.', kind: list(text()) },
  },
})

export const nis: Behaviour<typeof nisResource> = define(nisResource, {
  derive: [
    { gives: ['bound_servers'], from: (_cluster, rows) => Promise.resolve(rows.map(() => ({ bound_servers: [] }))) },
  ],
  ...plainVerbs(NIS, { example: { 'svm.name': 'svm1', domain: 'example', servers: ['192.0.2.53'] } }),
})
