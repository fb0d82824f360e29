import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { asText } from '../../../../test/support/body.ts'
import { basic, startTestCluster, type TestCluster } from '../../../../test/support/cluster.ts'
import { codeOf } from '../../../model/failure.ts'

const PASSWORD = '/api/security/authentication/password'
const FIRST = 'first password 1'
const SECOND = 'second password 2'
let t: TestCluster
before(async () => {
  t = await startTestCluster({ isBare: true })
  for (const [name, role] of [
    ['reader', 'readonly'],
    ['other-reader', 'readonly'],
    ['nobody', 'none'],
    ['boss', 'admin'],
  ]) {
    const made = await t.call('POST', '/api/security/accounts', { name, password: FIRST, role: { name: role } })
    assert.equal(made.status, 201)
  }
})
after(() => t.close())

const as = (authorization: string) => ({ headers: { authorization }, from: '192.0.2.9' })
const status = async (user: string, password: string) =>
  (await t.call('GET', '/api/cluster', undefined, as(basic(user, password)))).status

test('a read-only user, and one who may do nothing, change their own password', async () => {
  for (const [name, ok] of [
    ['reader', 200],
    ['nobody', 403],
  ] as const) {
    const changed = await t.call('POST', PASSWORD, { name, password: SECOND }, as(basic(name, FIRST)))
    assert.equal(changed.status, 201, JSON.stringify(changed.body))
    assert.doesNotMatch(JSON.stringify(changed.body), /password 2/)
    assert.equal(await status(name, FIRST), 401)
    assert.equal(await status(name, SECOND), ok)
  }
})

test('a user who may not change accounts changes no other, and is not told which there are', async () => {
  const credentials = as(basic('other-reader', FIRST))
  const told = new Set<string>()
  for (const name of ['reader', 'boss', 'admin', 'nobody-at-all']) {
    const refused = await t.call('POST', PASSWORD, { name, password: 'third password 3' }, credentials)
    assert.equal(refused.status, 403)
    told.add(asText(refused.body['error']?.['message']))
  }
  assert.equal(told.size, 1)
  assert.equal(await status('boss', FIRST), 200)
  assert.equal((await t.call('GET', PASSWORD, undefined, credentials)).status, 403)
})

test('an API key of a smaller role does not change the password of its user', async () => {
  const made = await t.call('POST', '/api/security/authentication/keys', {
    user: { name: 'boss' },
    role: { name: 'readonly' },
  })
  const key = `Bearer ${asText(made.body['records']?.[0]?.['key'])}`
  const refused = await t.call('POST', PASSWORD, { name: 'boss', password: SECOND }, as(key))
  assert.equal(refused.status, 403)
  assert.equal(await status('boss', FIRST), 200)
})

test('an administrator changes the password of others; what is not there or too easy is refused', async () => {
  const change = async (body: object) => {
    const reply = await t.call('POST', PASSWORD, body)
    return [reply.status, reply.body['error']?.['code']]
  }
  assert.deepEqual(await change({ name: 'other-reader', password: SECOND, password_hash_algorithm: 'sha512' }), [
    201,
    undefined,
  ])
  assert.equal(await status('other-reader', SECOND), 200)
  assert.equal((await change({ name: 'nobody-at-all', password: SECOND }))[0], 404)
  assert.deepEqual(await change({ name: 'other-reader', password: SECOND }), [422, codeOf('passwordUnchanged')])
  assert.deepEqual(await change({ name: 'other-reader', password: 'abcdefgh' }), [422, 7_077_920])
  assert.deepEqual(await change({ name: 'other-reader', password: 'Password1' }), [422, 7_077_920])
  assert.equal((await change({ name: 'other-reader' }))[0], 422)
})

test('a new account with a trivial password is refused, and so is a change to one', async () => {
  const made = await t.call('POST', '/api/security/accounts', { name: 'weak', password: '12345678' })
  assert.deepEqual([made.status, made.body['error']?.['code']], [422, 7_077_920])
  const changed = await t.call('PATCH', await t.account('reader'), { password: 'qwerty123' })
  assert.deepEqual([changed.status, changed.body['error']?.['code']], [422, 7_077_920])
})
