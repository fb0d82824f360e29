import { type Behaviour, define, type Derivation, type SharedDerivation, sharedPaths } from '../../core/behaviour.ts'
import type { Cluster } from '../../core/cluster.ts'
import { inTurns } from '../../core/time/turns.ts'
import { count, oneOf, text } from '../../model/kinds/index.ts'
import { groups, resource } from '../../model/resource.ts'
import { namesBy } from '../../model/naming.ts'
import type { Row } from '../../model/value.ts'
import { exportPolicyFields, exportPolicyReading } from '../protocols/nfs/named-export-policy.ts'
import { totalFields, totals } from '../metric-readings.ts'
import { tagFields } from '../tags.ts'
import { createQtree, modifyQtree, QTREE_ID_MAX, QTREES, qtreesOf, removeQtree } from './qtree-verbs.ts'
import type { Qtree } from '../../records/rows.ts'

/** Where clients see a qtree: under the path of its volume, where that has one. */
const paths: Derivation<Qtree> = {
  gives: ['path', 'nas.path'],
  async from(cluster, rows) {
    const derived: Row[] = []
    for (const row of rows) {
      const junction = (await cluster.find('storage/volumes', row['volume.uuid']))?.['nas.path'] ?? ''
      const path = `${junction === '/' ? '' : junction}/${row['name'] ?? ''}`.replace(/(?<=.)\/$/, '')
      derived.push(junction === '' ? {} : { path, 'nas.path': path })
    }
    return derived
  },
}

const exportPolicies = exportPolicyReading('export_policy', async (cluster, row: Qtree) => {
  const volume = await cluster.find('storage/volumes', row['volume.uuid'])
  return volume?.['nas.export_policy.id']
})

/** All objects of a volume lie in its default qtree, so its operations are those of that. */
const operations: SharedDerivation<Qtree> = {
  gives: sharedPaths('statistics'),
  async from(cluster, rows, once) {
    const isDefault = ({ id }: Qtree) => id === 0
    const counted = await ofVolume.from(cluster, rows.filter(isDefault), once)
    let at = 0
    const nothing = { ...NO_OPERATIONS, 'statistics.timestamp': cluster.now() }
    return rows.map((row) => (isDefault(row) ? (counted[at++] ?? nothing) : nothing))
  },
}

const ofVolume = totals('volume', (row: Qtree) => row['volume.uuid'])

const NO_OPERATIONS: Row = Object.fromEntries(
  Object.keys(totalFields()).map((path) => [path, path.endsWith('.status') ? 'ok' : 0]),
)

const qtreesResource = resource({
  path: '/storage/qtrees',
  noun: 'qtree',
  doc: 'Qtrees divide a volume into parts that quotas can limit. Each volume has a default qtree with ID 0 and no name.',
  key: ['volume.uuid', 'id'],
  recordKey: ['volume.uuid', 'id'],
  parent: 'volume.uuid',
  nameWithin: 'volume.uuid',
  columns: ['name', 'volume.name', 'svm.name', 'path', 'security_style', 'export_policy.name'],
  form: {
    Qtree: ['name', 'svm.name', 'volume.name'],
    Permissions: ['security_style', 'unix_permissions', 'user.name', 'group.name', 'export_policy.name'],
    Performance: ['qos_policy.name'],
  },
  within: {
    qos_policy: 'blocks',
    export_policy: namesBy('protocols/nfs/export-policies', 'blocks', 'export_policy.id'),
  },
  fields: {
    ...groups({ export_policy: 'The export policy that decides which NFS clients may use the qtree.' }),
    id: {
      doc: 'The ID of the qtree within its volume. 0 is the default qtree.',
      kind: count({ min: 0, max: QTREE_ID_MAX }),
    },
    name: {
      doc: 'The name of the qtree, unique within its volume. Required to create a qtree.',
      kind: text({
        charactersMin: 1,
        charactersMax: 64,
        pattern: /^(?!\.{1,2}$|\.snapshot$)[^/\\]+$/,
        patternDoc: 'anything without "/" and "\\", but not ".", ".." and ".snapshot"',
      }),
      set: 'always',
    },
    svm: { doc: 'The SVM of the qtree.', ref: 'svm/svms', set: 'create', required: true },
    volume: { doc: 'The volume that contains the qtree.', ref: 'storage/volumes', set: 'create', required: true },
    security_style: {
      doc: 'Which permissions protect the files of the qtree. Stored for file access.',
      kind: oneOf({
        unix: 'UNIX permissions.',
        ntfs: 'NTFS permissions.',
        mixed: 'The permissions that were set last.',
      }),
      set: 'always',
      default: 'unix',
    },
    unix_permissions: {
      doc: 'The permissions of the top folder of the qtree, as octal digits such as 755. Stored for file access.',
      kind: count({ min: 0, max: 7777 }),
      set: 'always',
      default: 755,
    },
    user: { doc: 'The UNIX user that owns the qtree.', isGroup: true },
    'user.name': {
      doc: 'The UNIX user that owns the top folder of the qtree.',
      kind: text({ charactersMax: 256 }),
      set: 'always',
      since: '9.9.1',
    },
    'user.id': {
      doc: 'The user ID of the owner of the top folder of the qtree.',
      kind: text({ charactersMax: 10 }),
      set: 'always',
      since: '9.9.1',
    },
    group: { doc: 'The UNIX group that owns the qtree.', isGroup: true },
    'group.name': {
      doc: 'The UNIX group of the top folder of the qtree.',
      kind: text({ charactersMax: 256 }),
      set: 'always',
      since: '9.9.1',
    },
    'group.id': {
      doc: 'The group ID of the top folder of the qtree.',
      kind: text({ charactersMax: 10 }),
      set: 'always',
      since: '9.9.1',
    },
    ...exportPolicyFields(
      'export_policy',
      'The export policy that decides which NFS clients may mount the qtree. Default: the policy of the volume.',
    ),
    qos_policy: {
      doc: 'The QoS policy of the qtree. Stored for file access. Default qtrees have none.',
      ref: 'storage/qos/policies',
      noneName: 'none',
      set: 'always',
      since: '9.8',
    },
    path: { doc: 'The path of the qtree in the SVM, if the volume is mounted.', kind: text() },
    nas: { doc: 'The qtree as NFS and SMB clients see it.', isGroup: true },
    'nas.path': {
      doc: 'The path of the qtree in the SVM, if the volume is mounted. Equal to `path`.',
      kind: text(),
      since: '9.9.1',
    },
    ...totalFields(),
    ...tagFields,
  },
})

export const qtrees: Behaviour<typeof qtreesResource> = define(qtreesResource, {
  async rows(cluster, path) {
    const wanted = path['volume.uuid']
    if (wanted !== undefined && path['id'] !== undefined) return qtreeAt(cluster, wanted, path['id'])
    const records = byVolume(await cluster.rows(QTREES, wanted))
    const volumes = (await cluster.rows('storage/volumes')).filter(
      ({ uuid }) => wanted === undefined || uuid === wanted,
    )
    return volumes.flatMap((volume) => qtreesOf(volume, records.get(volume['uuid']) ?? []))
  },
  async *rowPages(cluster) {
    const records = byVolume(await cluster.rows(QTREES))
    for await (const volumes of inTurns(cluster.system, await cluster.rows('storage/volumes'))) {
      for (const volume of volumes) {
        yield* inTurns(cluster.system, qtreesOf(volume, records.get(volume['uuid']) ?? []))
      }
    }
  },
  derive: [paths, exportPolicies, operations],
  create: createQtree,
  modify: modifyQtree,
  remove: removeQtree,
})

const grouped = new WeakMap<readonly Qtree[], ReadonlyMap<string, readonly Qtree[]>>()

/** As long as no qtree changes, readers share all of them, and how they are grouped. */
function byVolume(records: readonly Qtree[]): ReadonlyMap<string, readonly Qtree[]> {
  const known = grouped.get(records)
  if (known !== undefined) return known
  const made = Map.groupBy(records, (row) => row['volume.uuid'])
  grouped.set(records, made)
  return made
}

async function qtreeAt(cluster: Cluster, volume: string, id: string): Promise<Qtree[]> {
  const [within, record] = [
    await cluster.find('storage/volumes', volume),
    await cluster.find(QTREES, `${volume}/${id}`),
  ]
  if (within === undefined) return []
  return qtreesOf(within, record === undefined ? [] : [record]).filter((row) => row['id'] === Number(id))
}
