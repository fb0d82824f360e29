import { type Behaviour, define } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { plainCreate } from '../../core/plain.ts'
import { inline } from '../../core/verb.ts'
import { failures } from '../../model/failure.ts'
import { name, uuid } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { type Row, textAt } from '../../model/value.ts'
import { BROADCAST_DOMAINS, IPSPACES, NETWORK_LOCK, ROUTES } from './names.ts'

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
        throw failures.invalid(undefined, `The cluster has ${IPSPACES_MAX} IPspaces, which is the limit.`)
      }
      return row
    },
  }),
  modify: inline({
    plan: (_cluster, { row, draft }) =>
      Promise.resolve({ key: textAt(row, 'uuid'), input: { ...draft }, locks: [NETWORK_LOCK] }),
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        const row = await cluster.row(IPSPACES, key)
        if (row['$isBuiltIn'] === true && textAt(input, 'name') !== row['name']) {
          throw failures.inUse('The cluster comes with this IPspace; it cannot be renamed.', 'name', 1377259)
        }
        await cluster.commit([cluster.put(IPSPACES, { ...row, ...input })])
      },
    },
  }),
  remove: inline({
    plan: (_cluster, { row }) => Promise.resolve({ key: textAt(row, 'uuid'), input: {}, locks: [NETWORK_LOCK] }),
    step: {
      name: 'remove record',
      async run(cluster, { key }) {
        const row = await cluster.row(IPSPACES, key)
        if (row['$isBuiltIn'] === true) {
          throw failures.inUse('The cluster comes with this IPspace; it cannot be deleted.', undefined, 1966333)
        }
        await insistOnUnused(cluster, key)
        await cluster.commit([
          { do: 'check-childless', type: BROADCAST_DOMAINS, parent: key },
          { do: 'remove-record', type: IPSPACES, key },
        ])
      },
    },
  }),
})

async function insistOnUnused(cluster: Cluster, key: string): Promise<void> {
  for (const [type, noun] of HELD) {
    const user = (await cluster.rows(type)).find((row) => row['ipspace.uuid'] === key)
    if (user === undefined) continue
    throw failures.inUse(
      `The IPspace has the ${noun} "${textAt<Row>(user, 'name')}". Delete that first.`,
      undefined,
      1969180,
    )
  }
}

const HELD = [
  ['svm/svms', 'SVM'],
  [BROADCAST_DOMAINS, 'broadcast domain'],
  [ROUTES, 'route'],
] as const
