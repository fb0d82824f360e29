import { type Behaviour, define } from '../../core/behaviour.ts'
import { DAMAGE, DAMAGE_RECORDS_MAX } from '../../storage/damage.ts'
import { inline } from '../../core/verb.ts'
import { oneOf, text, time, uuid } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'

const damagedObjectsResource = resource({
  path: '/private/damaged-objects',
  noun: 'damaged object',
  doc: `Stored objects whose bytes are damaged, and files that no object needs, found by reads, scrubs and the compaction of small objects. At most ${DAMAGE_RECORDS_MAX} are listed. A record is removed when the object is repaired, replaced or deleted.`,
  key: ['uuid'],
  parent: 'volume.uuid',
  nameWithin: false,
  order: [{ path: 'found_time', isDescending: false }],
  columns: ['kind', 'bucket.name', 'key', 'volume.name', 'found_time', 'found_by'],
  fields: {
    uuid: { doc: 'The UUID of the record.', kind: uuid() },
    kind: {
      isAlwaysSet: true,
      doc: 'The kind of damage.',
      kind: oneOf({
        flipped: 'A checksum of the file does not match.',
        truncated: 'The end of the file is missing.',
        missing: 'The file does not exist.',
        misplaced: 'The file belongs to another object, or is an older copy.',
        unreadable: 'The disk cannot read the file.',
        unknown: 'No object needs the file, or the damaged bytes in it.',
        duplicate: 'The object of the file has its bytes in another file.',
      }),
    },
    found_by: {
      isAlwaysSet: true,
      doc: 'The operation that found the damage.',
      kind: oneOf({ read: 'A read of the object.', scrub: 'A scrub.', compaction: 'The compaction of small objects.' }),
    },
    found_time: { isAlwaysSet: true, doc: 'When the damage was found.', kind: time() },
    aggregate: { isAlwaysSet: true, doc: 'The aggregate of the damaged file.', ref: 'storage/aggregates' },
    volume: { isAlwaysSet: true, doc: 'The volume of the damaged file.', ref: 'storage/volumes' },
    svm: { isAlwaysSet: true, doc: 'The SVM of the volume with the damaged file.', ref: 'svm/svms' },
    bucket: { doc: 'The bucket of the damaged object.', ref: 'protocols/s3/buckets' },
    key: {
      doc: 'The key of the damaged object. Copies may share its bytes under other keys; only one key is shown.',
      kind: text(),
    },
    version: { doc: 'The version ID of the damaged object.', kind: text() },
    blob: { isAlwaysSet: true, doc: 'The internal name of the damaged bytes in the catalog.', kind: text() },
    file: { isAlwaysSet: true, doc: 'The path of the damaged file on the machine.', kind: text() },
    message: {
      isAlwaysSet: true,
      doc: 'The error that the read, the scrub or the compaction got for the file.',
      kind: text(),
    },
  },
})

export const damagedObjects: Behaviour<typeof damagedObjectsResource> = define(damagedObjectsResource, {
  remove: inline({
    plan: (_cluster, { row }) => Promise.resolve({ key: row['uuid'], input: { ...row } }),
    step: {
      name: 'forget',
      run: async (cluster, { key }) => {
        await cluster.commit([{ do: 'remove-record', type: DAMAGE, key }])
      },
    },
  }),
})
