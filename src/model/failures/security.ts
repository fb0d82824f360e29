/** Failures of accounts, roles and keys. */
import { errno } from './errno.ts'
import { badValue, denied, duplicate, inUse, invalid, notFound } from './forms.ts'

export const security = {
  passwordHasUserName: invalid(
    'password',
    'The password must not contain the name of the user.',
    'Choose another password.',
    { code: '7077918' },
  ),
  passwordTooSimple: invalid(
    'password',
    'The password needs a letter and a digit, or a letter and {characters} characters of which {different} differ.',
    'Choose a longer password, or one with a digit.',
    { code: '7077920' },
  ),
  passwordTooCommon: invalid(
    'password',
    'The password is one of the commonest. Choose another one.',
    'Choose another password.',
    { code: '7077920' },
  ),
  accountNotFound: notFound('account'),
  accountNameTaken: duplicate('An account of that name', 'name'),
  accountDeletesItself: inUse('name', 'An account cannot delete itself.', 'Delete the account as another one.'),
  passwordRequired: invalid(
    'password',
    'Field "password" is required: the account logs in with one.',
    'Give the account a password.',
    { code: '7078900' },
  ),
  lockWithoutPassword: invalid(
    'locked',
    'An account without a password cannot be locked.',
    'Give the account a password first.',
    { code: '7077929' },
  ),
  passwordUnchanged: invalid(
    'password',
    'New password must be different than the old password.',
    'Choose another password.',
    { code: '7077925' },
  ),
  lastAdministrator: inUse(
    'name',
    'The account is the last administrator who can log in. Create another one first.',
    'Create another administrator first.',
  ),
  applicationsMissing: badValue(
    'applications',
    'it needs one application at least.',
    'Give the account at least one application.',
  ),
  applicationTwice: badValue(
    'applications',
    'an application is given twice. Put its methods into one entry.',
    'Put the methods of the application into one entry.',
  ),
  methodsMissing: badValue(
    'applications',
    'an application needs one authentication method at least.',
    'Give the application at least one authentication method.',
  ),
  secondMethodUnfit: badValue(
    'applications',
    'only ssh has a second authentication method.',
    'Leave second_authentication_method out.',
  ),
  keyOwnerUnknown: badValue(
    'user.owner.name',
    'there is no cluster or SVM "{owner}".',
    'Name the cluster or an SVM that exists.',
  ),
  roleNameTaken: duplicate('A role of that name', 'name'),
  roleInUse: inUse(
    'name',
    'The account "{account}" has the role. Give the account another role first.',
    'Give the account another role first.',
    { code: '5636172' },
  ),
  roleNotFound: notFound('role', 'name'),
  builtInRole: inUse('name', 'The role is built in and cannot be changed.', 'Create a role of your own.', {
    code: '1263347',
  }),
  roleExceedsOwn: denied(
    'role.name',
    'not authorized for that command: the role {role} may do more than your own, {own}.',
    'Choose a role that may do no more than your own.',
  ),
  roleUnknown: invalid('role.name', 'There is no role "{name}" here.', 'Name a role that exists.', {
    code: '1261215',
    errno: errno.objectNotFound,
  }),
  privilegeTaken: duplicate('A privilege for {path}', 'path'),
  privilegeAccessUnfit: invalid('access', 'A command takes all, readonly or none.', 'Choose all, readonly or none.', {
    code: '5636200',
  }),
  privilegePathMalformed: invalid(
    'path',
    'A path begins with "/api" and does not end with "/".',
    'Begin the path with "/api", and do not end it with "/".',
    { code: '5636169' },
  ),
  privilegeQueryNeedless: invalid('query', 'A path takes no query.', 'Leave the query out.', { code: '5636192' }),
} as const
