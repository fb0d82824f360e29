import { type Behaviour, define } from '../../../../core/behaviour.ts'
import { plainVerbs } from '../../../../core/plain.ts'
import { list, oneOf } from '../../../../model/kinds/index.ts'
import { resource } from '../../../../model/resource.ts'
import { failure } from '../../../../model/failure.ts'
import { accountName } from '../local-accounts.ts'
import { insistOnCifs } from '../services.ts'

export const CIFS_PRIVILEGES = 'protocols/cifs/users-and-groups/privileges'

/** Accounts of one server that have some. */
const ACCOUNTS_MAX = 10_000

const plain = plainVerbs(CIFS_PRIVILEGES, {
  example: { name: 'bernd', 'svm.name': 'svm1', privileges: ['sebackupprivilege'] },
  async check(cluster, row) {
    await insistOnCifs(cluster, row)
    const others = await cluster.rows(CIFS_PRIVILEGES, row['svm.uuid'])
    if (others.length >= ACCOUNTS_MAX && !others.some((other) => other['name'] === row['name'])) {
      throw failure('cifsPrivilegeLimit', { max: ACCOUNTS_MAX })
    }
    return row
  },
})

const cifsPrivilegesResource = resource({
  path: `/${CIFS_PRIVILEGES}`,
  noun: 'set of privileges',
  doc: 'Privileges of users and groups on CIFS servers. Stored without effect: nobody can log in yet.',
  since: '9.10.1',
  key: ['svm.uuid', 'name'],
  recordKey: ['svm.uuid', 'name'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  fields: {
    svm: { doc: 'The SVM of the CIFS server.', ref: 'svm/svms', set: 'create', required: true },
    name: { doc: 'The name of the user or group.', kind: accountName(256), set: 'create', required: true },
    privileges: {
      doc: 'The privileges of the user or group. An empty list removes all privileges.',
      kind: list(
        oneOf({
          setcbprivilege: 'Act as part of the operating system.',
          sebackupprivilege: 'Back up files, whatever their permissions.',
          serestoreprivilege: 'Restore files, whatever their permissions.',
          setakeownershipprivilege: 'Take ownership of files.',
          sesecurityprivilege: 'Manage auditing and the security log.',
          sechangenotifyprivilege: 'Pass through folders, whatever their permissions.',
        }),
        { elementsMax: 16 },
      ),
      set: 'always',
      required: true,
    },
  },
})

export const cifsPrivileges: Behaviour<typeof cifsPrivilegesResource> = define(
  cifsPrivilegesResource, // There is no DELETE: whoever has none of them has an empty list.
  { create: plain.create, modify: plain.modify },
)
