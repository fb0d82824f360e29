import { flag } from '../../model/kinds/index.ts'
import type { Cluster } from '../../core/cluster.ts'
import { removeRecord } from '../../core/plain.ts'
import { inline, type Making, type Changing } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import type { DraftOf } from '../../model/rows.ts'
import { withExportPolicy } from '../protocols/nfs/named-export-policy.ts'
import { limitChanges, quotaLock, QUOTA_RULES } from './quota/limits.ts'
import type { Qtree, QuotaRule, Volume } from '../../records/rows.ts'

export const QTREES = 'storage/qtrees'
/** Ids are 1..4994; 0 is the default qtree, which is always there. */
export const QTREE_ID_MAX = 4994
const USER_ID_MAX = 2 ** 32 - 1
const EXPORT_POLICY = 'export_policy'

/** All qtrees of a volume, by their records. The default one has a record only when it was changed. */
export function qtreesOf(volume: Volume, records: readonly Qtree[]): Qtree[] {
  const named = records.filter((row) => row['id'] !== 0)
  return [{ ...defaultQtree(volume), ...records.find((row) => row['id'] === 0) }, ...named]
}

function defaultQtree(volume: Volume): Qtree {
  const of = { 'volume.uuid': volume['uuid'], 'svm.uuid': volume['svm.uuid'] }
  return { ...of, id: 0, name: '', security_style: 'unix', unix_permissions: 755 }
}

export const createQtree = inline({
  args: {
    synchronous: {
      doc: 'Whether to wait until the qtree exists. Accepted without effect: requests always wait.',
      kind: flag(),
    },
  },
  example: { name: 'qtree_example', 'svm.name': 'svm1', 'volume.name': 'vol1', security_style: 'unix' },
  alone: ({ draft }: Making<typeof QTREES>) => [quotaLock(draft['volume.uuid'])],
  async plan(cluster, { draft }: Making<typeof QTREES>) {
    if (draft['name'] === undefined) {
      throw failure('qtreeNameRequired')
    }
    checkFields(draft)
    const volume = draft['volume.uuid']
    await volumeOf(cluster, draft)
    await insistOnName(cluster, draft)
    const key = `${volume}/${freeId(await cluster.rows(QTREES, volume))}`
    return { key, input: await withExportPolicy(cluster, draft, EXPORT_POLICY, draft['svm.uuid']) }
  },
  step: {
    name: 'write record',
    async run(cluster, { key, input }) {
      const id = Number(key.split('/')[1])
      await cluster.commit([
        cluster.put(QTREES, { ...input, id }, { expect: 'absent' }),
        cluster.event('qtree.created', { qtree: input['name'] ?? '', volume: input['volume.uuid'] }),
      ])
    },
  },
})

export const modifyQtree = inline({
  alone: ({ row }: Changing<typeof QTREES>) => [quotaLock(row['volume.uuid'])],
  async plan(cluster, { row, draft }: Changing<typeof QTREES>) {
    checkFields(draft)
    const volume = row['volume.uuid']
    const changed = { ...row, ...draft }
    if (row['id'] === 0) {
      if (draft['name'] !== undefined) {
        throw failure('defaultQtreeRename')
      }
      if (typeof draft['qos_policy.uuid'] === 'string') {
        throw failure('defaultQtreeQos')
      }
    } else if (draft['name'] !== undefined && draft['name'] !== row['name']) await insistOnName(cluster, changed)
    const input = await withExportPolicy(cluster, draft, EXPORT_POLICY, row['svm.uuid'])
    return { key: `${volume}/${row['id']}`, input }
  },
  step: {
    name: 'write record',
    async run(cluster, { key, input }) {
      const [uuid = '', id = ''] = key.split('/')
      const volume = await cluster.row('storage/volumes', uuid)
      const record = await cluster.record(QTREES, key)
      if (record === undefined && id !== '0') throw failure('qtreeNotFound')
      const changed = { ...(record === undefined ? defaultQtree(volume) : record.body), ...input }
      await cluster.commit([
        cluster.put(QTREES, changed, { expect: record?.revision ?? 'absent' }),
        cluster.event('qtree.modified', { qtree: changed['name'] ?? '', volume: uuid }),
      ])
    },
  },
})

/** The rules that name a qtree go with it, and are no longer in force. */
export const removeQtree = inline({
  alone: ({ row }: Changing<typeof QTREES>) => [quotaLock(row['volume.uuid'])],
  plan(_cluster, { row }: Changing<typeof QTREES>) {
    if (row['id'] === 0) throw failure('defaultQtreeDelete')
    const volume = row['volume.uuid']
    const { name = '' } = row
    return Promise.resolve({ key: `${volume}/${row['id']}`, input: { name } })
  },
  step: {
    name: 'remove record',
    async run(cluster, { key, input }) {
      const [uuid = ''] = key.split('/')
      const volume = await cluster.row('storage/volumes', uuid)
      await removeRecord(cluster, QTREES, key, {
        beside: (type, rule) => (type === QUOTA_RULES ? limitChanges(volume, rule as QuotaRule, null) : []),
        goesWith: () => [cluster.event('qtree.deleted', { qtree: input['name'] ?? '', volume: uuid })],
      })
    },
  },
})

function freeId(qtrees: readonly Qtree[]): number {
  const taken = new Set(qtrees.map((row) => row['id']))
  for (let id = 1; id <= QTREE_ID_MAX; id++) if (!taken.has(id)) return id
  throw failure('qtreeLimitReached', { max: QTREE_ID_MAX })
}

/** The volume of a draft, which has to be one of its SVM. */
export async function volumeOf(
  cluster: Cluster,
  draft: { readonly 'volume.uuid': string; readonly 'svm.uuid': string },
): Promise<Volume> {
  const volume = await cluster.find('storage/volumes', draft['volume.uuid'])
  if (volume === undefined || volume['svm.uuid'] !== draft['svm.uuid']) {
    throw failure('qtreeVolumeUnknown')
  }
  return volume
}

async function insistOnName(cluster: Cluster, row: Pick<Qtree, 'name' | 'volume.uuid'>): Promise<void> {
  const { name = '', 'volume.uuid': volume } = row
  if ((await cluster.keyOfName(QTREES, name, volume)) !== undefined) {
    throw failure('qtreeNameTaken', { name })
  }
}

function checkFields(draft: DraftOf<typeof QTREES>): void {
  if (/[89]/.test(String(draft['unix_permissions'] ?? ''))) {
    throw failure('permissionsMalformed')
  }
  for (const field of ['user.id', 'group.id'] as const) {
    const id = draft[field] ?? ''
    if (id !== '' && (!/^\d+$/.test(id) || Number(id) > USER_ID_MAX)) {
      throw failure('ownerIdOutOfBounds', { max: USER_ID_MAX, field })
    }
  }
}
