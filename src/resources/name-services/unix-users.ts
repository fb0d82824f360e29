import { type Behaviour, define } from '../../core/behaviour.ts'
import { plainVerbs } from '../../core/plain.ts'
import { text } from '../../model/kinds/index.ts'
import { resource } from '../../model/resource.ts'
import { checkNamed, idKind, nameKind, skipNameValidation } from './unix-names.ts'

export const UNIX_USERS = 'name-services/unix-users'

const unixUsersResource = resource({
  path: `/${UNIX_USERS}`,
  noun: 'UNIX user',
  doc: 'Local UNIX users of SVMs. Stored without effect: files are not served yet.',
  since: '9.9.1',
  key: ['svm.uuid', 'name'],
  recordKey: ['svm.uuid', 'name'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  fields: {
    svm: { doc: 'The SVM of the UNIX user.', ref: 'svm/svms', set: 'create', required: true },
    name: { doc: 'The name of the user, unique within its SVM.', kind: nameKind(), set: 'create', required: true },
    id: { doc: 'The user ID.', kind: idKind(), set: 'always', required: true },
    primary_gid: {
      doc: 'The group ID of the primary group of the user.',
      kind: idKind(),
      set: 'always',
      required: true,
    },
    full_name: { doc: 'The full name of the user.', kind: text({ charactersMax: 256 }), set: 'always' },
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
