import assert from 'node:assert/strict'
import { test } from 'node:test'
import { covers, type Access, type Role } from './access.ts'

const role = (...privileges: readonly (readonly [string, Access])[]): Role => ({
  name: 'r',
  privileges: privileges.map(([path, access]) => ({ path, access })),
})

test('a role covers those that may do no more, at no path', () => {
  const all = role(['/api', 'all'])
  const reader = role(['/api', 'readonly'])
  const none = role()
  for (const [one, other, isCovered] of [
    [all, reader, true],
    [reader, all, false],
    [reader, reader, true],
    [reader, none, true],
    [none, reader, false],
    [none, none, true],
    [role(['/api/security', 'all']), role(['/api/security/accounts', 'all']), true],
    [role(['/api/security/accounts', 'all']), role(['/api/security', 'all']), false],
    [role(['/api', 'all'], ['/api/security', 'none']), all, false],
    [role(['/api', 'all'], ['/api/security', 'none']), role(['/api/storage', 'all']), true],
    [role(['/api', 'all'], ['/api/*/accounts', 'none']), role(['/api/security', 'all']), false],
    [
      role(['/api', 'all'], ['/api/*/accounts', 'none']),
      role(['/api/security', 'all'], ['/api/security/accounts', 'none']),
      true,
    ],
    [role(['/api/svm/svms/*', 'all']), role(['/api/svm/svms/one', 'all']), true],
    [role(['/api/svm/svms/one', 'all']), role(['/api/svm/svms/*', 'all']), false],
    [role(['/api/storage', 'read_create']), role(['/api/storage', 'read_modify']), false],
  ] as const) {
    assert.equal(covers(one, other), isCovered, JSON.stringify([one, other]))
  }
})

test('roles that would take too long to compare are not said to be covered', () => {
  const wide = Array.from({ length: 60 }, (_, at) => [`/api/a${at}/b${at}/c${at}`, 'all'] as const)
  assert.equal(covers(role(...wide, ['/api/*/*/*', 'all']), role(['/api/x', 'all'])), false)
})
