/** Settings of volumes for file access and for snapshots that go by themselves: kept until there is either. */
import type { Derivation } from '../../../core/behaviour.ts'
import { ofRows } from '../../../core/read/of-rows.ts'
import { flag, type Kind, list, oneOf, only, text, time, percent } from '../../../model/kinds/index.ts'
import type { FieldDeclaration, Fields } from '../../../model/resource.ts'
import type { Row, Value } from '../../../model/value.ts'
import { usual, usualOf } from '../../usual.ts'
import type { Svm, Volume } from '../../../records/rows.ts'

const AUTODELETE = 'space.snapshot.autodelete'
const OBJECT_TAGS_MAX = 4

interface Kept {
  readonly doc: string
  readonly kind: Kind
  readonly since?: string
  readonly usual?: Value
}

/** What is kept of a volume, with what it is where nobody said anything. */
const KEPT = {
  access_time_enabled: {
    doc: 'Whether reading a file updates its access time. Stored without effect.',
    kind: flag(),
    since: '9.8',
    usual: true,
  },
  'activity_tracking.state': {
    doc: 'Whether the busiest clients and files are tracked. Stored without effect.',
    kind: oneOf({ off: 'Activity is not tracked.', on: 'Activity is to be tracked.' }),
    since: '9.10.1',
    usual: 'off',
  },
  granular_data: {
    doc: 'Whether large files may be spread over aggregates. Stored without effect: a volume lies in one aggregate.',
    kind: flag(),
    since: '9.11.1',
    usual: false,
  },
  'space.fractional_reserve': {
    doc: 'The space reserved to overwrite files, in percent. Stored without effect.',
    kind: percent({ min: 0, max: 100 }),
    since: '9.9.1',
    usual: 0,
  },
  'space.large_size_enabled': {
    doc: 'Whether the volume may be larger than 100 TB. Stored without effect: every volume may be.',
    kind: flag(),
    since: '9.12.1',
    usual: false,
  },
  'tiering.object_tags': {
    doc: 'The tags of objects that are tiered to a cloud store. Stored without effect: there is no cloud tier.',
    kind: list(text({ charactersMax: 257 }), { elementsMax: OBJECT_TAGS_MAX }),
    since: '9.8',
  },
  [`${AUTODELETE}.enabled`]: {
    doc: 'Whether snapshots are deleted automatically when space is short. Stored without effect: no snapshot is deleted.',
    kind: flag(),
    usual: false,
  },
  [`${AUTODELETE}.trigger`]: {
    doc: 'Which shortage of space starts the automatic deletion of snapshots. Stored without effect.',
    kind: oneOf({ volume: 'The volume is nearly full.', snap_reserve: 'The snapshot reserve is nearly full.' }),
    since: '9.13.1',
    usual: 'volume',
  },
  [`${AUTODELETE}.target_free_space`]: {
    doc: 'The free space at which the automatic deletion of snapshots stops, in percent. Stored without effect.',
    kind: percent({ min: 1, max: 100 }),
    since: '9.13.1',
    usual: 20,
  },
  [`${AUTODELETE}.delete_order`]: {
    doc: 'Which snapshots are deleted first automatically. Stored without effect.',
    kind: oneOf({ oldest_first: 'The oldest snapshots.', newest_first: 'The newest snapshots.' }),
    since: '9.13.1',
    usual: 'oldest_first',
  },
  [`${AUTODELETE}.defer_delete`]: {
    doc: 'Which snapshots are deleted last automatically. Stored without effect.',
    kind: oneOf({
      user_created: 'Snapshots that users created.',
      scheduled: 'Snapshots that schedules created.',
      prefix: 'Snapshots whose names begin with the prefix.',
      none: 'No kind of snapshot is preferred.',
    }),
    since: '9.13.1',
    usual: 'user_created',
  },
  [`${AUTODELETE}.prefix`]: {
    doc: 'The prefix of the names of snapshots that are deleted last automatically. Stored without effect.',
    kind: text({ charactersMax: 15 }),
    since: '9.13.1',
    usual: '',
  },
  [`${AUTODELETE}.commitment`]: {
    doc: 'Which snapshots in use may be deleted automatically. Stored without effect.',
    kind: oneOf({
      try: 'Only snapshots that nothing uses.',
      disrupt: 'Snapshots that transfers use, too.',
      destroy: 'Snapshots that back clones and LUNs, too.',
    }),
    since: '9.13.1',
    usual: 'try',
  },
} as const satisfies Readonly<Record<string, Kept>>

type KeptFields = {
  readonly [Path in keyof typeof KEPT]: Omit<(typeof KEPT)[Path], 'usual'> & { readonly set: 'always' }
}

// Of what is made of all of them, TypeScript knows no path.
const keptFields = Object.fromEntries(
  Object.entries<Kept>(KEPT).map(([path, { doc, kind, since }]): [string, FieldDeclaration] => [
    path,
    { doc, kind, set: 'always', ...(since === undefined ? {} : { since }) },
  ]),
) as KeptFields

export const fileSettingFields = {
  ...keptFields,
  [`${AUTODELETE}_enabled`]: {
    doc: 'Whether snapshots are deleted automatically when space is short. Equal to `space.snapshot.autodelete.enabled`.',
    kind: flag(),
    isExpensive: true,
  },
  [`${AUTODELETE}_trigger`]: {
    doc: 'Which shortage of space starts the automatic deletion of snapshots. Equal to `space.snapshot.autodelete.trigger`.',
    isExpensive: true,
    since: '9.10.1',
  },
  language: {
    doc: 'The character encoding of file names. Default: the encoding of the SVM.',
    kind: oneOf({
      'c.utf_8': 'UTF-8 with characters of up to three bytes.',
      utf8mb4: 'UTF-8 with characters of up to four bytes.',
    }),
    set: 'create',
  },
  snapshot_locking_enabled: {
    doc: 'Whether a policy can lock snapshots. Always false: set an expiry time on snapshots instead.',
    kind: only(false, flag(), 'policies do not lock snapshots. Give snapshots an expiry_time instead.'),
    set: 'always',
    since: '9.12.1',
  },
  is_constituent: {
    doc: 'Whether the volume is a constituent of another volume. Always false.',
    kind: flag(),
    since: '9.10.1',
  },
  is_svm_root: {
    doc: 'Whether the volume is the root volume of its SVM. Always false: SVMs have no root volume.',
    kind: flag(),
    since: '9.7',
  },
  error_state: { doc: 'Errors in the data of the volume.', isGroup: true },
  'error_state.is_inconsistent': {
    doc: 'Whether the file system of the volume is inconsistent. Always false: each change is one commit.',
    kind: flag(),
  },
  'error_state.has_bad_blocks': {
    doc: 'Whether the volume has unreadable blocks. Always false: the file system below does not report them.',
    kind: flag(),
  },
  'snapmirror.is_protected': { doc: 'Whether the volume is replicated. Always false.', kind: flag(), since: '9.7' },
  'snapmirror.destinations.is_ontap': {
    doc: 'Whether the volume is replicated to another cluster. Always false.',
    kind: flag(),
    since: '9.9.1',
  },
  'snapmirror.destinations.is_cloud': {
    doc: 'Whether the volume is replicated to a cloud store. Always false.',
    kind: flag(),
    since: '9.9.1',
  },
  'anti_ransomware.attack_probability': {
    doc: 'The probability of a ransomware attack on the volume. Not set, as nothing detects ransomware.',
    kind: oneOf({
      none: 'No sign of an attack.',
      low: 'A few signs of an attack.',
      moderate: 'Several signs of an attack.',
      high: 'An attack is likely.',
    }),
    since: '9.10.1',
  },
  'anti_ransomware.dry_run_start_time': {
    doc: 'When the learning period of ransomware detection began. Not set, as nothing detects ransomware.',
    kind: time(),
    since: '9.10.1',
  },
} as const satisfies Fields

const usually: Row = Object.fromEntries(
  Object.entries<Kept>(KEPT).flatMap(([path, { usual }]) => (usual === undefined ? [] : [[path, usual]])),
)

const formerNames: Derivation<Volume> = {
  gives: [`${AUTODELETE}_enabled`, `${AUTODELETE}_trigger`],
  from: (_cluster, rows) =>
    Promise.resolve(
      rows.map((row) => ({
        [`${AUTODELETE}_enabled`]: row[`${AUTODELETE}.enabled`] ?? false,
        [`${AUTODELETE}_trigger`]: row[`${AUTODELETE}.trigger`] ?? 'volume',
      })),
    ),
}

const languages = ofRows(
  (svms: readonly Svm[]) => new Map(svms.map((svm) => [svm['uuid'], svm['language'] ?? 'c.utf_8'])),
)

const language: Derivation<Volume> = {
  gives: ['language'],
  async from(cluster, rows, once) {
    const ofSvms = await once('languages', async () => languages(await cluster.rows('svm/svms')))
    return rows.map((row) => ({ language: row['language'] ?? ofSvms.get(row['svm.uuid'] ?? '') ?? null }))
  },
}

export const fileSettingReadings: readonly Derivation<Volume>[] = [
  formerNames,
  language,
  usualOf(usually),
  usual({
    snapshot_locking_enabled: false,
    is_constituent: false,
    is_svm_root: false,
    'error_state.is_inconsistent': false,
    'error_state.has_bad_blocks': false,
    'snapmirror.is_protected': false,
    'snapmirror.destinations.is_ontap': false,
    'snapmirror.destinations.is_cloud': false,
  }),
]
