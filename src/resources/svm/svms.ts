import { alone } from '../../core/grounds.ts'
import { type Behaviour, define, type Derivation } from '../../core/behaviour.ts'
import { commitUnused, typesWithin, unusedSince } from '../../core/within.ts'
import { type Belonging, belongingChanges, removeMostBelongings } from '../../core/belongings.ts'
import { MADE_FOR, type Cluster } from '../../core/cluster.ts'
import { plainModify } from '../../core/plain.ts'
import { Interrupted, job, uuidOfNew, type Work } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import { groups, resource } from '../../model/resource.ts'
import { bytes, count, name, oneOf, text, time, uuid } from '../../model/kinds/index.ts'
import { textOf } from '../../model/value.ts'
import { defaultExportPolicy, EXPORT_POLICIES_LOCK } from '../protocols/nfs/export-policies.ts'
import { giveUpName } from '../protocols/s3/services/namesakes.ts'
import { GROUPS as S3_GROUPS, USERS as S3_USERS } from '../protocols/s3/services/users.ts'
import { BUCKETS } from '../protocols/s3/types.ts'
import { DEFAULT as DEFAULT_IPSPACE, INTERFACES, IPSPACES, NETWORK_LOCK } from '../network/names.ts'
import {
  insistOnNothingKept,
  purgeVolume,
  RECOVERY_QUEUE,
  RETENTION_HOURS,
  RETENTION_HOURS_MAX,
} from '../storage/volumes/recovery-queue.ts'
import { volumesOfSvm } from '../storage/aggregates/space.ts'
import { insistOnLimit, storageFields, storageReading } from './storage-limit.ts'
import {
  aggregateMembers,
  serviceFields,
  settingFields,
  settingReadings,
  UNLIMITED,
  usualPolicy,
} from './svm-fields.ts'
import type { Svm } from '../../records/rows.ts'

/** SVMs of a cluster; the documented limit of the field for data SVMs is 1,000 for each cluster of many nodes. */
const SVMS_MAX = 1000

const queueSums: Derivation<Svm> = {
  gives: ['number_of_volumes_in_recovery_queue', 'total_volume_size_in_recovery_queue'],
  async from(cluster, rows) {
    const queue = Map.groupBy(await cluster.rows(RECOVERY_QUEUE), (row) => row['svm.uuid'])
    return rows.map((row) => {
      const queued = queue.get(row['uuid']) ?? []
      return {
        number_of_volumes_in_recovery_queue: queued.length,
        total_volume_size_in_recovery_queue: queued.reduce((sum, { size }) => sum + size, 0),
      }
    })
  },
}

const svmsResource = resource({
  path: '/svm/svms',
  noun: 'SVM',
  doc: 'Storage virtual machines (SVMs) serve data to clients. Each has its own volumes, network interfaces and object store server.',
  key: ['uuid'],
  columns: ['name', 'state', 's3.enabled', 'nfs.enabled', 'cifs.enabled', 'ipspace.name', 'comment'],
  form: {
    SVM: ['name', 'comment', 'ipspace.name'],
    Volumes: [
      'aggregates',
      'snapshot_policy.name',
      'max_volumes',
      'storage.limit',
      'storage.limit_threshold_alert',
      'volume_delete_retention_hours',
    ],
    Performance: ['qos_policy.name'],
  },
  within: { qos_policy: 'blocks', snapshot_policy: 'blocks', ipspace: 'blocks', aggregates: 'blocks' },
  fields: {
    ...groups({
      nfs: 'NFS in the SVM.',
      cifs: 'SMB in the SVM.',
      iscsi: 'iSCSI in the SVM.',
      fcp: 'Fibre Channel in the SVM.',
      nvme: 'NVMe in the SVM.',
      ndmp: 'NDMP in the SVM.',
      nsswitch: 'Where the SVM looks up names, in order.',
      s3: 'The object store server of the SVM.',
    }),
    uuid: { doc: 'The UUID of the SVM.', kind: uuid() },
    name: { doc: 'The name of the SVM.', kind: name({ charactersMax: 47 }), set: 'always', required: true },
    comment: { doc: 'A comment that describes the SVM.', kind: text({ charactersMax: 255 }), set: 'always' },
    state: {
      danger: 'disruptive',
      doc: 'Whether the SVM serves its clients.',
      kind: oneOf({ running: 'The SVM serves its clients.', stopped: 'The SVM refuses its clients.' }),
      set: 'modify',
    },
    subtype: {
      doc: 'The purpose of the SVM.',
      kind: oneOf({ default: 'The SVM serves data.' }),
      set: 'create',
      default: 'default',
    },
    language: {
      doc: 'The default character encoding of file names in volumes of the SVM.',
      kind: oneOf({
        'c.utf_8': 'UTF-8 with characters of up to three bytes.',
        utf8mb4: 'UTF-8 with characters of up to four bytes.',
      }),
      set: 'create',
      default: 'c.utf_8',
    },
    create_time: { doc: 'When the SVM was created.', kind: time() },
    qos_policy: {
      doc: 'The QoS policy that limits the throughput of the whole SVM.',
      ref: 'storage/qos/policies',
      noneName: 'none',
      set: 'modify',
      since: '9.9.1',
    },
    snapshot_policy: {
      doc: 'The snapshot policy of new volumes that name none. Default: `default`.',
      ref: 'storage/snapshot-policies',
      set: 'always',
    },
    max_volumes: {
      doc: 'The maximum number of volumes in the SVM: a number, or `unlimited`.',
      kind: text({ pattern: /^(?:unlimited|\d{1,5})$/, patternDoc: 'a number, or "unlimited"' }),
      set: 'always',
      default: UNLIMITED,
      since: '9.9.1',
    },
    ipspace: {
      doc: 'The IPspace of the network interfaces and routes of the SVM.',
      ref: IPSPACES,
      set: 'create',
      default: DEFAULT_IPSPACE,
    },
    ...serviceFields,
    ...settingFields,
    ...storageFields,
    aggregates: {
      doc: 'The aggregates in which volumes of the SVM may be created. Empty: all aggregates.',
      refs: 'storage/aggregates',
      refsShow: aggregateMembers,
      set: 'always',
    },
    volume_delete_retention_hours: {
      doc: 'How many hours a deleted volume stays recoverable. 0 deletes volumes immediately.',
      kind: count({ min: 0, max: RETENTION_HOURS_MAX, unit: 'hours' }),
      set: 'always',
      default: RETENTION_HOURS,
    },
    number_of_volumes_in_recovery_queue: {
      doc: 'The number of deleted volumes that can be recovered.',
      kind: count(),
      since: '9.13.1',
    },
    total_volume_size_in_recovery_queue: {
      doc: 'The total size of the deleted volumes that can be recovered, in bytes.',
      kind: bytes(),
      since: '9.13.1',
    },
  },
})

export const svms: Behaviour<typeof svmsResource> = define(svmsResource, {
  derive: [queueSums, storageReading, ...settingReadings],
  create: job({
    example: { name: 'svm_example', comment: 'made to show how' },
    async plan(cluster, { draft }) {
      const svmName = draft['name']
      if ((await cluster.keyOfName('svm/svms', svmName)) !== undefined) {
        throw failure('svmNameTaken', { name: svmName })
      }
      if ((await cluster.rows('svm/svms')).length >= SVMS_MAX) {
        throw failure('clusterLimitReached', { max: SVMS_MAX, things: 'SVMs' })
      }
      const key = uuidOfNew(cluster, draft)
      const input = {
        ...(await usualPolicy(cluster)),
        ...draft,
        uuid: key,
        state: 'running' as const,
        create_time: cluster.now(),
      }
      return { key, input, locks: [`svm-name:${svmName}`] }
    },
    steps: [
      {
        name: 'write record',
        async run(cluster, { key, input }) {
          if ((await cluster.find('svm/svms', key)) !== undefined) return
          await alone(cluster, [EXPORT_POLICIES_LOCK, NETWORK_LOCK], async (cluster) => {
            await cluster.commit([
              cluster.put('svm/svms', input, { expect: 'absent' }),
              await defaultExportPolicy(cluster, key),
              cluster.event('svm.created', { svm: input['name'] ?? '' }),
            ])
          })
        },
      },
    ],
  }),
  modify: plainModify('svm/svms', { check: insistOnLimit, restsOn: (svm) => [volumesOfSvm(svm)] }),
  remove: job({
    async plan(cluster, { row }) {
      const key = row['uuid']
      await insistOnEmpty(cluster, key)
      for (const { uuid } of await cluster.rows(RECOVERY_QUEUE, key)) await insistOnNothingKept(cluster, textOf(uuid))
      return { key, input: { 'svm.uuid': key, name: row?.['name'] ?? '' }, locks: [`svm:${key}`] }
    },
    steps: [
      { name: 'wait for volumes of deleted buckets', run: waitForSpareVolumes },
      {
        name: 'remove records',
        async run(cluster, { key, input }) {
          if ((await cluster.find('svm/svms', key)) === undefined) return
          const since = await cluster.catalog.revision()
          await insistOnEmpty(cluster, key)
          // Nobody could have them back without it.
          for (const { uuid } of await cluster.rows(RECOVERY_QUEUE, key)) {
            const volume = textOf(uuid)
            await alone(cluster, [`volume:${volume}`], (cluster) => purgeVolume(cluster, volume, 'asked'))
          }
          // There may be very many: they go before, and a few with the SVM.
          await removeMostBelongings(cluster, SVMS, key, {
            ...BELONGING,
            unless: unusedSince(cluster, SVMS, key, since),
          })
          await commitUnused(cluster, SVMS, key, {
            inUse: ({ resource }) => stillHas(resource.type),
            changes: async () => [
              ...(await belongingChanges(cluster, SVMS, key, BELONGING)),
              { do: 'remove-record', type: SVMS, key },
              { do: 'drop-counters', table: 'object_store_server', row: key },
              cluster.event('svm.deleted', { svm: input['name'] ?? '' }),
            ],
          })
        },
      },
    ],
  }),
})

/** Those of deleted buckets are about to go, and hold nobody up. */
async function insistOnEmpty(cluster: Cluster, key: string): Promise<void> {
  const spare = await spareVolumes(cluster, key)
  for (const type of typesWithin(cluster, SVMS, 'blocks')) {
    // Volumes of the queue are purged with the SVM.
    if (type === RECOVERY_QUEUE) continue
    if ((await cluster.rows(type, key)).length > (type === VOLUMES ? spare : 0)) throw stillHas(type)
  }
}

function stillHas(type: string) {
  const things = type === 'protocols/s3/services' ? 'an object store server' : 'volumes'
  return failure('svmNotEmpty', { things })
}

/** How many volumes of an SVM were made for buckets that are gone. */
async function spareVolumes(cluster: Cluster, key: string): Promise<number> {
  let count = 0
  for (const volume of await cluster.rows(VOLUMES, key)) {
    if (textOf(volume[MADE_FOR]) !== '' && (await cluster.rows(BUCKETS, volume['uuid'])).length === 0) count++
  }
  return count
}

async function waitForSpareVolumes(cluster: Cluster, { key, stopping }: Work): Promise<void> {
  for (let looks = 0; looks < SPARE_LOOKS_MAX && (await spareVolumes(cluster, key)) > 0; looks++) {
    await cluster.system.clock.sleep(SPARE_WAIT_MS, stopping)
    if (stopping.aborted) throw new Interrupted()
  }
  if ((await spareVolumes(cluster, key)) > 0) {
    throw failure('svmVolumesGoing')
  }
}

/** Half a minute: they are looked for every five seconds. */
const SPARE_WAIT_MS = 250
const SPARE_LOOKS_MAX = 120

const VOLUMES = 'storage/volumes'

const SVMS = 'svm/svms'

const BELONGING: Belonging = {
  beside(type, body) {
    if (type === INTERFACES) return [{ do: 'drop-counters', table: 'lif', row: textOf(body['uuid']) }]
    if (type === S3_USERS) return [giveUpName('user', textOf(body['name']))]
    return type === S3_GROUPS ? [giveUpName('group', textOf(body['name']))] : []
  },
}
