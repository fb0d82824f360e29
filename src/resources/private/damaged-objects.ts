import { define } from '../../core/behaviour.ts'
import { DAMAGE, DAMAGE_RECORDS_MAX } from '../../core/damage.ts'
import { inline } from '../../core/verb.ts'
import { oneOf, text, time, uuid } from '../../model/kinds/index.ts'
import { textAt } from '../../model/value.ts'

export const damagedObjects = define(
  {
    path: '/private/damaged-objects',
    noun: 'damaged object',
    doc: `Stored objects whose bytes are damaged, and files that no object needs, found by reads and scrubs. At most ${DAMAGE_RECORDS_MAX} are listed. A record goes when the object is repaired, replaced or deleted.`,
    key: ['uuid'],
    parent: 'volume.uuid',
    nameWithin: false,
    order: [{ path: 'found_time', isDescending: false }],
    fields: {
      uuid: { doc: 'The UUID of the record.', kind: uuid() },
      kind: {
        doc: 'How it is damaged. `flipped`: a checksum does not fit. `truncated`: the end of the file is not there. `missing`: the file is not there. `misplaced`: the file is that of another object or an older copy. `unreadable`: the disk fails to read it. `unknown`: a file that no object needs. `duplicate`: a file whose object has its bytes in another place.',
        kind: oneOf('flipped', 'truncated', 'missing', 'misplaced', 'unreadable', 'unknown', 'duplicate'),
      },
      found_by: { doc: 'Whether a read of the object or a scrub found the damage.', kind: oneOf('read', 'scrub') },
      found_time: { doc: 'When the damage was found.', kind: time() },
      aggregate: { doc: 'The aggregate that the file is in.', ref: 'storage/aggregates' },
      volume: { doc: 'The volume that the file is in.', ref: 'storage/volumes' },
      svm: { doc: 'The SVM of the volume.', ref: 'svm/svms' },
      bucket: { doc: 'The bucket of the object.', ref: 'protocols/s3/buckets' },
      key: { doc: 'The key of the object. An object that was copied may have more keys; one is named.', kind: text() },
      version: { doc: 'The version of the object.', kind: text() },
      blob: { doc: 'The name by which the catalog knows the bytes.', kind: text() },
      file: { doc: 'The path of the file.', kind: text() },
      message: { doc: 'What the read or the scrub met.', kind: text() },
    },
  },
  {
    remove: inline({
      plan: (_cluster, { row }) => Promise.resolve({ key: textAt(row, 'uuid'), input: { ...row } }),
      step: {
        name: 'forget',
        run: async (cluster, { key }) => {
          await cluster.commit([{ do: 'remove-record', type: DAMAGE, key }])
        },
      },
    }),
  },
)
