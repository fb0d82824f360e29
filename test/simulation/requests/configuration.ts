/**
 * Requests about lists within one record, and about records that must fit one another. What is added to a list has a name
 * that nothing else has and that nobody takes away: so whatever was answered well is there as long as the record is.
 */
import { asNumber, recordsOf, type Body } from '../../support/body.ts'
import { type Asked, type Deeds, keyOf, type Tools, VOLUMES } from './storage.ts'

const EXPORTS = '/api/protocols/nfs/export-policies'
const FILTERS = '/api/support/ems/filters'
const DESTINATIONS = '/api/support/ems/destinations'
const ROLES = '/api/security/roles'
const ACCOUNTS = '/api/security/accounts'
const GROUPS = '/api/application/consistency-groups'
const SUBNETS = '/api/network/ip/subnets'
const IPSPACES = '/api/network/ipspaces'
const DOMAINS = '/api/network/ethernet/broadcast-domains'
const PORTS = '/api/network/ethernet/ports'
const SCHEDULES = '/api/cluster/schedules'
const SNAPSHOT_POLICIES = '/api/storage/snapshot-policies'
const JOBS = '/api/cluster/jobs'

/** Something that was answered well. It tells what is wrong where it is gone though nobody took it away. */
export type Kept = (cluster: Asked) => Promise<string | undefined>

let added = 0
const another = () => `n${++added}`

/** How often a record with this name was deleted, or was to be: another of the name has other lists. */
const drops = new Map<string, number>()

async function drop({ ask }: Tools, record: string): Promise<void> {
  const note = () => drops.set(record, (drops.get(record) ?? 0) + 1)
  note()
  try {
    await ask('DELETE', record)
  } finally {
    note()
  }
}

/** Adds something to a list of a record, and looks for its word in there later. */
async function addTo(
  { ask }: Tools,
  record: string,
  list: string,
  body: object,
  word: string,
): Promise<Kept | undefined> {
  const before = drops.get(record)
  const { status } = await ask('POST', `${record}/${list}`, body)
  if (status >= 300) return undefined
  return async (cluster) => (drops.get(record) === before ? missingFrom(cluster, record, word) : undefined)
}

async function missingFrom(cluster: Asked, record: string, word: string): Promise<string | undefined> {
  const { status, body } = await cluster.call('GET', `${record}?fields=**`)
  return status === 404 || JSON.stringify(body).includes(`"${word}"`) ? undefined : `${word} is not in ${record}`
}

const uuidIn = async ({ some }: Tools, collection: string) => keyOf(await some(collection, 'uuid'))

const ownerOf = async ({ some }: Tools): Promise<string> => {
  const { owner } = (await some(ROLES, 'owner.uuid')) ?? {}
  return keyOf(owner)
}

export const CONFIGURATION_DEEDS: Deeds<string> = {
  'make export policy': ({ ask }, { name, other }) => ask('POST', EXPORTS, { name, svm: { name: other } }),
  'rename export policy': async ({ ask, some }, { name }) =>
    ask('PATCH', `${EXPORTS}/${await numberOf(some)}`, { name }),
  'drop export policy': async ({ ask, some }) => ask('DELETE', `${EXPORTS}/${await numberOf(some)}`),
  'use export policy': ({ on }, { name }) => on(VOLUMES, 'PATCH', { nas: { export_policy: { name } } }),
  'add export rule': async (tools) => {
    const match = `${another()}.example`
    const rule = { clients: [{ match }], ro_rule: ['any'], rw_rule: ['any'] }
    return addTo(tools, `${EXPORTS}/${await numberOf(tools.some)}`, 'rules', rule, match)
  },
  'add client': async (tools) => {
    const match = `${another()}.example`
    return addTo(tools, `${EXPORTS}/${await numberOf(tools.some)}`, 'rules/1/clients', { match }, match)
  },

  'make filter': ({ ask }, { name }) => ask('POST', FILTERS, { name }),
  'drop filter': (tools, { name }) => drop(tools, `${FILTERS}/${name}`),
  'add filter rule': (tools, { name }) => {
    const pattern = another()
    const rule = { type: 'include', message_criteria: { name_pattern: pattern } }
    return addTo(tools, `${FILTERS}/${name}`, 'rules', rule, pattern)
  },
  'make destination': ({ ask }, { name, other }) =>
    ask('POST', DESTINATIONS, { name, type: 'email', destination: 'a@example.com', filters: [{ name: other }] }),
  'change destination': ({ ask }, { name, other }) =>
    ask('PATCH', `${DESTINATIONS}/${name}`, { filters: [{ name: other }] }),
  'drop destination': ({ ask }, { name }) => ask('DELETE', `${DESTINATIONS}/${name}`),

  'make role': ({ ask }, { name }) =>
    ask('POST', ROLES, { name, privileges: [{ path: '/api/storage/volumes', access: 'readonly' }] }),
  'drop role': async (tools, { name }) => drop(tools, `${ROLES}/${await ownerOf(tools)}/${name}`),
  'add privilege': async (tools, { name, pick }) => {
    const path =
      ['/api/storage/aggregates', '/api/svm/svms', '/api/storage/qtrees', '/api/cluster/jobs'][pick % 4] ?? ''
    return addTo(tools, `${ROLES}/${await ownerOf(tools)}/${name}`, 'privileges', { path, access: 'readonly' }, path)
  },
  'make account': ({ ask }, { name, other }) =>
    ask('POST', ACCOUNTS, { name, password: 'a password for tests', role: { name: other } }),
  'change account': async (tools, { name, other }) =>
    tools.ask('PATCH', `${ACCOUNTS}/${await ownerOf(tools)}/${name}`, { role: { name: other } }),
  'drop account': async (tools, { name }) => tools.ask('DELETE', `${ACCOUNTS}/${await ownerOf(tools)}/${name}`),

  'make group': ({ ask }, { name, other }) =>
    ask('POST', GROUPS, {
      name: `group-${name}`,
      svm: { name: other },
      volumes: [{ name, provisioning_options: { action: 'add' } }],
    }),
  'grow group': ({ on }, { name }) =>
    on(GROUPS, 'PATCH', { volumes: [{ name, provisioning_options: { action: 'add' } }] }),
  'shrink group': ({ on }, { name }) =>
    on(GROUPS, 'PATCH', { volumes: [{ name, provisioning_options: { action: 'remove' } }] }),
  'drop group': ({ on }) => on(GROUPS, 'DELETE'),
  'make group snapshot': ({ on }, { name }) => on(GROUPS, 'POST', { name }, '/snapshots'),

  'make subnet': ({ ask }, { name, pick }) =>
    ask('POST', SUBNETS, {
      name,
      broadcast_domain: { name: 'Default' },
      subnet: { address: `10.${pick % 3}.0.0`, netmask: '16' },
    }),
  'drop subnet': ({ on }) => on(SUBNETS, 'DELETE'),
  'make ipspace': ({ ask }, { name }) => ask('POST', IPSPACES, { name }),
  'drop ipspace': ({ on }) => on(IPSPACES, 'DELETE'),
  'make domain': ({ ask }, { name, other }) => ask('POST', DOMAINS, { name, mtu: 1500, ipspace: { name: other } }),
  'drop domain': ({ on }) => on(DOMAINS, 'DELETE'),
  'put port': ({ on }, { name, other }) => on(PORTS, 'PATCH', { broadcast_domain: { name, ipspace: { name: other } } }),

  'make schedule': ({ ask }, { name }) => ask('POST', SCHEDULES, { name, cron: { minutes: [5] } }),
  'drop schedule': ({ on }) => on(SCHEDULES, 'DELETE'),
  'make snapshot policy': ({ ask }, { name, other }) =>
    ask('POST', SNAPSHOT_POLICIES, { name, copies: [{ schedule: { name: other }, count: 2 }] }),
  'drop snapshot policy': ({ on }) => on(SNAPSHOT_POLICIES, 'DELETE'),
  'use snapshot policy': ({ on }, { name }) => on(VOLUMES, 'PATCH', { snapshot_policy: { name } }),
  'add policy schedule': async (tools, { name }) =>
    tools.ask('POST', `${SNAPSHOT_POLICIES}/${await uuidIn(tools, SNAPSHOT_POLICIES)}/schedules`, {
      schedule: { name },
      count: 3,
    }),

  'make s3 group': ({ inSvm }, { name, other }) => inSvm('POST', '/groups', { name, users: [{ name: other }] }),
  'drop s3 group': async ({ inSvm }, { pick }) => inSvm('DELETE', `/groups/${pick % 4}`),

  'restore volume': ({ on }, { name }) => on(VOLUMES, 'PATCH', undefined, `?restore_to.snapshot.name=${name}`),

  'cancel job': (tools, { pick }) => order(tools, 'cancel', pick),
  'pause job': (tools, { pick }) => order(tools, 'pause', pick),
  'resume job': (tools, { pick }) => order(tools, 'resume', pick),
}

async function numberOf(some: Tools['some']): Promise<string> {
  const policy = await some(EXPORTS, 'id')
  return policy === undefined ? '0' : String(asNumber(policy['id']))
}

async function order({ ask }: Tools, action: string, pick: number): Promise<void> {
  const { body } = await ask('GET', `${JOBS}?state=queued|running|paused&fields=uuid`)
  const jobs: readonly Body[] = recordsOf(body)
  const job = jobs[pick % Math.max(1, jobs.length)]
  if (job !== undefined) await ask('PATCH', `${JOBS}/${keyOf(job)}?action=${action}`)
}

/** Has every job go on that was told to pause. */
export async function resumeAll(cluster: Asked): Promise<void> {
  const { body } = await cluster.call('GET', `${JOBS}?state=queued|running|paused|pausing&fields=uuid`)
  for (const job of recordsOf(body)) await cluster.call('PATCH', `${JOBS}/${keyOf(job)}?action=resume`)
}
