import { type Behaviour, define } from '../../core/behaviour.ts'
import { plainVerbs } from '../../core/plain.ts'
import { each } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { checkNamed, idKind, nameKind, skipNameValidation } from './unix-names.ts'

export const UNIX_GROUPS = 'name-services/unix-groups'

const unixGroupsResource = resource({
  path: `/${UNIX_GROUPS}`,
  noun: 'UNIX group',
  doc: 'Local UNIX groups of SVMs. Stored without effect: files are not served yet.',
  since: '9.9.1',
  key: ['svm.uuid', 'name'],
  recordKey: ['svm.uuid', 'name'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  fields: {
    svm: { doc: 'The SVM of the UNIX group.', ref: 'svm/svms', set: 'create', required: true },
    name: { doc: 'The name of the group, unique within its SVM.', kind: nameKind(), set: 'create', required: true },
    id: { doc: 'The group ID.', kind: idKind(), set: 'always', required: true },
    users: {
      doc: 'The users in the group. Add and remove users at the path `users` of the group.',
      kind: each({ name: { kind: nameKind(), doc: 'The name of the user.' } }),
    },
    skip_name_validation: skipNameValidation,
  },
})

export const unixGroups: Behaviour<typeof unixGroupsResource> = define(
  unixGroupsResource,
  plainVerbs(UNIX_GROUPS, {
    example: { name: 'staff', 'svm.name': 'svm1', id: 100 },
    check: checkNamed(UNIX_GROUPS, 'UNIX group'),
  }),
)
