/** Settings of volumes for file access and for snapshots that go by themselves: kept until there is either. */
import type { Derivation } from '../../../core/behaviour.ts'
import { ofRows } from '../../../core/of-rows.ts'
import { flag, type Kind, list, oneOf, only, text, time, percent } from '../../../model/kinds/index.ts'
import type { FieldDeclaration, Fields } from '../../../model/resource.ts'
import type { Row, Value } from '../../../model/value.ts'
import { usual } from '../../usual.ts'

const AUTODELETE = 'space.snapshot.autodelete'
const OBJECT_TAGS_MAX = 4

interface Kept {
  readonly doc: string
  readonly kind: Kind
  readonly since?: string
  readonly usual?: Value
}

/** What is kept of a volume, with what it is where nobody said anything. */
const KEPT: Readonly<Record<string, Kept>> = {
  access_time_enabled: {
    doc: 'Whether reading a file changes its time of access. Kept.',
    kind: flag(),
    since: '9.8',
    usual: true,
  },
  'activity_tracking.state': {
    doc: 'Whether it is to be told who is busiest. Kept: it is not.',
    kind: oneOf('off', 'on'),
    since: '9.10.1',
    usual: 'off',
  },
  granular_data: {
    doc: 'Whether large files may be spread. Kept: a volume lies in one aggregate.',
    kind: flag(),
    since: '9.11.1',
    usual: false,
  },
  'space.fractional_reserve': {
    doc: 'How much is set aside to overwrite files, in percent. Kept.',
    kind: percent({ min: 0, max: 100 }),
    since: '9.9.1',
    usual: 0,
  },
  'space.large_size_enabled': {
    doc: 'Whether it may be larger than 100 TB. Kept: it may in any case.',
    kind: flag(),
    since: '9.12.1',
    usual: false,
  },
  'tiering.object_tags': {
    doc: 'Tags of what goes to a cloud tier. Kept, as the policy.',
    kind: list(text({ charactersMax: 257 }), { elementsMax: OBJECT_TAGS_MAX }),
    since: '9.8',
  },
  [`${AUTODELETE}.enabled`]: {
    doc: 'Whether snapshots are to go when space is short. Kept: none goes.',
    kind: flag(),
    usual: false,
  },
  [`${AUTODELETE}.trigger`]: {
    doc: 'What is to be short then.',
    kind: oneOf('volume', 'snap_reserve'),
    since: '9.13.1',
    usual: 'volume',
  },
  [`${AUTODELETE}.target_free_space`]: {
    doc: 'How much is to be free again, in percent.',
    kind: percent({ min: 1, max: 100 }),
    since: '9.13.1',
    usual: 20,
  },
  [`${AUTODELETE}.delete_order`]: {
    doc: 'Which of them go first.',
    kind: oneOf('oldest_first', 'newest_first'),
    since: '9.13.1',
    usual: 'oldest_first',
  },
  [`${AUTODELETE}.defer_delete`]: {
    doc: 'Which of them go last.',
    kind: oneOf('user_created', 'scheduled', 'prefix', 'none'),
    since: '9.13.1',
    usual: 'user_created',
  },
  [`${AUTODELETE}.prefix`]: {
    doc: 'How the names begin of those that go last.',
    kind: text({ charactersMax: 15 }),
    since: '9.13.1',
    usual: '',
  },
  [`${AUTODELETE}.commitment`]: {
    doc: 'Whether those in use go, too.',
    kind: oneOf('try', 'disrupt', 'destroy'),
    since: '9.13.1',
    usual: 'try',
  },
}

export const fileSettingFields = {
  ...Object.fromEntries(
    Object.entries(KEPT).map(([path, { doc, kind, since }]): [string, FieldDeclaration] => [
      path,
      { doc, kind, set: 'always', ...(since === undefined ? {} : { since }) },
    ]),
  ),
  [`${AUTODELETE}_enabled`]: { doc: 'The same as autodelete.enabled.', kind: flag(), isExpensive: true },
  [`${AUTODELETE}_trigger`]: { doc: 'The same as autodelete.trigger.', isExpensive: true, since: '9.10.1' },
  language: {
    doc: 'The encoding of names. That of its SVM unless it is said.',
    kind: oneOf('c.utf_8', 'utf8mb4'),
    set: 'create',
  },
  snapshot_locking_enabled: {
    doc: 'Whether its snapshots are locked by a policy. They are not: give them an expiry time.',
    kind: only(false, flag(), 'policies do not lock snapshots. Give snapshots an expiry_time instead.'),
    set: 'always',
    since: '9.12.1',
  },
  is_constituent: { doc: 'Whether it is a part of another volume. None is.', kind: flag(), since: '9.10.1' },
  is_svm_root: {
    doc: 'Whether the volume is the root volume of its SVM. Always false: SVMs have no root volume.',
    kind: flag(),
    since: '9.7',
  },
  error_state: { doc: 'What is wrong with the data of the volume.', isGroup: true },
  'error_state.is_inconsistent': {
    doc: 'Whether the file system of the volume is inconsistent. Always false: each change is one commit.',
    kind: flag(),
  },
  'error_state.has_bad_blocks': {
    doc: 'Whether the volume has unreadable blocks. Always false: the file system below does not tell.',
    kind: flag(),
  },
  'snapmirror.is_protected': { doc: 'Whether it is mirrored elsewhere. It is not.', kind: flag(), since: '9.7' },
  'snapmirror.destinations.is_ontap': { doc: 'The same, to another cluster.', kind: flag(), since: '9.9.1' },
  'snapmirror.destinations.is_cloud': { doc: 'The same, to a cloud.', kind: flag(), since: '9.9.1' },
  'anti_ransomware.attack_probability': {
    doc: 'Nothing looks for ransomware, so it is not set.',
    kind: oneOf('none', 'low', 'moderate', 'high'),
    since: '9.10.1',
  },
  'anti_ransomware.dry_run_start_time': { doc: 'Not set, either.', kind: time(), since: '9.10.1' },
} as const satisfies Fields

const usually: Row = Object.fromEntries(
  Object.entries(KEPT).flatMap(([path, { usual }]) => (usual === undefined ? [] : [[path, usual]])),
)

const formerNames: Derivation = {
  gives: [`${AUTODELETE}_enabled`, `${AUTODELETE}_trigger`],
  from: (_cluster, rows) =>
    Promise.resolve(
      rows.map((row) => ({
        [`${AUTODELETE}_enabled`]: row[`${AUTODELETE}.enabled`] ?? false,
        [`${AUTODELETE}_trigger`]: row[`${AUTODELETE}.trigger`] ?? 'volume',
      })),
    ),
}

const languages = ofRows((svms) => new Map(svms.map((svm) => [svm['uuid'], svm['language'] ?? 'c.utf_8'])))

const language: Derivation = {
  gives: ['language'],
  async from(cluster, rows, once) {
    const ofSvms = await once('languages', async () => languages(await cluster.rows('svm/svms')))
    return rows.map((row) => ({ language: row['language'] ?? ofSvms.get(row['svm.uuid'] ?? '') ?? null }))
  },
}

export const fileSettingReadings: readonly Derivation[] = [
  formerNames,
  language,
  usual({
    ...usually,
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
