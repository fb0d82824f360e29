/** Sections 8 and 9 of the specification, where they speak of releases: products that serve earlier ones. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recordsOf } from '../support/body.ts'
import { fresh } from '../support/product.ts'
import { Made, openTargetHere } from './target.ts'

const old = (await openTargetHere({ release: '9.10.1' })).api
const oldest = (await openTargetHere({ release: '9.8', isBare: true })).api

test('9.3 the version says which release is served', async () => {
  const { body } = await old.get('/api/cluster/version')
  const { generation, major, minor } = body['version'] as unknown as Record<string, number>
  assert.deepEqual([generation, major, minor], [9, 10, 1])
  assert.deepEqual((await oldest.get('/api/cluster/version')).body['version']?.['major'], 8)
})

test('8 one object store server for each SVM in releases 9.8 to 9.10', async () => {
  const made = new Made(old)
  const { svm, servers } = await made.server()
  const root = await made.volume(svm.name)
  const second = await old.call('PUT', servers, {
    name: fresh('s').replaceAll('_', '-'),
    root_volume: { name: root.name },
    data_volumes: [],
  })
  assert.equal(second.status, 409, second.text)
  assert.equal(recordsOf((await old.get(servers)).body).length, 1)
})

test('9.2 a resource of a later release is not there', async () => {
  assert.equal((await old.get('/api/cluster/counter/tables')).status, 404)
})

test('9.2 a field of a later release is not there', async () => {
  const made = new Made(old)
  const { data } = await made.server()
  assert.equal((await oldest.get('/api/storage/volumes?fields=snapshot_count')).status, 400)
  assert.equal((await old.get('/api/storage/volumes?fields=snapshot_count')).status, 200)
  assert.equal((await old.get(`${data.path}?fields=space.percent_used`)).status, 200)
})

test('9.4 API keys and object store servers are there from 9.8 on', async () => {
  const key = await oldest.call('POST', '/api/security/authentication/keys', {
    user: { name: 'bot' },
    role: { name: 'readonly' },
  })
  assert.equal(key.status, 201, key.text)
  assert.equal((await oldest.get('/api/protocols/s3/services')).status, 200)
})

test('9.4 the API browser is at /docs/swagger-ui/index.html from 9.9 on, and describes the release that is served', async () => {
  assert.equal((await old.get('/docs/swagger-ui/index.html')).status, 200)
  assert.equal((await oldest.get('/docs/swagger-ui/index.html')).status, 404)
  assert.equal((await oldest.get('/docs/api')).status, 200)
  assert.equal((await old.get('/docs/api/openapi.json')).body['paths']?.['/cluster/counter/tables'], undefined)
})
