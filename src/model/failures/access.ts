/** Failures of logins and of roles. */
import { denied, entry, tooMany } from './forms.ts'

export const access = {
  unauthenticated: entry(
    'unauthenticated',
    '6691623',
    undefined,
    'User is not authorized. Send the credentials of a user, or an API key.',
    'Send the credentials of a user, or an API key.',
    {},
  ),
  roleDenies: {
    ...denied(
      undefined,
      'not authorized for that command: the role {role} may not {method} {path:short}.',
      'Use an account whose role allows it.',
    ),
    givens: ['{role}', '{method}', '{path:short}'],
  },
  tooManyFailedLogins: tooMany(
    'Too many failed logins from this address.',
    'Wait, then log in with the right credentials.',
  ),
  tooManyLogins: tooMany('Too many logins at once.', 'Repeat the request later.', 1),
} as const
