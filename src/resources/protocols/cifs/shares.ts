import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { plainVerbs } from '../../../core/plain.ts'
import { failures } from '../../../model/failure.ts'
import { count, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { completeDraft } from '../../../model/shape.ts'
import { type Row, textAt } from '../../../model/value.ts'
import type { Change } from '../../../ports/catalog.ts'
import { choice, never, NOTHING_ENCRYPTED, on } from '../setting.ts'
import { insistOnCifs } from './services.ts'
import { aclsKind, EVERYONE, settledAcls } from './shares/acl-list.ts'

export const CIFS_SHARES = 'protocols/cifs/shares'

/** Shares of an SVM. */
const SHARES_MAX = 10_000

const plain = plainVerbs(CIFS_SHARES, {
  example: { name: 'share_example', 'svm.name': 'svm1', path: '/vol1' },
  unique: folded,
  check: settledShare,
})

// Clients of SMB do not tell A from a.
function folded(row: Row): Readonly<Record<string, string>> {
  return { [`${CIFS_SHARES}:folded`]: `${textAt(row, 'svm.uuid')}/${textAt(row, 'name').toLowerCase()}` }
}

async function settledShare(cluster: Cluster, row: Row): Promise<Row> {
  await insistOnCifs(cluster, row)
  const relative = /%[wdu]|^[^/]/i
  if (row['home_directory'] !== true && relative.test(textAt(row, 'path'))) {
    throw failures.invalid(
      'path',
      'The path of a share begins with "/"; that of home directories alone may not.',
      BAD_PATH,
    )
  }
  return { ...row, acls: settledAcls((row['acls'] ?? [EVERYONE]) as readonly Row[]) }
}

/** The change that makes a share, as a request with these fields would. */
export async function newShare(cluster: Cluster, draft: Row): Promise<Change> {
  const row = await settledShare(cluster, completeDraft(cluster.registry.resource(CIFS_SHARES), draft))
  return cluster.put(CIFS_SHARES, row, { expect: 'absent', unique: folded(row) })
}

const BAD_PATH = 655577

/** The volume whose path is the longest that the path of the share begins with. */
const sharedVolume: Derivation = {
  gives: ['volume'],
  async from(cluster, rows, once) {
    const mounted = await once('mounted volumes', async () =>
      (await cluster.rows('storage/volumes')).filter((volume) => textAt(volume, 'nas.path') !== ''),
    )
    return rows.map((row): Row => {
      const path = `${textAt(row, 'path')}/`
      const [volume] = mounted
        .filter((one) => one['svm.uuid'] === row['svm.uuid'] && path.startsWith(`${textAt(one, 'nas.path')}/`))
        .toSorted((a, b) => textAt(b, 'nas.path').length - textAt(a, 'nas.path').length)
      return volume === undefined
        ? {}
        : { 'volume.uuid': volume['uuid'] ?? null, 'volume.name': volume['name'] ?? null }
    })
  },
}

const cifsSharesResource = resource({
  path: `/${CIFS_SHARES}`,
  noun: 'CIFS share',
  doc: 'Shares of CIFS servers, with who may do what through them. They are records: no files are served yet.',
  key: ['svm.uuid', 'name'],
  recordKey: ['svm.uuid', 'name'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: ['name', 'svm.name', 'path', 'volume.name', 'comment'],
  form: { Share: ['name', 'svm.name', 'path', 'comment', 'acls'] },
  removal: 'undoable',
  fields: {
    svm: { doc: 'The SVM whose share it is.', ref: 'svm/svms', set: 'create', required: true },
    name: {
      doc: 'The name of the share, unique within its SVM whatever the case of its letters.',
      kind: text({
        charactersMin: 1,
        charactersMax: 80,
        pattern: /^[^"/\\[\]:|<>+=;,*?]+$/,
        patternDoc: 'anything without " / \\ [ ] : | < > + = ; , * ?',
      }),
      set: 'create',
      required: true,
    },
    path: {
      doc: 'What is shared: a path in the tree of the SVM.',
      kind: text({ charactersMin: 1, charactersMax: 256 }),
      set: 'always',
      required: true,
    },
    volume: { doc: 'The volume that the path leads into.', ref: 'storage/volumes' },
    comment: { doc: 'What clients read about it.', kind: text({ charactersMax: 256 }), set: 'always' },
    acls: { doc: 'Who may do what through it. Without it, everyone everything.', kind: aclsKind(), set: 'always' },
    unix_symlink: choice('What becomes of symbolic links.', ['local', 'widelink', 'disable']),
    access_based_enumeration: on('Folders show only what may be read.', false),
    change_notify: on('Clients may ask to be told of changes.', true),
    encryption: never('Clients must encrypt what they send.', NOTHING_ENCRYPTED),
    home_directory: on('Its path depends on who asks.', false),
    oplocks: on('Clients may hold files.', true),
    no_strict_security: on('Links may lead out of the share.', false, '9.9.1'),
    continuously_available: on('Files stay open when the cluster restarts.', false, '9.10.1'),
    show_snapshot: on('The folder of snapshots is shown.', true, '9.10.1'),
    namespace_caching: on('Clients may keep lists of folders.', false, '9.10.1'),
    allow_unencrypted_access: on('Clients that cannot encrypt may come too.', false, '9.11.1'),
    offline_files: choice('What clients may keep.', ['manual', 'none', 'documents', 'programs'], '9.10.1'),
    vscan_profile: choice(
      'When files are looked at for viruses.',
      ['standard', 'no_scan', 'strict', 'writes_only'],
      '9.10.1',
    ),
    dir_umask: {
      doc: 'Permissions that new folders do not get, as octal digits.',
      kind: octal(),
      set: 'always',
      since: '9.10.1',
    },
    file_umask: {
      doc: 'Permissions that new files do not get, as octal digits.',
      kind: octal(),
      set: 'always',
      since: '9.10.1',
    },
    force_group_for_create: {
      doc: 'The group of all that is made through it.',
      kind: text({ charactersMax: 256 }),
      set: 'always',
      since: '9.10.1',
    },
    browsable: on('Whether it is in the list of shares.', true, '9.13.1'),
    show_previous_versions: on('Snapshots are shown as previous versions.', true, '9.13.1'),
  },
})

export const cifsShares: Behaviour<typeof cifsSharesResource> = define(cifsSharesResource, {
  derive: [sharedVolume],
  ...plain,
  create: {
    ...plain.create,
    async plan(cluster, request) {
      if ((await cluster.rows(CIFS_SHARES, textAt(request.draft, 'svm.uuid'))).length >= SHARES_MAX) {
        throw failures.invalid(undefined, `The SVM has ${SHARES_MAX} shares, which is the limit.`)
      }
      return plain.create.plan(cluster, request)
    },
  },
})

function octal() {
  return count({ min: 0, max: 777 })
}
