import { type Behaviour, define } from '../../core/behaviour.ts'
import { plainVerbs } from '../../core/plain.ts'
import { text } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { checkNamed, idKind, nameKind, skipNameValidation } from './unix-names.ts'

export const UNIX_USERS = 'name-services/unix-users'

const unixUsersResource = resource({
  path: `/${UNIX_USERS}`,
  noun: 'UNIX user',
  doc: 'UNIX users that an SVM knows by itself. They are records: no files are served yet.',
  since: '9.9.1',
  key: ['svm.uuid', 'name'],
  recordKey: ['svm.uuid', 'name'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  fields: {
    svm: { doc: 'The SVM that knows the user.', ref: 'svm/svms', set: 'create', required: true },
    name: { doc: 'The name of the user, unique within its SVM.', kind: nameKind(), set: 'create', required: true },
    id: { doc: 'The number of the user.', kind: idKind(), set: 'always', required: true },
    primary_gid: { doc: 'The number of the first group of the user.', kind: idKind(), set: 'always', required: true },
    full_name: { doc: 'Who it is.', kind: text({ charactersMax: 256 }), set: 'always' },
    skip_name_validation: skipNameValidation,
  },
})

export const unixUsers: Behaviour<typeof unixUsersResource> = define(
  unixUsersResource,
  plainVerbs(UNIX_USERS, {
    example: { name: 'anna', 'svm.name': 'svm1', id: 1001, primary_gid: 100 },
    check: checkNamed(UNIX_USERS, 'UNIX user'),
  }),
)
