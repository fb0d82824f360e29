import { type Behaviour, define } from '../../core/behaviour.ts'
import { plainVerbs } from '../../core/plain.ts'
import { each } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { checkNamed, idKind, nameKind, skipNameValidation } from './unix-names.ts'

export const UNIX_GROUPS = 'name-services/unix-groups'

const unixGroupsResource = resource({
  path: `/${UNIX_GROUPS}`,
  noun: 'UNIX group',
  doc: 'UNIX groups that an SVM knows by itself. They are records: no files are served yet.',
  since: '9.9.1',
  key: ['svm.uuid', 'name'],
  recordKey: ['svm.uuid', 'name'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  fields: {
    svm: { doc: 'The SVM that knows the group.', ref: 'svm/svms', set: 'create', required: true },
    name: { doc: 'The name of the group, unique within its SVM.', kind: nameKind(), set: 'create', required: true },
    id: { doc: 'The number of the group.', kind: idKind(), set: 'always', required: true },
    users: {
      doc: 'Who is in it. They are added and taken away at `users` of the group.',
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
