/** Section 7 of the specification: errors. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText } from '../support/body.ts'
import { basic } from '../support/cluster.ts'
import { fresh } from '../support/product.ts'
import type { Reply } from '../support/rest-client.ts'
import { codeOf, ended, Made, NATIVE, openTarget, openTargetHere, uuidOf } from './target.ts'

const { api, user } = await openTarget()
const made = new Made(api)
const svm = await made.svm()
const NOBODY = '00000000-0000-4000-8000-000000000000'

function isError(reply: Reply, status: number, target?: string): void {
  assert.equal(reply.status, status, reply.text)
  assert.match(reply.headers['content-type'] ?? '', /json/)
  assert.doesNotMatch(reply.text, /<html|<!doctype/i)
  const error = reply.body['error']
  assert.notEqual(asText(error?.['message']), '')
  assert.ok(Number.isSafeInteger(error?.['code']), reply.text)
  if (target !== undefined) assert.equal(error?.['target'], target)
}

test('7 status 200: a read, a change', async () => {
  assert.equal((await api.get(svm.path)).status, 200)
  assert.equal((await api.call('PATCH', svm.path, { comment: 'x' })).status, 200)
})

test('7 status 201: something was made', async () => {
  const name = fresh('svm')
  const reply = await api.call('POST', '/api/svm/svms', { name })
  assert.equal(reply.status, 201)
  await api.call('DELETE', reply.headers['location'] ?? '')
})

test('7 status 202: accepted as a job, and Location points to it', async () => {
  const name = fresh('svm')
  const reply = await api.call('POST', '/api/svm/svms?return_timeout=0', { name })
  assert.equal(reply.status, 202)
  assert.match(reply.headers['location'] ?? '', /^\/api\/cluster\/jobs\/[0-9a-f-]{36}$/)
  await ended(api, reply.headers['location'] ?? '')
  assert.equal((await api.call('DELETE', `/api/svm/svms/${await uuidOf(api, '/api/svm/svms', name)}`)).status, 200)
})

test('7 status 400: bad JSON, a bad filter, an unknown query argument', async () => {
  isError(await api.call('POST', '/api/svm/svms', undefined, { raw: '{"name":' }), 400)
  isError(await api.get('/api/storage/volumes?size=large'), 400, 'size')
  isError(await api.get('/api/storage/volumes?nothing=x'), 400, 'nothing')
  isError(await api.get('/api/storage/volumes?fields=nothing'), 400, 'fields')
})

test('7 status 401: no credentials, and wrong ones', async () => {
  isError(await api.as(undefined).get('/api/cluster'), 401)
  isError(await api.as(basic(user, 'wrong')).get('/api/cluster'), 401)
  isError(await api.as('Bearer nothing').get('/api/cluster'), 401)
})

test('7 status 403: the role lacks the privilege', async () => {
  const [name, password] = [fresh('watcher'), 'a long password']
  assert.equal(
    (await api.call('POST', '/api/security/accounts', { name, password, role: { name: 'readonly' } })).status,
    201,
  )
  const watcher = api.as(basic(name, password))
  assert.equal((await watcher.get('/api/storage/volumes')).status, 200)
  isError(await watcher.call('POST', '/api/svm/svms', { name: 'x' }), 403)
  isError(await watcher.call('DELETE', svm.path), 403)
  const owner = asText((await api.get('/api/cluster?fields=uuid')).body['uuid'])
  assert.equal((await api.call('DELETE', `/api/security/accounts/${owner}/${name}`)).status, 200)
  watcher.close()
})

test('7 status 404: an unknown uuid, an unknown path', async () => {
  isError(await api.get(`/api/storage/volumes/${NOBODY}`), 404)
  isError(await api.call('PATCH', `/api/storage/volumes/${NOBODY}`, { size: '1g' }), 404)
  isError(await api.call('DELETE', `/api/storage/volumes/${NOBODY}`), 404)
  isError(await api.get('/api/no/such/path'), 404)
  isError(await api.get('/nowhere'), 404)
})

test('7 status 409: the object exists; its target is the field in conflict', async () => {
  isError(await api.call('POST', '/api/svm/svms', { name: svm.name }), 409, 'name')
  const volume = await made.volume(svm.name)
  isError(
    await api.call('POST', '/api/storage/volumes', { name: volume.name, svm: { name: svm.name }, size: '32m' }),
    409,
    'name',
  )
})

test('7 status 409: the object is busy', async () => {
  await made.volume(svm.name)
  isError(await api.call('DELETE', svm.path), 409)
})

test('7 status 422: a value does not do; its target is the field', async () => {
  isError(
    await api.call('POST', '/api/storage/volumes', { name: 'x', svm: { name: 'nobody' }, size: '32m' }),
    422,
    'svm.name',
  )
  isError(await api.call('POST', '/api/storage/volumes', { name: '1 2', svm: { name: svm.name } }), 422, 'name')
  isError(await api.call('POST', '/api/storage/volumes', { svm: { name: svm.name } }), 422, 'name')
  isError(
    await api.call('POST', '/api/storage/volumes', { name: 'x', svm: { name: svm.name }, colour: 'red' }),
    422,
    'colour',
  )
})

test('7 status 429: too many guesses, with Retry-After', async () => {
  const other = await openTargetHere({ isBare: true })
  const there = other.api.as(basic('nobody', 'wrong'))
  let last: Reply | undefined
  for (let guess = 0; guess < 100 && last?.status !== 429; guess++) last = await there.get('/api/cluster')
  isError(last as Reply, 429)
  assert.ok(Number(last?.headers['retry-after']) > 0)
  there.close()
})

test('7 codes are integers in the spec dialect and text in the native one, with 400 for what is invalid', async () => {
  const body = { name: '1 2', svm: { name: svm.name } }
  const spec = await api.call('POST', '/api/storage/volumes', body)
  const native = await api.call('POST', '/api/storage/volumes', body, NATIVE)
  assert.equal(spec.status, 422)
  assert.equal(native.status, 400)
  assert.equal(String(codeOf(spec)), codeOf(native))
})

test('7.1 errors are JSON, whatever the path', async () => {
  for (const path of [
    '/',
    '/api',
    '/api/',
    '/docs/nothing',
    '/favicon.ico',
    '/api/%ff',
    '/api/%zz',
    '//',
    '/api/storage/volumes/..%2f..',
    `/${'x'.repeat(9000)}`,
  ]) {
    const reply = await api.get(path)
    if (reply.status < 300) continue
    assert.ok(reply.status >= 400 && reply.status < 500, `${path.slice(0, 40)}: ${reply.status}`)
    isError(reply, reply.status)
  }
})
