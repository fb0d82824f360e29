import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { plainVerbs } from '../../../core/plain.ts'
import { failure } from '../../../model/failure.ts'
import { count, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { namesBy } from '../../../model/naming.ts'
import { completeDraft } from '../../../model/shape.ts'
import type { Change } from '../../../ports/catalog.ts'
import { choice, never, NOTHING_ENCRYPTED, on } from '../setting.ts'
import { insistOnCifs } from './services.ts'
import { aclsKind, EVERYONE, settledAcls } from './shares/acl-list.ts'
import type { DraftOf, NewOf, RowOf } from '../../../model/rows.ts'

export const CIFS_SHARES = 'protocols/cifs/shares'

/** Shares of an SVM. */
const SHARES_MAX = 10_000

const plain = plainVerbs(CIFS_SHARES, {
  example: { name: 'share_example', 'svm.name': 'svm1', path: '/vol1' },
  unique: folded,
  check: settledShare,
})

// Clients of SMB do not tell A from a.
function folded(row: NewOf<typeof CIFS_SHARES>): Readonly<Record<string, string>> {
  return { [`${CIFS_SHARES}:folded`]: `${row['svm.uuid']}/${row['name'].toLowerCase()}` }
}

async function settledShare(cluster: Cluster, row: NewOf<typeof CIFS_SHARES>): Promise<NewOf<typeof CIFS_SHARES>> {
  await insistOnCifs(cluster, row)
  const relative = /%[wdu]|^[^/]/i
  if (row['home_directory'] !== true && relative.test(row['path'])) {
    throw failure('sharePathMalformed')
  }
  return { ...row, acls: settledAcls(row['acls'] ?? [EVERYONE]) }
}

/** The change that makes a share, as a request with these fields would. */
export async function newShare(cluster: Cluster, draft: NewOf<typeof CIFS_SHARES>): Promise<Change> {
  const row = await settledShare(cluster, completeDraft(cluster.registry.resource(CIFS_SHARES), draft))
  return cluster.put(CIFS_SHARES, row, { expect: 'absent', unique: folded(row) })
}

/** The volume whose path is the longest that the path of the share begins with. */
const sharedVolume: Derivation<RowOf<'protocols/cifs/shares'>> = {
  gives: ['volume'],
  async from(cluster, rows, once) {
    const mounted = await once('mounted volumes', async () =>
      (await cluster.rows('storage/volumes')).filter((volume) => (volume['nas.path'] ?? '') !== ''),
    )
    return rows.map((row): DraftOf<typeof CIFS_SHARES> => {
      const path = `${row['path']}/`
      const [volume] = mounted
        .filter((one) => one['svm.uuid'] === row['svm.uuid'] && path.startsWith(`${one['nas.path'] ?? ''}/`))
        .toSorted((a, b) => (b['nas.path'] ?? '').length - (a['nas.path'] ?? '').length)
      return volume === undefined ? {} : { 'volume.uuid': volume['uuid'], 'volume.name': volume['name'] }
    })
  },
}

const cifsSharesResource = resource({
  path: `/${CIFS_SHARES}`,
  noun: 'CIFS share',
  doc: 'Shares of CIFS servers. Stored without effect: files are not served yet.',
  key: ['svm.uuid', 'name'],
  recordKey: ['svm.uuid', 'name'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: ['name', 'svm.name', 'path', 'volume.name', 'comment'],
  form: { Share: ['name', 'svm.name', 'path', 'comment', 'acls'] },
  removal: 'undoable',
  within: { server: namesBy('protocols/cifs/services', 'blocks', 'svm.uuid') },
  fields: {
    svm: { doc: 'The SVM of the share.', ref: 'svm/svms', set: 'create', required: true },
    name: {
      doc: 'The name of the share, unique within its SVM regardless of case.',
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
      doc: 'The shared path in the SVM.',
      kind: text({ charactersMin: 1, charactersMax: 256 }),
      set: 'always',
      required: true,
    },
    volume: { doc: 'The volume of the shared path.', ref: 'storage/volumes' },
    comment: {
      doc: 'A comment that clients see in the list of shares.',
      kind: text({ charactersMax: 256 }),
      set: 'always',
    },
    acls: {
      doc: 'The access control list of the share. Default: everyone has full control.',
      kind: aclsKind(),
      set: 'always',
    },
    unix_symlink: choice('How symbolic links are handled.', {
      local: 'Links within the share are followed.',
      widelink: 'Links to other shares are followed, too.',
      disable: 'Links are not followed.',
    }),
    access_based_enumeration: on('Whether folders list only entries that the user may read.', false),
    change_notify: on('Whether clients can be notified of changes.', true),
    encryption: never('Whether clients must encrypt requests.', NOTHING_ENCRYPTED),
    home_directory: on('Whether the path of the share depends on the user.', false),
    oplocks: on('Whether opportunistic locks are enabled.', true),
    no_strict_security: on('Whether symbolic links may lead out of the share.', false, '9.9.1'),
    continuously_available: on('Whether files stay open when the cluster restarts.', false, '9.10.1'),
    show_snapshot: on('Whether clients see the snapshot folder.', true, '9.10.1'),
    namespace_caching: on('Whether clients may cache listings of folders.', false, '9.10.1'),
    allow_unencrypted_access: on('Whether clients without encryption may connect.', false, '9.11.1'),
    offline_files: choice(
      'Which files clients may cache offline.',
      {
        manual: 'Files that users choose.',
        none: 'No files.',
        documents: 'Files that users open.',
        programs: 'Programs and files that users open.',
      },
      '9.10.1',
    ),
    vscan_profile: choice(
      'When files are scanned for viruses.',
      {
        standard: 'When files are opened, closed or renamed.',
        no_scan: 'Never.',
        strict: 'When files are opened, read, closed or renamed.',
        writes_only: 'When changed files are closed.',
      },
      '9.10.1',
    ),
    dir_umask: {
      doc: 'The permissions that new folders do not get, as octal digits.',
      kind: octal(),
      set: 'always',
      since: '9.10.1',
    },
    file_umask: {
      doc: 'The permissions that new files do not get, as octal digits.',
      kind: octal(),
      set: 'always',
      since: '9.10.1',
    },
    force_group_for_create: {
      doc: 'The UNIX group of files created through the share.',
      kind: text({ charactersMax: 256 }),
      set: 'always',
      since: '9.10.1',
    },
    browsable: on('Whether the share is in the list of shares.', true, '9.13.1'),
    show_previous_versions: on('Whether snapshots are shown as previous versions.', true, '9.13.1'),
  },
})

export const cifsShares: Behaviour<typeof cifsSharesResource> = define(cifsSharesResource, {
  derive: [sharedVolume],
  ...plain,
  create: {
    ...plain.create,
    async plan(cluster, request) {
      if ((await cluster.rows(CIFS_SHARES, request.draft['svm.uuid'])).length >= SHARES_MAX) {
        throw failure('shareLimitReached', { max: SHARES_MAX })
      }
      return plain.create.plan(cluster, request)
    },
  },
})

function octal() {
  return count({ min: 0, max: 777 })
}
