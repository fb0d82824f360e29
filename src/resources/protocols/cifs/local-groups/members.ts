import { type Behaviour, define } from '../../../../core/behaviour.ts'
import { listedNames } from '../../../../core/listed-names.ts'
import { text } from '../../../../model/kinds/index.ts'
import { groups, resource } from '../../../../model/resource.ts'
import { accountName, LOCAL_GROUPS } from '../local-accounts.ts'
import { MEMBER_CHARACTERS_MAX } from '../local-groups.ts'

/** Members of one group. */
const MEMBERS_MAX = 1000

const localGroupMembersResource = resource({
  path: `/${LOCAL_GROUPS}/{svm.uuid}/{local_cifs_group.sid}/members`,
  noun: 'member of the local CIFS group',
  doc: 'Members of a local group: local users and domain accounts. The field `members` of the group shows them too.',
  since: '9.10.1',
  key: ['name'],
  recordKey: ['svm.uuid', 'local_cifs_group.sid', 'name'],
  rowsOf: LOCAL_GROUPS,
  nameWithin: false,
  fields: {
    ...groups({ local_cifs_group: 'The local group that has the member.' }),
    svm: { doc: 'The SVM of the group.', ref: 'svm/svms' },
    'local_cifs_group.sid': { doc: 'The Windows security identifier (SID) of the group.', kind: text() },
    name: { doc: 'The name of the member.', kind: accountName(MEMBER_CHARACTERS_MAX), set: 'create', required: true },
  },
})

export const localGroupMembers: Behaviour<typeof localGroupMembersResource> = define(
  localGroupMembersResource,
  listedNames({
    type: LOCAL_GROUPS,
    list: 'members',
    pathKeys: ['svm.uuid', 'local_cifs_group.sid'],
    noun: 'member of the local CIFS group',
    max: MEMBERS_MAX,
    example: { name: 'anna' },
  }),
)
