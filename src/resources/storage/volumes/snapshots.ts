import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { job, uuidOfNew } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { bytes, list, name, oneOf, text, time, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { Snapshot } from '../../../records/rows.ts'
import { dropChanges, SNAPSHOTS, SNAPSHOTS_MAX, takeChanges, whyKept } from './snapshot-changes.ts'
import { insistOnReadWrite } from './types.ts'

const snapshotsResource = resource({
  path: '/storage/volumes/{volume.uuid}/snapshots',
  noun: 'snapshot',
  doc: 'Snapshots of a volume capture object data and metadata at an instant.',
  isContent: true,
  key: ['uuid'],
  alsoBy: 'name',
  parent: 'volume.uuid',
  nameWithin: 'volume.uuid',
  columns: ['name', 'create_time', 'size', 'expiry_time', 'snapmirror_label', 'comment'],
  form: { Snapshot: ['name', 'comment', 'expiry_time', 'snapmirror_label'] },
  fields: {
    uuid: { doc: 'The UUID of the snapshot.', kind: uuid() },
    name: {
      doc: 'The name of the snapshot, unique within its volume.',
      kind: name({
        charactersMax: 255,
        emptyFailure: 'snapshotNameRequired',
        pattern: /^[A-Za-z0-9_.][A-Za-z0-9_.:+@-]*$/,
        patternDoc: 'letters, digits, "_", ".", ":", "+", "@" and "-"',
      }),
      set: 'always',
      required: true,
    },
    comment: { doc: 'A comment that describes the snapshot.', kind: text({ charactersMax: 255 }), set: 'always' },
    snapmirror_label: {
      doc: 'The label by which replication selects snapshots.',
      kind: text({ charactersMax: 31 }),
      set: 'always',
    },
    expiry_time: {
      doc: 'The time before which the snapshot cannot be deleted, not even by a schedule.',
      kind: time(),
      set: 'always',
    },
    owners: { doc: 'The users of the snapshot. A snapshot in use cannot be deleted.', kind: list(text()) },
    create_time: { isAlwaysSet: true, doc: 'When the snapshot was created.', kind: time() },
    state: {
      doc: 'Whether the snapshot can be used.',
      kind: oneOf({ valid: 'The snapshot can be used.', invalid: 'The snapshot cannot be used.' }),
    },
    size: {
      doc: 'Bytes that the snapshot uses and neither the volume nor a later snapshot shares.',
      kind: bytes(),
      since: '9.9.1',
    },
    volume: { doc: 'The volume of the snapshot.', ref: 'storage/volumes' },
    svm: { isAlwaysSet: true, doc: 'The SVM of the volume.', ref: 'svm/svms', set: 'create' },
  },
})

export const snapshots: Behaviour<typeof snapshotsResource> = define(snapshotsResource, {
  derive: [
    {
      gives: ['size'],
      async from(cluster, rows, once) {
        const volume = rows[0]?.['volume.uuid'] ?? ''
        const sizes = await once('sizes', () => cluster.catalog.snapshotBytes(volume))
        return rows.map((row) => ({ size: sizes.get(row['uuid']) ?? 0 }))
      },
    },
  ],
  create: job({
    example: { name: 'snap_example', comment: 'before the change' },
    async plan(cluster, { draft, path }) {
      const volume = path['volume.uuid'] ?? ''
      const row = await cluster.row('storage/volumes', volume)
      const svm = draft['svm.uuid']
      if (typeof svm === 'string' && svm !== row['svm.uuid']) {
        throw failure('snapshotVolumeOfOtherSvm')
      }
      insistOnReadWrite(row, 'volumeProtected')
      if (row['state'] === 'offline') throw failure('volumeOffline')
      await insistOnName(cluster, draft['name'], volume)
      if ((await cluster.catalog.snapshots(volume)).length >= SNAPSHOTS_MAX) {
        throw failure('snapshotLimitReached', { max: SNAPSHOTS_MAX })
      }
      const key = uuidOfNew(cluster, draft)
      const input = {
        ...draft,
        uuid: key,
        'volume.uuid': volume,
        'svm.uuid': row['svm.uuid'] ?? '',
        create_time: cluster.now(),
      }
      return { key, input, locks: [`volume:${volume}`] }
    },
    steps: [
      {
        name: 'take snapshot',
        async run(cluster, { key, input }) {
          if ((await cluster.find(SNAPSHOTS, key)) === undefined) await cluster.commit(takeChanges(cluster, input))
        },
      },
    ],
  }),
  modify: job({
    example: { name: 'snap_renamed', comment: 'before the second change' },
    async plan(cluster, { row, draft }) {
      const volume = row['volume.uuid']
      if (draft['name'] !== undefined && draft['name'] !== row?.['name']) {
        insistOnReadWrite(await cluster.row('storage/volumes', volume), 'volumeProtected')
        await insistOnName(cluster, draft['name'] ?? '', volume)
      }
      const svm = row?.['svm.uuid'] ?? ''
      return {
        key: row['uuid'],
        input: { 'svm.uuid': svm, $change: draft },
        locks: [`volume:${volume}`],
      }
    },
    steps: [
      {
        name: 'apply',
        async run(cluster, { key, input }) {
          const record = await cluster.record(SNAPSHOTS, key)
          if (record === undefined) throw failure('snapshotNotFound')
          const row = { ...record.body, ...input.$change }
          await cluster.commit([cluster.put(SNAPSHOTS, row, { expect: record.revision })])
        },
      },
    ],
  }),
  remove: job({
    async plan(cluster, { row }) {
      insistOnReadWrite(await cluster.row('storage/volumes', row['volume.uuid']), 'snapshotsProtected')
      insistOnDeletable(row, cluster.now())
      const { 'volume.uuid': volume, 'svm.uuid': svm, name } = row
      const input = { 'volume.uuid': volume, 'svm.uuid': svm, name }
      return { key: row['uuid'], input, locks: [`volume:${volume}`] }
    },
    steps: [
      {
        // The space only it held is given back by the housekeeping, so this takes as long at any number of objects.
        name: 'drop snapshot',
        async run(cluster, { key }) {
          const row = await cluster.find(SNAPSHOTS, key)
          if (row === undefined) return
          insistOnDeletable(row, cluster.now())
          await cluster.commit(dropChanges(cluster, row))
        },
      },
    ],
  }),
})

function insistOnDeletable(row: Snapshot, nowMs: number): void {
  const why = whyKept(row, nowMs)
  if (why !== undefined) throw why
}

async function insistOnName(cluster: Cluster, wanted: string, volume: string): Promise<void> {
  if ((await cluster.keyOfName(SNAPSHOTS, wanted, volume)) !== undefined) {
    throw failure('snapshotNameTaken', { name: wanted })
  }
}
