import { type Behaviour, define } from '../../../core/behaviour.ts'
import { plainCreate, plainModify, plainRemove } from '../../../core/plain.ts'
import { each, text } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { accountName, LOCAL_GROUPS, sidLock, withSid } from './local-accounts.ts'

export const MEMBER_CHARACTERS_MAX = 256

const localGroupsResource = resource({
  path: `/${LOCAL_GROUPS}`,
  noun: 'local CIFS group',
  doc: 'Local groups of CIFS servers. Stored without effect: nobody can log in yet.',
  since: '9.9.1',
  key: ['svm.uuid', 'sid'],
  recordKey: ['svm.uuid', 'sid'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  fields: {
    svm: { doc: 'The SVM of the local group.', ref: 'svm/svms', set: 'create', required: true },
    sid: { doc: 'The Windows security identifier (SID) of the group.', kind: text() },
    name: {
      doc: 'The name of the group, unique within its SVM.',
      kind: accountName(MEMBER_CHARACTERS_MAX),
      set: 'always',
      required: true,
    },
    description: { doc: 'A comment that describes the group.', kind: text({ charactersMax: 256 }), set: 'always' },
    members: {
      doc: 'The members of the group. Add and remove members at the path `members` of the group.',
      kind: each({ name: { kind: text(), doc: 'The name of the member.' } }),
    },
  },
})

export const localGroups: Behaviour<typeof localGroupsResource> = define(localGroupsResource, {
  create: {
    ...plainCreate(LOCAL_GROUPS, { example: { name: 'staff', 'svm.name': 'svm1' }, check: withSid }),
    alone: sidLock,
  },
  modify: plainModify(LOCAL_GROUPS, { exampleChange: { description: 'Everybody who works here' } }),
  remove: plainRemove(LOCAL_GROUPS),
})
