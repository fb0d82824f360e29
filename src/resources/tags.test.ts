import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { asText, recordsOf } from '../../test/support/body.ts'
import { startTestCluster } from '../../test/support/cluster.ts'
import { wireCode } from '../../test/support/codes.ts'

const cluster = await startTestCluster()
after(() => cluster.close())

const NATIVE = { headers: { 'x-dot-client-app': 'tags' } }
const call = (method: string, target: string, body?: unknown) => cluster.call(method, target, body, NATIVE)
const VOLUMES = '/api/storage/volumes'
const names = async (target: string) =>
  recordsOf((await call('GET', target)).body).map((record) => asText(record['name'] ?? record['label']))

const one = { name: 'one', 'svm.name': 'svm1', size: '20m', _tags: ['team:a', 'env:test'] }
assert.equal((await call('POST', `${VOLUMES}?return_timeout=30`, one)).status, 201)
const uuid = await cluster.uuidOf(VOLUMES, 'one')
const aggregate = `/api/storage/aggregates/${await cluster.uuidOf('/api/storage/aggregates', 'aggr1')}`
const tagsAt = async (path: string) => (await call('GET', `${path}?fields=_tags`)).body['_tags'] as unknown as string[]

test('tags come back as they were given, and records are found by them', async () => {
  assert.deepEqual(await tagsAt(`${VOLUMES}/${uuid}`), ['team:a', 'env:test'])
  assert.deepEqual(await names(`${VOLUMES}?_tags=team:a`), ['one'])
  assert.deepEqual(await names(`${VOLUMES}?_tags=team:*&_tags=env:test`), ['one'])
  assert.deepEqual(await names(`${VOLUMES}?_tags=team:b`), [])
  assert.equal((await call('PATCH', `${VOLUMES}/${uuid}?return_timeout=30`, { _tags: ['team:a'] })).status, 200)
  assert.deepEqual(await tagsAt(`${VOLUMES}/${uuid}`), ['team:a'])
})

test('clusters, aggregates and qtrees have tags too', async () => {
  assert.equal((await call('PATCH', '/api/cluster', { _tags: ['team:a'] })).status, 200)
  assert.equal((await call('PATCH', `${aggregate}?return_timeout=30`, { _tags: 'team:a' })).status, 200)
  const qtree = { name: 'q', 'svm.name': 'svm1', 'volume.name': 'one', _tags: ['team:a'] }
  assert.equal((await call('POST', '/api/storage/qtrees', qtree)).status, 201)
  for (const path of ['/api/cluster', aggregate, `/api/storage/qtrees/${uuid}/1`]) {
    assert.deepEqual(await tagsAt(path), ['team:a'], path)
  }
})

test('tags are listed with how many things have them, and with these', async () => {
  const { body } = await call('GET', '/api/resource-tags?fields=num_resources')
  assert.deepEqual(
    recordsOf(body).map((record) => [record['value'], record['num_resources']] as unknown),
    [['team:a', 4]],
  )
  const resources = await call('GET', '/api/resource-tags/team:a/resources?fields=*')
  assert.deepEqual(
    recordsOf(resources.body).map(({ href, label }) => [href, label] as unknown),
    [
      ['/api/cluster', 'holdfast'],
      [aggregate, 'aggr1'],
      [`/api/storage/qtrees/${uuid}/1`, 'q'],
      [`${VOLUMES}/${uuid}`, 'one'],
    ],
  )
  assert.equal((await call('GET', '/api/resource-tags/team%3Aa')).body['num_resources'], 4)
  assert.equal((await call('GET', '/api/resource-tags/team:b')).status, 404)
})

test('what is no tag, and too many of them, are refused; the same twice is one', async () => {
  for (const [tags, code] of [
    [['team'], '262197'],
    [[':a'], '262197'],
    [['a:b:c'], '262197'],
    [Array.from({ length: 51 }, (_, at) => `n:${at}`), wireCode('tooManyTags')],
  ] as const) {
    const { status, body } = await call('PATCH', '/api/cluster', { _tags: tags })
    assert.deepEqual([status, body['error']?.['code'], body['error']?.['target']], [400, code, '_tags'])
  }
  assert.equal((await call('PATCH', '/api/cluster', { _tags: ['a:b', 'a:b'] })).status, 200)
  assert.deepEqual(await tagsAt('/api/cluster'), ['a:b'])
  assert.equal((await call('PATCH', '/api/cluster', { _tags: [] })).status, 200)
  assert.deepEqual(recordsOf((await call('GET', '/api/resource-tags?value=a:b')).body), [])
})

test('a tag is given to a thing and taken from it by its path, for all types that have tags', async () => {
  const resources = '/api/resource-tags/owner:lab/resources'
  const bucket = `/api/storage/volumes/${uuid}`
  for (const href of [bucket, '/api/cluster', aggregate]) {
    const made = await call('POST', resources, { href })
    assert.deepEqual(
      [made.status, made.headers['location']],
      [201, `${resources.replace(':', '%3A')}/${encodeURIComponent(href)}`],
    )
    assert.ok((await tagsAt(href)).includes('owner:lab'))
    const again = await call('POST', resources, { href })
    assert.deepEqual([again.status, again.body['error']?.['code'], again.body['error']?.['target']], [409, '1', 'href'])
  }
  assert.equal(recordsOf((await call('GET', resources)).body).length, 3)
  const one = `${resources}/${encodeURIComponent(bucket)}`
  assert.equal((await call('GET', one)).body['label'], 'one')
  assert.equal((await call('DELETE', one)).status, 200)
  assert.equal((await tagsAt(bucket)).includes('owner:lab'), false)
  assert.equal((await call('DELETE', one)).status, 404)
  for (const href of [
    '/api/storage/volumes',
    '/api/cluster/jobs/x',
    '/api/nothing',
    `/api/storage/volumes/${aggregate}`,
    '%%',
    'x',
  ]) {
    const refused = await call('POST', resources, { href })
    assert.deepEqual([refused.status, refused.body['error']?.['target']], [400, 'href'], href)
  }
  const nameless = await call('POST', '/api/resource-tags/team/resources', { href: bucket })
  assert.equal(nameless.status, 400)
})
