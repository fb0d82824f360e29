import { type Behaviour, define } from '../../../core/behaviour.ts'
import { flag, oneOf, text, percent } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { spaceOf } from './space.ts'

const plexesResource = resource({
  path: '/storage/aggregates/{aggregate.uuid}/plexes',
  noun: 'plex',
  doc: 'The copies that an aggregate keeps of itself. Aggregates are not mirrored, so each has one: its folder.',
  key: ['name'],
  nameWithin: false,
  fields: {
    aggregate: { doc: 'The aggregate that the plex is a copy of.', ref: 'storage/aggregates' },
    name: { doc: 'The name of the plex. Always `plex0`.', kind: text() },
    state: {
      doc: 'Whether the folder of the aggregate is there: `normal`, or `failed`.',
      kind: oneOf({
        normal: 'The folder of the aggregate is there.',
        failed: 'The folder of the aggregate is missing.',
      }),
    },
    online: { doc: 'Whether the data of the plex can be reached.', kind: flag() },
    pool: { doc: 'The pool that the disks of the plex are of. Always `pool0`.', kind: text() },
    resync: { doc: 'How the plex is brought up to date.', isGroup: true },
    'resync.active': { doc: 'Whether the plex is being brought up to date. Always false.', kind: flag() },
    'resync.percent': {
      doc: 'How far the plex is up to date, in percent. Not set while none is resynchronized.',
      kind: percent(),
    },
    'resync.level': { doc: 'The extent of the resynchronization. Not set while there is none.', kind: text() },
    raid_groups: { doc: 'The RAID groups of the plex. There are none.', isGroup: true },
    'raid_groups.name': {
      doc: 'The name of a RAID group of the plex. Not set: redundancy is left to the disk below.',
      kind: text(),
    },
  },
})

export const plexes: Behaviour<typeof plexesResource> = define(plexesResource, {
  async rows(cluster, path) {
    const aggregate = path['aggregate.uuid'] ?? ''
    const { isThere } = await spaceOf(cluster, aggregate)
    return [
      {
        'aggregate.uuid': aggregate,
        name: 'plex0',
        state: isThere ? 'normal' : 'failed',
        online: isThere,
        pool: 'pool0',
        'resync.active': false,
      },
    ]
  },
})
