/** What a volume says about file access. There is none yet: these are kept, and shown as they were set. */
import type { Cluster } from '../../../core/cluster.ts'
import { failures } from '../../../model/failure.ts'
import { count, oneOf, text } from '../../../model/kinds/index.ts'
import type { FieldDeclaration } from '../../../model/resource.ts'
import { type Row, textAt, type Value } from '../../../model/value.ts'
import { exportPolicyFields, exportPolicyReading, withExportPolicy } from '../../protocols/nfs/named-export-policy.ts'

const USER_ID_MAX = 2 ** 32 - 1
const PATH_CHARACTERS_MAX = 255
const EXPORT_POLICY = 'nas.export_policy'
const PATH_TAKEN = 917736

export const nasFields: Record<string, FieldDeclaration> = {
  ...exportPolicyFields(EXPORT_POLICY, 'Who may mount it. Without one, the export policy named default of its SVM.'),
  'nas.path': {
    doc: 'Where it is to be in the tree of its SVM, such as /projects. Kept for file access. Empty: nowhere.',
    kind: text({
      charactersMax: PATH_CHARACTERS_MAX,
      pattern: /^$|^\/$|^(\/(?!\.{1,2}(\/|$))[^/\\]+)+$/,
      patternDoc: 'a path that begins with "/" and ends without, or nothing',
    }),
    set: 'always',
  },
  'nas.security_style': {
    doc: 'Whose permissions decide. Kept for file access.',
    kind: oneOf('unix', 'ntfs', 'mixed'),
    set: 'always',
  },
  'nas.unix_permissions': {
    doc: 'Permissions of its top folder, as the digits of an octal number: 755. Kept for file access.',
    kind: count({ min: 0, max: 7777 }),
    set: 'always',
  },
  'nas.uid': {
    doc: 'The number of the user who owns its top folder.',
    kind: count({ min: 0, max: USER_ID_MAX }),
    set: 'always',
  },
  'nas.gid': {
    doc: 'The number of the group of its top folder.',
    kind: count({ min: 0, max: USER_ID_MAX }),
    set: 'always',
  },
}

/** What is shown of a volume that says nothing. */
const USUAL: Row = { 'nas.security_style': 'unix', 'nas.unix_permissions': 755, 'nas.uid': 0, 'nas.gid': 0 }

export const nasReadings = [
  exportPolicyReading(EXPORT_POLICY),
  {
    gives: Object.keys(USUAL),
    from: (_cluster: Cluster, rows: readonly Row[]) =>
      Promise.resolve(
        rows.map((row) => Object.fromEntries(Object.entries(USUAL).map(([path, usual]) => [path, row[path] ?? usual]))),
      ),
  },
]

/** Fields that a clone has from its parent where its request does not say otherwise. */
export function inheritedNas(parent: Row | undefined): Row {
  return Object.fromEntries(
    [...Object.keys(USUAL), `${EXPORT_POLICY}.id`].flatMap((path): [string, Value][] => {
      const value = parent?.[path]
      return value === undefined ? [] : [[path, value]]
    }),
  )
}

/** A draft as it is kept, or why it cannot be: another volume of the SVM may have the path. */
export async function withNas(cluster: Cluster, row: Row, draft: Row): Promise<Row> {
  const svm = textAt(row, 'svm.uuid')
  if (/[89]/.test(textAt(draft, 'nas.unix_permissions'))) {
    throw failures.badValue('nas.unix_permissions', 'it takes the digits of an octal number, such as 755.')
  }
  const path = textAt(draft, 'nas.path')
  if (path !== '') {
    const other = (await cluster.rows('storage/volumes', svm)).find(
      (volume) => volume['nas.path'] === path && volume['uuid'] !== row['uuid'],
    )
    if (other !== undefined) {
      throw failures.invalid('nas.path', `The volume "${textAt(other, 'name')}" has this path.`, PATH_TAKEN)
    }
  }
  const unmounted = draft['nas.path'] === '' ? { 'nas.path': null } : {}
  return { ...(await withExportPolicy(cluster, draft, EXPORT_POLICY, svm)), ...unmounted }
}
