import { define } from '../../../core/behaviour.ts'
import { job } from '../../../core/verb.ts'
import { failures } from '../../../model/failure.ts'
import { bytes, name, oneOf, text, time, uuid } from '../../../model/kinds/index.ts'
import { textAt, textOf } from '../../../model/value.ts'

const TYPE = 'storage/volumes/{volume.uuid}/snapshots'

/** The limit of the field for one volume. */
const SNAPSHOTS_MAX = 1023

export const snapshots = define(
  {
    path: '/storage/volumes/{volume.uuid}/snapshots',
    noun: 'snapshot',
    doc: 'Snapshots of a volume: what it held at an instant, object data and metadata alike.',
    key: ['uuid'],
    alsoBy: 'name',
    parent: 'volume.uuid',
    nameWithin: 'volume.uuid',
    fields: {
      uuid: { doc: 'The UUID of the snapshot.', kind: uuid() },
      name: {
        doc: 'The name of the snapshot, unique within its volume.',
        kind: name({
          charactersMax: 255,
          pattern: /^[A-Za-z0-9_.][A-Za-z0-9_.:+@-]*$/,
          patternDoc: 'letters, digits, "_", ".", ":", "+", "@" and "-"',
        }),
        set: 'create',
        required: true,
      },
      comment: { doc: 'Whatever helps to tell it apart.', kind: text({ charactersMax: 255 }), set: 'create' },
      snapmirror_label: {
        doc: 'A label that replication selects by.',
        kind: text({ charactersMax: 31 }),
        set: 'create',
      },
      create_time: { doc: 'When it was made.', kind: time() },
      state: { doc: 'Whether it can be used.', kind: oneOf('valid', 'invalid') },
      size: {
        doc: 'Bytes that it holds and neither the volume nor a later snapshot does.',
        kind: bytes(),
        since: '9.9.1',
      },
      volume: { doc: 'The volume it is of.', ref: 'storage/volumes' },
      svm: { doc: 'The SVM of the volume.', ref: 'svm/svms' },
    },
  },
  {
    derive: [
      {
        gives: ['size'],
        async from(cluster, rows) {
          const sizes = await cluster.catalog.snapshotBytes(textOf(rows[0]?.['volume.uuid']))
          return rows.map((row) => ({ size: sizes.get(textAt(row, 'uuid')) ?? 0 }))
        },
      },
    ],
    create: job({
      example: { name: 'snap_example', comment: 'before the change' },
      async plan(cluster, { draft, path }) {
        const volume = path['volume.uuid'] ?? ''
        const row = await cluster.row('storage/volumes', volume)
        if (row['state'] !== 'online') throw failures.inUse('The volume is offline.', undefined, 524479)
        if ((await cluster.keyOfName(TYPE, textAt(draft, 'name'), volume)) !== undefined) {
          throw failures.duplicate(`A snapshot named "${textAt(draft, 'name')}"`, 'name', 525059)
        }
        if ((await cluster.catalog.snapshots(volume)).length >= SNAPSHOTS_MAX) {
          throw failures.invalid(undefined, `The volume has ${SNAPSHOTS_MAX} snapshots, which is the limit.`, 525062)
        }
        const key = cluster.system.random.uuid()
        const input = {
          ...draft,
          uuid: key,
          'volume.uuid': volume,
          'svm.uuid': row['svm.uuid'] ?? '',
          create_time: cluster.now(),
          state: 'valid',
        }
        return { key, input, locks: [`volume:${volume}`] }
      },
      steps: [
        {
          name: 'take snapshot',
          async run(cluster, { key, input }) {
            if ((await cluster.find(TYPE, key)) !== undefined) return
            const volume = textAt(input, 'volume.uuid')
            // The settings of the buckets are of the same instant as their objects.
            const buckets = await cluster.rows('protocols/s3/buckets', volume)
            await cluster.commit([
              { do: 'take-snapshot', volume, snapshot: key, nowMs: Number(input['create_time']) },
              cluster.put(TYPE, { ...input, $buckets: buckets }, { expect: 'absent' }),
              cluster.event('snapshot.created', { volume, snapshot: input['name'] ?? '' }),
            ])
          },
        },
      ],
    }),
    remove: job({
      plan: (_cluster, { row }) =>
        Promise.resolve({
          key: textAt(row, 'uuid'),
          input: {
            'volume.uuid': row?.['volume.uuid'] ?? '',
            'svm.uuid': row?.['svm.uuid'] ?? '',
            name: row?.['name'] ?? '',
          },
          locks: [`volume:${textAt(row, 'volume.uuid')}`],
        }),
      steps: [
        {
          // The space only it held is given back by the housekeeping, so this takes as long at any number of objects.
          name: 'drop snapshot',
          async run(cluster, { key, input }) {
            const volume = textAt(input, 'volume.uuid')
            if ((await cluster.find(TYPE, key)) === undefined) return
            await cluster.commit([
              { do: 'drop-snapshot', volume, snapshot: key },
              { do: 'remove-record', type: TYPE, key },
              cluster.event('snapshot.deleted', { volume, snapshot: input['name'] ?? '' }),
            ])
          },
        },
      ],
    }),
  },
)
