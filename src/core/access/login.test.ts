import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText } from '../../../test/support/body.ts'
import { ADMIN, basic, QuickSecrets, startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { COUNTS_MAX, FAILURES_OF_ACCOUNT_MAX, FAILURES_OF_ADDRESS_MAX, Guesses } from './guesses.ts'

async function start(): Promise<{ cluster: TestCluster; secrets: QuickSecrets }> {
  const secrets = new QuickSecrets()
  return { cluster: await startTestCluster({ isBare: true, secrets }), secrets }
}

const status = async (cluster: TestCluster, authorization: string | undefined, from = '192.0.2.9') =>
  (await cluster.call('GET', '/api/cluster', undefined, { headers: { authorization }, from })).status

test('an unknown user costs one password check, as a known user with a wrong password does', async () => {
  const { cluster, secrets } = await start()
  for (const user of ['admin', 'nobody', '', 'holdfast/admin']) {
    const before = secrets.checks
    assert.equal(await status(cluster, basic(user, 'wrong')), 401)
    assert.equal(secrets.checks - before, 1, user)
  }
  await cluster.close()
})

test('right credentials are checked once and then remembered, until the password changes', async () => {
  const { cluster, secrets } = await start()
  await cluster.call('POST', '/api/security/accounts', { name: 'a1', password: 'first password' })
  assert.equal(await status(cluster, basic('a1', 'first password')), 200)
  const before = secrets.checks
  assert.equal(await status(cluster, basic('a1', 'first password')), 200)
  assert.equal(secrets.checks, before)
  await cluster.call('PATCH', await cluster.account('a1'), { password: 'second password' })
  assert.equal(await status(cluster, basic('a1', 'first password')), 401)
  assert.equal(await status(cluster, basic('a1', 'second password')), 200)
  await cluster.close()
})

test('a locked account and a deleted one are shut out at once, remembered or not', async () => {
  const { cluster } = await start()
  await cluster.call('POST', '/api/security/accounts', { name: 'a1', password: 'first password' })
  assert.equal(await status(cluster, basic('a1', 'first password')), 200)
  await cluster.call('PATCH', await cluster.account('a1'), { locked: true })
  assert.equal(await status(cluster, basic('a1', 'first password')), 401)
  await cluster.call('PATCH', await cluster.account('a1'), { locked: false })
  assert.equal(await status(cluster, basic('a1', 'first password')), 200)
  await cluster.call('DELETE', await cluster.account('a1'))
  assert.equal(await status(cluster, basic('a1', 'first password')), 401)
  await cluster.close()
})

test('a locked account cannot use its keys either', async () => {
  const { cluster } = await start()
  await cluster.call('POST', '/api/security/accounts', { name: 'a1', password: 'first password' })
  const made = await cluster.call('POST', '/api/security/authentication/keys', {
    user: { name: 'a1' },
    role: { name: 'readonly' },
  })
  const key = `Bearer ${asText(made.body['records']?.[0]?.['key'])}`
  assert.equal(await status(cluster, key), 200)
  await cluster.call('PATCH', await cluster.account('a1'), { locked: true })
  assert.equal(await status(cluster, key), 401)
  await cluster.close()
})

test('the last admin who can log in cannot be deleted, locked or given another role', async () => {
  const { cluster } = await start()
  assert.equal((await cluster.call('DELETE', await cluster.account('admin'))).status, 409)
  assert.equal((await cluster.call('PATCH', await cluster.account('admin'), { locked: true })).status, 409)
  assert.equal(
    (await cluster.call('PATCH', await cluster.account('admin'), { role: { name: 'readonly' } })).status,
    409,
  )
  assert.equal(await status(cluster, ADMIN), 200)
  await cluster.call('POST', '/api/security/accounts', {
    name: 'other',
    password: 'first password',
    role: { name: 'admin' },
  })
  assert.equal(
    (await cluster.call('PATCH', await cluster.account('admin'), { role: { name: 'readonly' } })).status,
    200,
  )
  await cluster.close()
})

test('an address that guesses at an account has to wait, and everybody else does not', async () => {
  const { cluster, secrets } = await start()
  await cluster.call('POST', '/api/security/accounts', { name: 'a1', password: 'first password' })
  assert.equal(await status(cluster, ADMIN), 200)
  for (let guess = 0; guess < FAILURES_OF_ACCOUNT_MAX; guess++)
    assert.equal(await status(cluster, basic('admin', `guess ${guess}`)), 401)
  const before = secrets.checks
  const refused = await cluster.call('GET', '/api/cluster', undefined, {
    headers: { authorization: basic('admin', 'one more') },
    from: '192.0.2.9',
  })
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers['retry-after']) > 0)
  assert.equal(secrets.checks, before)
  assert.equal(await status(cluster, ADMIN), 200, 'credentials that were right before pass from the same address')
  assert.equal(await status(cluster, basic('a1', 'first password')), 200, 'another account is not held up')
  assert.equal(await status(cluster, basic('admin', 'wrong'), '192.0.2.10'), 401, 'another address is not held up')
  cluster.clock.aheadMs += 61_000
  assert.equal(await status(cluster, basic('admin', 'wrong')), 401, 'after a minute it may try again')
  await cluster.close()
})

test('an address that tries many accounts has to wait, also when it tries them all at once', async () => {
  const { cluster, secrets } = await start()
  const before = secrets.checks
  const codes = await Promise.all(
    Array.from({ length: FAILURES_OF_ADDRESS_MAX + 20 }, (_, at) => status(cluster, basic(`user${at}`, 'guess'))),
  )
  assert.equal(codes.filter((code) => code === 401).length, FAILURES_OF_ADDRESS_MAX)
  assert.equal(codes.filter((code) => code === 429).length, 20)
  assert.equal(secrets.checks - before, FAILURES_OF_ADDRESS_MAX)
  assert.equal(await status(cluster, ADMIN, '192.0.2.10'), 200, 'the user of the account logs in from elsewhere')
  await cluster.close()
})

test('all addresses of a network that one machine has guess as one', async () => {
  const { cluster } = await start()
  for (let guess = 0; guess < FAILURES_OF_ACCOUNT_MAX; guess++)
    assert.equal(await status(cluster, basic('admin', 'guess'), `2001:db8::${guess}`), 401)
  assert.equal(await status(cluster, basic('admin', 'guess'), '2001:db8::ffff'), 429)
  assert.equal(await status(cluster, basic('admin', 'guess'), '2001:db8:0:1::1'), 401)
  await cluster.close()
})

test('guesses from any number of addresses at names of any length take bounded memory', () => {
  const guesses = new Guesses(() => 0)
  for (let at = 0; at < COUNTS_MAX + 1000; at++) {
    guesses.attempt(`192.0.${at >> 8}.${at & 255}`, `${at}${'x'.repeat(8000)}`)
  }
  assert.ok(guesses.size <= 2 * COUNTS_MAX)
  const attempt = guesses.attempt('198.51.100.1', 'admin')
  attempt.takeBack()
  assert.equal(guesses.attempt('198.51.100.1', 'admin').ofAddress, 1, 'a login that is right does not count')
})

test('guesses at keys and requests without credentials lock nobody out', async () => {
  const { cluster } = await start()
  for (let guess = 0; guess < 5; guess++) assert.equal(await status(cluster, undefined), 401)
  for (let guess = 0; guess < FAILURES_OF_ADDRESS_MAX + 5; guess++) {
    const code = await status(cluster, `Bearer e30.${Buffer.from('{"jti":"x"}').toString('base64url')}.x`)
    assert.ok(code === 401 || code === 429)
  }
  assert.equal(await status(cluster, ADMIN, '192.0.2.77'), 200)
  await cluster.close()
})

test('a key logs in its user with its role, and only as it was given', async () => {
  const { cluster } = await start()
  const made = await cluster.call('POST', '/api/security/authentication/keys', {
    user: { name: 'bot', owner: { name: 'holdfast' } },
    role: { name: 'readonly' },
  })
  assert.equal(made.status, 201)
  const key = asText(made.body['records']?.[0]?.['key'])
  const uuid = asText(made.body['records']?.[0]?.['uuid'])
  const [head = '', claims = '', secret = ''] = key.split('.')
  assert.equal(await status(cluster, `Bearer ${key}`), 200)
  assert.equal(await status(cluster, `bearer ${key}`), 200)
  for (const wrong of [
    `${key}x`,
    `${head}.${claims}.`,
    `${head}.${claims}.${'A'.repeat(43)}`,
    `${head}.e30.${secret}`,
    `.${claims}.${secret}`,
    '..',
    'x'.repeat(5000),
  ]) {
    assert.equal(await status(cluster, `Bearer ${wrong}`), 401, wrong.slice(0, 60))
  }
  const denied = await cluster.call(
    'POST',
    '/api/svm/svms',
    { name: 'x' },
    { headers: { authorization: `Bearer ${key}` } },
  )
  assert.equal(denied.status, 403)
  const shown = await cluster.call('GET', `/api/security/authentication/keys/${uuid}?fields=**`)
  assert.equal(shown.body['key'], undefined)
  assert.equal((await cluster.call('DELETE', `/api/security/authentication/keys/${uuid}`)).status, 200)
  assert.equal(await status(cluster, `Bearer ${key}`), 401)
  await cluster.close()
})

test('headers that are no credentials are 401, whatever they are', async () => {
  const { cluster } = await start()
  for (const header of [
    '',
    'Basic',
    'Basic ',
    'Basic !!!',
    `Basic ${'A'.repeat(20_000)}`,
    'Digest x',
    ADMIN.slice(6),
    `${ADMIN} x`,
    'Bearer',
    'Basic YWRtaW4=',
    'Basic Og==',
    `Basic ${Buffer.from('\0:\0').toString('base64')}`,
    `Basic ${Buffer.from('../../x:y').toString('base64')}`,
  ]) {
    assert.equal(await status(cluster, header), 401, header.slice(0, 40))
  }
  await cluster.close()
})
