/**
 * What a new cluster begins with: itself, a node, an aggregate on the data folder and the admin; and, unless it is to be
 * bare, a first SVM that serves objects at once. Every part looks first whether it is there, so an interrupted first
 * start goes on where it was; credentials that nobody has seen yet are made anew.
 */
import type { Behaviour } from '../core/behaviour.ts'
import type { Cluster } from '../core/cluster.ts'
import { failureOf } from '../core/jobs/jobs.ts'
import type { Actions } from '../core/perform.ts'
import type { Declared, DraftOf, RowOf } from '../model/rows.ts'
import { type Row, textOf } from '../model/value.ts'
import { addBuiltInNetwork } from './network/built-in.ts'
import { BUCKET_BYTES_MAX } from './protocols/s3/bucket-fields.ts'
import { USERS } from './protocols/s3/services/users.ts'
import { firstAccount } from './security/accounts.ts'
import { builtIns } from './storage/snapshot-policies/built-in.ts'
import { addBuiltInEfficiency } from './storage/volume-efficiency-policies/built-in.ts'
import { addBuiltInEvents } from './support/ems/filters.ts'

export interface FirstStart {
  readonly adminPassword: string
  readonly accessKey: string | undefined
  readonly secretKey: string | undefined
  readonly isBare: boolean
  /** The folder of the first aggregate. */
  readonly aggregateFolder: string
  /** The address of the first SVM's data interface. */
  readonly dataAddress: string
}

export interface FirstCredentials {
  readonly accessKey: string
  readonly secretKey: string
}

const CALLER = { user: 'admin', role: 'admin', from: 'first start' }
const GB = 2 ** 30
/** Names below localhost lead to this machine, so that addresses of virtual hosts work without a name server. */
const FIRST_SERVER = 's3.localhost'

export async function isFirstStart(cluster: Cluster): Promise<boolean> {
  return (await cluster.rows('cluster'))[0]?.['$started'] !== true
}

/**
 * Makes what a new cluster begins with, and what `seed` adds to it: when that fails, the next start is the first again.
 * Gives the keys of the first user, unless bare.
 */
export async function firstStart(
  actions: Actions,
  wanted: FirstStart,
  seed: () => Promise<void> = () => Promise.resolve(),
): Promise<FirstCredentials | undefined> {
  const { cluster } = actions
  const self = await makeCluster(cluster, wanted)
  const credentials = wanted.isBare ? undefined : await makeFirstSvm(actions, wanted)
  await seed()
  const seeded = (await cluster.rows('cluster'))[0] ?? self
  await cluster.commit([cluster.put('cluster', { ...seeded, $started: true })])
  return credentials
}

async function makeCluster(cluster: Cluster, wanted: FirstStart): Promise<RowOf<'cluster'>> {
  const [known] = await cluster.rows('cluster')
  const uuid = () => cluster.system.random.uuid()
  const self: RowOf<'cluster'> = known ?? {
    uuid: uuid(),
    name: 'holdfast',
    wire_dialect: 'auto',
    location: '',
    contact: '',
  }
  const admin = await firstAccount(cluster, self['uuid'], wanted.adminPassword)
  const now = cluster.now()
  const fresh =
    known === undefined
      ? [
          cluster.put('cluster', self, { expect: 'absent' }),
          cluster.put('cluster/nodes', {
            uuid: uuid(),
            name: 'node1',
            state: 'up',
            membership: 'member',
            model: 'Holdfast',
          }),
          cluster.put('storage/aggregates', {
            uuid: uuid(),
            name: 'aggr1',
            state: 'online',
            create_time: now,
            $folder: wanted.aggregateFolder,
            $claimed: true,
            $isBuiltIn: true,
          }),
          ...builtIns(cluster),
        ]
      : []
  await cluster.commit([...fresh, cluster.put('security/accounts', admin)])
  // After the record, which says for whom: a start that is interrupted in between claims it again.
  for (const row of await cluster.rows('storage/aggregates')) {
    if (row['$isBuiltIn'] === true) await cluster.engineOf(row).claim(row['uuid'], [])
  }
  await addBuiltInEfficiency(cluster)
  await addBuiltIns(cluster)
  return self
}

/** What a new cluster comes with beside; and one from before there was any of it. */
export async function addBuiltIns(cluster: Cluster): Promise<void> {
  await addBuiltInNetwork(cluster)
  await addBuiltInEvents(cluster)
}

async function makeFirstSvm(actions: Actions, wanted: FirstStart): Promise<FirstCredentials> {
  const { cluster } = actions
  const [aggregate] = await cluster.rows('storage/aggregates')
  // Drivers look for the aggregates of an SVM, and make volumes in no others.
  const aggregates = [{ uuid: aggregate?.['uuid'] ?? '' }]
  const svm = await ensure(actions, 'svm/svms', { name: 'svm1', aggregates })
  const inSvm = { 'svm.uuid': svm }
  await ensure(actions, 'network/ip/interfaces', {
    ...inSvm,
    name: 'svm1_data1',
    'ip.address': wanted.dataAddress,
    'ip.netmask': '8',
  })
  const thin = { ...inSvm, 'guarantee.type': 'none', 'snapshot_policy.name': 'default' } as const
  const root = await ensure(actions, 'storage/volumes', { ...thin, name: 'svm1_s3_root', size: GB })
  // As large as a bucket can be, and thin: it takes from the disk what is written.
  const data = await ensure(actions, 'storage/volumes', { ...thin, name: 'vol1', size: BUCKET_BYTES_MAX })
  await ensure(actions, 'protocols/s3/services', {
    ...inSvm,
    name: FIRST_SERVER,
    'root_volume.uuid': root,
    data_volumes: [{ uuid: data }],
    enabled: true,
  })
  const users = cluster.behaviour(USERS)
  const left = await cluster.find(USERS, `${svm}/demo`)
  if (left !== undefined) await perform(actions, users, 'remove', { row: left, path: inSvm, draft: {} })
  const made = await perform(actions, users, 'create', {
    path: inSvm,
    draft: {
      name: 'demo',
      comment: `The first user, with access to everything on the server ${FIRST_SERVER}.`,
      ...(wanted.accessKey === undefined || wanted.secretKey === undefined
        ? {}
        : { access_key: wanted.accessKey, secret_key: wanted.secretKey }),
    },
  })
  const groups = 'protocols/s3/services/{svm.uuid}/groups'
  if ((await cluster.keyOfName(groups, 'demo', svm)) === undefined) {
    await perform(actions, cluster.behaviour(groups), 'create', {
      path: inSvm,
      draft: { name: 'demo', users: [{ name: 'demo' }], policies: [{ name: 'FullAccess' }] },
    })
  }
  return { accessKey: textOf(made.reveal['access_key']), secretKey: textOf(made.reveal['secret_key']) }
}

/** The key of the record with the draft's name, made when it is not there. */
async function ensure<Type extends Declared>(
  actions: Actions,
  type: Type,
  draft: DraftOf<Type> & { readonly name: string; readonly 'svm.uuid'?: string },
): Promise<string> {
  const { cluster } = actions
  const { name, 'svm.uuid': within = '' } = draft
  const known = await cluster.keyOfName(type, name, within)
  return known ?? (await perform(actions, cluster.behaviour(type), 'create', { path: {}, draft })).key
}

async function perform(
  actions: Actions,
  behaviour: Behaviour,
  verb: 'create' | 'remove',
  call: { readonly path: Readonly<Record<string, string>>; readonly draft: Row; readonly row?: Row },
) {
  const performed = await actions.perform(behaviour, verb, {
    ...call,
    caller: CALLER,
    args: {},
    description: `${verb} ${behaviour.resource.path}`,
  })
  if (performed.job !== undefined) {
    const job = await actions.jobs.wait(performed.job['uuid'], 30_000)
    if (job['state'] !== 'success') throw failureOf(job)
  }
  return performed
}
