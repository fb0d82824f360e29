import { type Behaviour, define } from '../../../core/behaviour.ts'
import { listedNames } from '../../../core/listed-names.ts'
import { text } from '../../../model/kinds/index.ts'
import { groups, resource } from '../../../model/resource.ts'
import { UNIX_GROUPS } from '../unix-groups.ts'
import { nameKind } from '../unix-names.ts'

/** Users of one group. */
const USERS_MAX = 1000

const unixGroupUsersResource = resource({
  path: `/${UNIX_GROUPS}/{svm.uuid}/{unix_group.name}/users`,
  noun: 'user of the UNIX group',
  doc: 'Users in a UNIX group. The field `users` of the group shows them too. The users need not exist.',
  since: '9.9.1',
  key: ['name'],
  recordKey: ['svm.uuid', 'unix_group.name', 'name'],
  rowsOf: UNIX_GROUPS,
  nameWithin: false,
  fields: {
    ...groups({ unix_group: 'The UNIX group that the user is a member of.' }),
    svm: { doc: 'The SVM of the group.', ref: 'svm/svms' },
    'unix_group.name': { doc: 'The name of the group.', kind: text() },
    name: { doc: 'The name of the user.', kind: nameKind(), set: 'create', required: true },
  },
})

export const unixGroupUsers: Behaviour<typeof unixGroupUsersResource> = define(
  unixGroupUsersResource,
  listedNames({
    type: UNIX_GROUPS,
    list: 'users',
    pathKeys: ['svm.uuid', 'unix_group.name'],
    noun: 'user of the UNIX group',
    max: USERS_MAX,
    example: { name: 'anna' },
  }),
)
