import { type Behaviour, define } from '../../core/behaviour.ts'
import { plainCreate, removeRecord } from '../../core/plain.ts'
import { inline } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import { name, uuid } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { IPSPACES, NETWORK_LOCK } from './names.ts'

/** The documented limit of the field. */
const IPSPACES_MAX = 512

const ipspacesResource = resource({
  path: '/network/ipspaces',
  noun: 'IPspace',
  doc: 'IPspaces separate networks with overlapping addresses. The IPspace `Default` is built in.',
  key: ['uuid'],
  form: { IPspace: ['name'] },
  removal: 'undoable',
  fields: {
    uuid: { doc: 'The UUID of the IPspace.', kind: uuid() },
    name: { doc: 'The name of the IPspace.', kind: name({ charactersMax: 32 }), set: 'always', required: true },
  },
})

export const ipspaces: Behaviour<typeof ipspacesResource> = define(ipspacesResource, {
  create: plainCreate(IPSPACES, {
    example: { name: 'tenants' },
    async check(cluster, row) {
      if ((await cluster.rows(IPSPACES)).length >= IPSPACES_MAX) {
        throw failure('clusterLimitReached', { max: IPSPACES_MAX, things: 'IPspaces' })
      }
      return row
    },
  }),
  modify: inline({
    plan: (_cluster, { row, draft }) =>
      Promise.resolve({ key: row['uuid'], input: { ...draft }, locks: [NETWORK_LOCK] }),
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        const row = await cluster.row(IPSPACES, key)
        if (row['$isBuiltIn'] === true && (input['name'] ?? '') !== row['name']) {
          throw failure('builtInIpspaceRename')
        }
        await cluster.commit([cluster.put(IPSPACES, { ...row, ...input })])
      },
    },
  }),
  remove: inline({
    plan: (_cluster, { row }) => Promise.resolve({ key: row['uuid'], input: {}, locks: [NETWORK_LOCK] }),
    step: {
      name: 'remove record',
      async run(cluster, { key }) {
        const row = await cluster.row(IPSPACES, key)
        if (row['$isBuiltIn'] === true) {
          throw failure('builtInIpspaceDelete')
        }
        await removeRecord(cluster, IPSPACES, key, {
          inUse: ({ resource, name }) => failure('ipspaceInUse', { noun: resource.noun, name }),
        })
      },
    },
  }),
})
