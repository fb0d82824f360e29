/** Section 5 of the specification: authentication. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { test } from 'node:test'
import { asText, recordsOf } from '../support/body.ts'
import { basic } from '../support/cluster.ts'
import { fresh } from '../support/product.ts'
import { Made, openTargetHere } from './target.ts'

const { api, user, password } = await openTargetHere()
const made = new Made(api)
const svm = await made.svm()

async function key(role: string) {
  const name = fresh('bot')
  const reply = await api.call('POST', '/api/security/authentication/keys', {
    user: { name, owner: { name: 'holdfast' } },
    role: { name: role },
  })
  const record = recordsOf(reply.body)[0]
  return {
    bearer: `Bearer ${asText(record?.['key'])}`,
    path: `/api/security/authentication/keys/${asText(record?.['uuid'])}`,
  }
}

test('5 all traffic is HTTPS: plain HTTP is not answered', async () => {
  const answered = await new Promise<boolean>((resolve) => {
    request({ host: api.base.hostname, port: api.base.port, path: '/api/cluster' }, () => resolve(true))
      .on('error', () => resolve(false))
      .end()
  })
  assert.equal(answered, false)
})

test('5 HTTP Basic logs an administrator in', async () => {
  assert.equal((await api.as(basic(user, password)).get('/api/cluster')).status, 200)
})

test('5 an API key logs its user in as bearer token, within its role', async () => {
  const { bearer, path } = await key('readonly')
  const bot = api.as(bearer)
  assert.equal((await bot.get('/api/storage/volumes')).status, 200)
  assert.equal((await bot.call('PATCH', svm.path, { comment: 'x' })).status, 403)
  assert.equal((await api.call('DELETE', path)).status, 200)
  assert.equal((await bot.get('/api/storage/volumes')).status, 401)
  bot.close()
})

test('5 a key of the role admin may write', async () => {
  const { bearer, path } = await key('admin')
  const bot = api.as(bearer)
  assert.equal((await bot.call('PATCH', svm.path, { comment: 'by the bot' })).status, 200)
  await api.call('DELETE', path)
  bot.close()
})

test('5.1 /api/security/authentication/login is no workflow of the service', async () => {
  assert.equal((await api.call('POST', '/api/security/authentication/login', {})).status, 404)
  assert.equal((await api.get('/api/security/authentication/login')).status, 404)
})

test('5.2 the role readonly reads and writes nothing', async () => {
  const { bearer, path } = await key('readonly')
  const bot = api.as(bearer)
  for (const read of [
    '/api/cluster',
    '/api/svm/svms',
    '/api/storage/aggregates',
    '/api/cluster/jobs',
    '/api/cluster/counter/tables',
  ]) {
    assert.equal((await bot.get(read)).status, 200, read)
  }
  for (const [method, target] of [
    ['POST', '/api/svm/svms'],
    ['PUT', `${svm.path}/object-store/servers`],
    ['PATCH', svm.path],
    ['DELETE', svm.path],
    ['POST', '/api/security/authentication/keys'],
    ['GET', '/api/security/accounts'],
  ] as const) {
    assert.equal((await bot.call(method, target, method === 'GET' ? undefined : {})).status, 403, `${method} ${target}`)
  }
  await api.call('DELETE', path)
  bot.close()
})

test('5.3 a missing or bad credential is 401', async () => {
  for (const bad of [
    undefined,
    'Basic',
    basic(user, `${password}x`),
    basic('nobody', password),
    basic('', ''),
    'Bearer x.y.z',
    'Digest a="b"',
    password,
  ]) {
    const reply = await api.as(bad).get('/api/cluster')
    assert.equal(reply.status, 401, String(bad))
    assert.match(reply.headers['www-authenticate'] ?? '', /Basic/)
  }
})

test('5.3 without credentials nothing tells which paths exist', async () => {
  const [real, unreal] = [
    await api.as(undefined).get('/api/storage/volumes'),
    await api.as(undefined).get('/api/no/such'),
  ]
  assert.equal(real.status, 401)
  assert.equal(unreal.text, real.text)
})

test('5.4 the certificate is self-signed by default', async () => {
  const refused = await fetch(`${api.base.origin}/livez`).then(
    () => '',
    (failure: Error & { cause?: { code?: string } }) => failure.cause?.code ?? 'refused',
  )
  assert.match(refused, /SELF_SIGNED|UNABLE_TO_VERIFY|DEPTH_ZERO/)
})

test('health is told without credentials', async () => {
  for (const path of ['/livez', '/readyz']) assert.equal((await api.as(undefined).get(path)).status, 200)
})
