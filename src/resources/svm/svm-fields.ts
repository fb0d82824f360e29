/** What an SVM allows of its volumes and clients, and whether it has room for another volume. */
import type { Derivation } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { labelOf } from '../../model/facts.ts'
import { failure } from '../../model/failure.ts'
import { bytes, flag, list, oneOf, only } from '../../model/kinds/index.ts'
import type { FieldDeclaration, Fields } from '../../model/resource.ts'
import type { Row } from '../../model/value.ts'
import { CIFS_SERVICES } from '../protocols/cifs/services.ts'
import { NFS_SERVICES } from '../protocols/nfs/services.ts'
import { disksSeenLately, spaceOf } from '../storage/aggregates/space.ts'
import { usualOf } from '../usual.ts'
import { insistOnStorage, storageOf } from './storage-limit.ts'
import type { Svm, Volume } from '../../records/rows.ts'

export const UNLIMITED = 'unlimited'

/** The protocols by which clients may be served, and whether an SVM allows them unless it is said. */
const PROTOCOLS = [
  ['nfs', true, '9.9.1'],
  ['cifs', true, '9.9.1'],
  ['iscsi', false, '9.9.1'],
  ['fcp', false, '9.9.1'],
  ['nvme', false, '9.9.1'],
  ['ndmp', false, '9.10.1'],
] as const

export const serviceFields: Readonly<Record<string, FieldDeclaration>> = Object.fromEntries(
  PROTOCOLS.map(([protocol, isUsual, since]) => [
    `${protocol}.allowed`,
    {
      doc: `Whether the SVM may serve ${labelOf(protocol)}. Stored without effect.`,
      kind: flag(),
      set: 'always',
      default: isUsual,
      since,
    } satisfies FieldDeclaration,
  ]),
)

/** Where names of users, hosts and so on are looked up, unless it is said. */
const SOURCES: Readonly<Record<string, readonly string[]>> = {
  hosts: ['files', 'dns'],
  passwd: ['files'],
  group: ['files'],
  netgroup: ['files'],
  namemap: ['files'],
}

/** What is looked up in each. */
const SOURCE_WORDS: Readonly<Record<string, string>> = {
  hosts: 'host names',
  passwd: 'users',
  group: 'groups',
  netgroup: 'netgroups',
  namemap: 'name mappings',
}

/** What volumes count for clients of files, who are not served: kept as clients set it. */
const logicalSpace = {
  is_space_reporting_logical:
    'Whether volumes report space before compression and deduplication. Stored without effect.',
  is_space_enforcement_logical:
    'Whether volume sizes limit data before compression and deduplication. Stored without effect.',
} as const

const NAME_SERVICES = {
  files: 'The users, groups and hosts that the SVM itself has.',
  dns: 'DNS, for hosts.',
  ldap: 'LDAP.',
  nis: 'NIS.',
} as const

const settings = {
  ...Object.fromEntries(
    Object.entries(logicalSpace).map(([path, doc]): [string, FieldDeclaration] => [
      path,
      { doc, kind: flag(), set: 'always', since: '9.11.1' },
    ]),
  ),
  ...Object.fromEntries(
    Object.keys(SOURCES).map((base): [string, FieldDeclaration] => [
      `nsswitch.${base}`,
      {
        doc: `The sources for ${SOURCE_WORDS[base] ?? base}, in the order of lookup. Stored without effect.`,
        kind: list(oneOf(NAME_SERVICES), { elementsMax: 4 }),
        set: 'always',
      },
    ]),
  ),
  auto_enable_analytics: {
    doc: 'Whether file system analytics are turned on for new volumes. Stored without effect.',
    kind: flag(),
    set: 'always',
    since: '9.12.1',
  },
  auto_enable_activity_tracking: {
    doc: 'Whether activity tracking is turned on for new volumes. Stored without effect.',
    kind: flag(),
    set: 'always',
    since: '9.12.1',
  },
  anti_ransomware_default_volume_state: {
    doc: 'Whether ransomware is detected in new volumes. Always `disabled`.',
    kind: only(
      'disabled',
      oneOf({ disabled: 'Nothing is detected.', dry_run: 'Detection is learning.' }),
      'nothing looks for ransomware. Take snapshots, and lock them.',
    ),
    set: 'always',
    since: '9.10.1',
  },
} as const satisfies Fields

/** Services that an SVM may have, by the path of their records. */
const SERVICES = [
  ['nfs', NFS_SERVICES],
  ['cifs', CIFS_SERVICES],
  ['s3', 'protocols/s3/services'],
] as const

export const settingFields = {
  ...settings,
  'nfs.enabled': enabledField('nfs'),
  'cifs.enabled': enabledField('cifs'),
  's3.enabled': enabledField('s3'),
} as const satisfies Fields

function enabledField(service: (typeof SERVICES)[number][0]) {
  return { doc: `Whether the SVM has an enabled ${labelOf(service)} service.`, kind: flag() }
}

const services: Derivation<Svm> = {
  gives: SERVICES.map(([service]) => `${service}.enabled` as const),
  async from(cluster, rows) {
    const enabled = await Promise.all(
      SERVICES.map(async ([service, type]) => {
        const on = (await cluster.rows(type)).filter((row) => row['enabled'] === true)
        return [`${service}.enabled`, new Set(on.map((row) => row['svm.uuid']))] as const
      }),
    )
    return rows.map((row) => Object.fromEntries(enabled.map(([path, svms]) => [path, svms.has(row['uuid'])])))
  },
}

/** What is shown of an aggregate that the volumes of an SVM may be made in. */
export const aggregateMembers = {
  available_size: { kind: bytes(), doc: 'Bytes that new data or guarantees can use.' },
  state: {
    kind: oneOf({ online: 'The folder is there.', offline: 'The folder is missing.' }),
    doc: 'Whether the folder of the aggregate can be reached.',
  },
  type: {
    kind: oneOf({ vmdisk: 'A file system of the machine.' }),
    doc: 'The storage type of the aggregate. Always `vmdisk`.',
  },
  snaplock_type: {
    kind: oneOf({ non_snaplock: 'Files can be changed.' }),
    doc: 'Whether files in the aggregate are write-once. Always `non_snaplock`.',
  },
} as const

const aggregates: Derivation<Svm> = {
  gives: ['aggregates'],
  async from(cluster, rows, once) {
    const seen = await once('disks', () => disksSeenLately(cluster))
    const shown: Row[] = []
    for (const row of rows) {
      const list: Row[] = []
      for (const one of row['aggregates'] ?? []) {
        const key = one.uuid
        const { isThere, availableBytes } = await once(`space of ${key}`, () => spaceOf(cluster, key, seen))
        const state = isThere ? 'online' : 'offline'
        list.push({ ...one, available_size: availableBytes, state, type: 'vmdisk', snaplock_type: 'non_snaplock' })
      }
      shown.push({ aggregates: list })
    }
    return shown
  },
}

export const settingReadings: readonly Derivation<Svm>[] = [
  services,
  aggregates,
  usualOf(Object.fromEntries(Object.entries(SOURCES).map(([base, sources]) => [`nsswitch.${base}`, sources]))),
  usualOf({
    is_space_reporting_logical: false,
    is_space_enforcement_logical: false,
    auto_enable_analytics: false,
    auto_enable_activity_tracking: false,
    anti_ransomware_default_volume_state: 'disabled',
  }),
]

/** The snapshot policy of an SVM that names none. */
export async function usualPolicy(cluster: Cluster): Promise<Row> {
  return { 'snapshot_policy.uuid': (await cluster.keyOfName('storage/snapshot-policies', 'default')) ?? null }
}

/** Fails when the SVM may not have so many more volumes, or not the storage for them. */
export async function insistOnRoom(cluster: Cluster, svm: Svm | undefined, fresh: readonly Volume[]): Promise<void> {
  await insistOnStorage(cluster, svm, storageOf(fresh))
  const most = (svm?.['max_volumes'] ?? '') || UNLIMITED
  if (svm === undefined || most === UNLIMITED) return
  const volumes = await cluster.rows('storage/volumes', svm['uuid'])
  if (volumes.length + fresh.length <= Number(most)) return
  throw failure('svmHasMoreVolumes', { svm: svm['name'], count: volumes.length, max: most })
}
