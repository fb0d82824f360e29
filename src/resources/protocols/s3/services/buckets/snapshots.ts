import { type Behaviour, define } from '../../../../../core/behaviour.ts'
import { job, uuidOfNew } from '../../../../../core/verb.ts'
import { failure } from '../../../../../model/failure.ts'
import { name, time, uuid } from '../../../../../model/kinds/index.ts'
import { resource } from '../../../../../model/resource.ts'
import { SNAPSHOTS } from '../../../../storage/volumes/snapshot-changes.ts'
import {
  BUCKET_SNAPSHOT_NAME,
  BUCKET_SNAPSHOTS,
  BUCKET_SNAPSHOTS_MAX,
  dropBucketSnapshot,
  takeBucketSnapshot,
} from '../../bucket-snapshots.ts'
import { BUCKETS } from '../../types.ts'

const bucketSnapshotsResource = resource({
  path: `/${BUCKET_SNAPSHOTS}`,
  noun: 'bucket snapshot',
  doc: 'Snapshots of a bucket. Clients read a snapshot as the bucket `<bucket>-s3snap-<name>`.',
  since: '9.16.1',
  isContent: true,
  key: ['uuid'],
  parent: 's3_bucket.uuid',
  nameWithin: 's3_bucket.uuid',
  columns: ['name', 'create_time'],
  form: { Snapshot: ['name'] },
  fields: {
    uuid: { doc: 'The UUID of the snapshot.', kind: uuid() },
    name: {
      doc: 'The name of the snapshot, unique within its bucket.',
      kind: name({
        charactersMax: 30,
        pattern: BUCKET_SNAPSHOT_NAME,
        patternDoc:
          'lower-case letters, digits, "." and "-", beginning without "." and ending with a letter or digit, without "s3snap"',
      }),
      set: 'create',
      required: true,
    },
    bucket_uuid: { doc: 'The UUID of the bucket of the snapshot.', kind: uuid() },
    create_time: { isAlwaysSet: true, doc: 'When the snapshot was created.', kind: time() },
    s3_bucket: { doc: 'The bucket of the snapshot.', ref: BUCKETS },
    svm: { doc: 'The SVM of the bucket.', ref: 'svm/svms' },
  },
})

export const bucketSnapshots: Behaviour<typeof bucketSnapshotsResource> = define(bucketSnapshotsResource, {
  create: job({
    example: { name: 'before-the-change' },
    async plan(cluster, { draft, path }) {
      const bucket = await cluster.row(BUCKETS, path['s3_bucket.uuid'] ?? '')
      if (bucket['svm.uuid'] !== path['svm.uuid']) throw failure('bucketNotFound', {}, { target: 's3_bucket.uuid' })
      const of = bucket['uuid']
      const volume = bucket['volume.uuid'] ?? ''
      const wanted = draft['name']
      if ((await cluster.row('storage/volumes', volume))['state'] === 'offline') {
        throw failure('bucketVolumeOffline')
      }
      if ((await cluster.keyOfName(BUCKET_SNAPSHOTS, wanted, of)) !== undefined) {
        throw failure('bucketSnapshotTaken', { name: wanted })
      }
      // Clients would not know which of the two they see.
      if ((await cluster.keyOfName(SNAPSHOTS, wanted, volume)) !== undefined) {
        throw failure('bucketSnapshotVolumeTaken', { name: wanted })
      }
      if ((await cluster.catalog.bucketSnapshots(volume, of)).length >= BUCKET_SNAPSHOTS_MAX) {
        throw failure('bucketSnapshotLimit', { max: BUCKET_SNAPSHOTS_MAX })
      }
      const key = uuidOfNew(cluster, draft)
      const input = {
        uuid: key,
        name: wanted,
        bucket_uuid: of,
        's3_bucket.uuid': of,
        'svm.uuid': bucket['svm.uuid'],
        create_time: cluster.now(),
      }
      return { key, input, locks: [`volume:${volume}`] }
    },
    steps: [
      {
        name: 'take snapshot',
        async run(cluster, { key, input }) {
          if ((await cluster.find(BUCKET_SNAPSHOTS, key)) === undefined) {
            await cluster.commit(await takeBucketSnapshot(cluster, input))
          }
        },
      },
    ],
  }),
  remove: job({
    async plan(cluster, { row }) {
      const bucket = await cluster.row(BUCKETS, row['s3_bucket.uuid'] ?? '')
      const input = { 'svm.uuid': row['svm.uuid'] ?? '', 'volume.uuid': bucket['volume.uuid'] ?? '' }
      return { key: row['uuid'], input, locks: [`volume:${input['volume.uuid']}`] }
    },
    steps: [
      {
        // The space only it held is given back by the housekeeping.
        name: 'drop snapshot',
        async run(cluster, { key, input }) {
          const row = await cluster.find(BUCKET_SNAPSHOTS, key)
          if (row !== undefined) await cluster.commit(dropBucketSnapshot(cluster, row, input['volume.uuid']))
        },
      },
    ],
  }),
})
