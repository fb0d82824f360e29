/**
 * Bad input at the management interface: each is a clear error of the right status, none a 500, and none tells anything
 * of the program. What is wrong is generated from the declarations, so that a new field or resource is covered.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { behaviours } from '../../src/resources/index.ts'
import type { Behaviour } from '../../src/core/behaviour.ts'
import { anyText } from '../support/any-text.ts'
import { asNumber, asText, recordsOf } from '../support/body.ts'
import { basic } from '../support/cluster.ts'
import { seedOf } from '../support/seed.ts'
import { isWhole } from '../support/whole.ts'
import { Made, NATIVE, openTargetHere } from './target.ts'
import { isClear, nested, settable, wrongFor } from './wrong-values.ts'

const { api, user, password } = await openTargetHere()
const made = new Made(api)
const one = await made.server()
await api.call('POST', `${one.data.path}/snapshots`, { name: 'snap1' })
const bucket = await made.record(one.buckets, { name: 'bad-input', volume: { name: one.data.name }, size: 1024 })
const deleted = await api.call('POST', '/api/storage/volumes?return_records=true', {
  name: 'deleted',
  'svm.name': one.svm.name,
  size: '1m',
})
await api.call('DELETE', `/api/storage/volumes/${asText(recordsOf(deleted.body)[0]?.['uuid'])}`)
await api.call('POST', '/api/security/accounts', {
  name: 'a1',
  password: 'a long password',
  role: { name: 'readonly' },
})
const services = `/api/protocols/s3/services/${one.svm.uuid}`
await api.call('POST', `${services}/users`, { name: 'u1' })
await api.call('POST', `${services}/policies`, { name: 'p1' })
await api.call('POST', `${services}/groups`, { name: 'g1', users: [{ name: 'u1' }], policies: [{ name: 'p1' }] })

const policy = await api.call('POST', '/api/storage/snapshot-policies?return_records=true', {
  name: 'sp1',
  'svm.name': one.svm.name,
  copies: [{ count: 2, schedule: { name: 'hourly' } }],
})

await api.call('POST', '/api/support/ems/filters', {
  name: 'named1',
  rules: [{ type: 'include', message_criteria: { name_pattern: 'volume.*' } }],
})
const exported = await api.call('POST', '/api/protocols/nfs/export-policies?return_records=true', {
  name: 'ep1',
  'svm.name': one.svm.name,
  rules: [{ clients: [{ match: '192.0.2.0/24' }], ro_rule: ['sys'], rw_rule: ['sys'] }],
})
await api.call('POST', '/api/protocols/cifs/services', { name: 'CIFS1', 'svm.name': one.svm.name })
await api.call('POST', '/api/protocols/cifs/shares', { name: 'share1', 'svm.name': one.svm.name, path: '/' })
for (const [path, more] of [
  ['cifs/local-users', { password: 'a password' }],
  ['cifs/local-groups', {}],
  ['cifs/users-and-groups/privileges', { privileges: [] }],
] as const) {
  await api.call('POST', `/api/protocols/${path}`, { name: 'anna', 'svm.name': one.svm.name, ...more })
}
for (const [path, more] of [
  ['ldap', { servers: ['192.0.2.53'] }],
  ['nis', { domain: 'example', servers: ['192.0.2.53'] }],
  ['name-mappings', { direction: 'win_unix', index: 1, pattern: 'a', replacement: 'b' }],
  ['unix-users', { name: 'anna', id: 1001, primary_gid: 100 }],
  ['unix-groups', { name: 'staff', id: 100 }],
] as const) {
  await api.call('POST', `/api/name-services/${path}`, { 'svm.name': one.svm.name, ...more })
}
const role = await api.call('POST', '/api/security/roles?return_records=true', {
  name: 'named1',
  privileges: [{ path: '/api/cluster', access: 'readonly' }],
})
const group = await api.call('POST', '/api/application/consistency-groups?return_records=true&return_timeout=15', {
  name: 'cg1',
  'svm.name': one.svm.name,
  volumes: [{ name: 'in_group', space: { size: '20m' } }],
})

const NOBODY = '00000000-0000-4000-8000-000000000000'
/** Keys of paths, by the name that the path gives them. */
const KEYS: Readonly<Record<string, string>> = {
  'svm.uuid': one.svm.uuid,
  'server.uuid': one.server.uuid,
  'volume.uuid': one.data.uuid,
  's3_bucket.uuid': bucket.uuid,
  'counter_table.name': 'volume',
  'policy.id': String(asNumber(recordsOf(exported.body)[0]?.['id'])),
  share: 'share1',
  'owner.uuid': asText(recordsOf(role.body)[0]?.['owner']?.['uuid']),
  name: 'named1',
  'consistency_group.uuid': asText(recordsOf(group.body)[0]?.['uuid']),
  'snapshot_policy.uuid': asText(recordsOf(policy.body)[0]?.['uuid']),
}

function collectionOf({ resource }: Behaviour): string {
  return `/api${resource.path.replaceAll(/\{([^}]+)\}/g, (_, key: string) => KEYS[key] ?? NOBODY)}`
}

/** A record of the resource that is there, where there is one. */
async function instanceOf(behaviour: Behaviour): Promise<string | undefined> {
  const { resource } = behaviour
  const collection = collectionOf(behaviour)
  if (resource.isSingleton) return collection
  const { body, status } = await api.get(`${collection}?fields=${resource.key.join()}&max_records=1`)
  const record = status === 200 ? recordsOf(body)[0] : undefined
  if (record === undefined) {
    const example = behaviour.create?.example
    if (example === undefined) return undefined
    const created = await api.call(resource.createMethod, collection, example)
    return created.status === 201 ? instanceOf(behaviour) : undefined
  }
  const valueAt = (path: string) =>
    path.split('.').reduce<unknown>((at, word) => (at as Record<string, unknown> | undefined)?.[word], record)
  return `${collection}/${resource.key.map((key) => encodeURIComponent(String(valueAt(key)))).join('/')}`
}

/** A plain run sends each of these to some of the places and some of these to each place, `.ci/run` all to all. */
const PART = isWhole ? 1 : 6
function partOf<Item>(items: readonly Item[], place: number): Item[] {
  // Each place gets one of them at least.
  const every = Math.min(PART, items.length)
  return items.filter((_, at) => (at + place) % every === 0)
}

for (const behaviour of behaviours) {
  const { resource, create, modify } = behaviour
  if (create !== undefined) {
    test(`a create at ${resource.path} refuses a wrong value of each of its fields`, async (context) => {
      const collection = collectionOf(behaviour)
      const seed = seedOf(context)
      for (const [place, field] of settable(behaviour, 'create').entries()) {
        for (const value of partOf(wrongFor(field), seed + place)) {
          const about = `${resource.createMethod} ${collection} ${field.path} = ${JSON.stringify(value).slice(0, 80)}`
          const body = { ...create.example, ...nested(field.path, value) }
          isClear(await api.call(resource.createMethod, collection, body), [400, 422], about)
        }
      }
    })
  }
  if (modify !== undefined) {
    test(`a change at ${resource.path} refuses a wrong value of each of its fields`, async (context) => {
      const seed = seedOf(context)
      const instance = await instanceOf(behaviour)
      assert.ok(instance !== undefined, `There is no record at ${resource.path} to change: make one above.`)
      for (const [place, field] of settable(behaviour, 'modify').entries()) {
        for (const value of partOf(wrongFor(field), seed + place)) {
          const about = `PATCH ${instance} ${field.path} = ${JSON.stringify(value).slice(0, 80)}`
          isClear(await api.call('PATCH', instance, nested(field.path, value)), [400, 422], about)
        }
      }
      for (const field of resource.fields.values()) {
        if (field.set === 'always' || field.set === 'modify') continue
        isClear(await api.call('PATCH', instance, nested(field.path, 'x')), [422], `PATCH ${instance} ${field.path}`)
      }
    })
  }
}

for (const behaviour of behaviours) {
  test(`a read of ${behaviour.resource.path} refuses unknown fields, filters and orders`, async () => {
    const collection = collectionOf(behaviour)
    for (const query of [
      'fields=nothing',
      'nothing=x',
      'fields=__proto__',
      'fields={',
      'fields=%00',
      '__proto__=x',
      'constructor=x',
      '$where=1',
    ]) {
      isClear(await api.get(`${collection}?${query}`), [400], `${collection}?${query}`)
    }
    if (behaviour.resource.isSingleton) return
    isClear(await api.get(`${collection}?order_by=nothing`), [400], collection)
    for (const field of behaviour.resource.fields.values()) {
      if (!['bytes', 'count', 'time', 'flag'].includes(field.kind.name)) continue
      isClear(await api.get(`${collection}?${field.path}=nonsense`), [400], `${collection}?${field.path}=nonsense`)
    }
  })
}

const writes = behaviours
  .filter(({ create }) => create !== undefined)
  .map((behaviour) => [behaviour.resource.createMethod, collectionOf(behaviour)] as const)

test('a body that is no JSON, or no object, is 400', async () => {
  const bodies = [
    '{',
    '{"name":}',
    "{'name':1}",
    'name=x',
    '',
    ' ',
    '[]',
    '"x"',
    '5',
    'null',
    'true',
    '[{"name":"x"}]',
    '\uFEFF{',
    '{"a":1}{"b":2}',
    '{"a":1,}',
    'NaN',
    '\0',
    '<xml/>',
    '{"a":"\n"}',
    '{"a":"\\ud800\\u"}',
  ]
  for (const [place, [method, path]] of writes.entries()) {
    for (const raw of partOf(bodies, place))
      isClear(await api.call(method, path, undefined, { raw }), [400], `${method} ${path} ${JSON.stringify(raw)}`)
    isClear(await api.call(method, path), [400], `${method} ${path} without a body`)
  }
})

test('a body deeper than it may be is 400, at any depth', async () => {
  for (const levels of [33, 1000, 10_000, 100_000]) {
    for (const raw of [
      `${'['.repeat(levels)}${']'.repeat(levels)}`,
      `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`,
      '['.repeat(levels),
      `{"name":${'['.repeat(levels)}`,
    ]) {
      isClear(await api.call('POST', '/api/svm/svms', undefined, { raw }), [400], `${levels} levels`)
    }
  }
})

test('a body larger than it may be is 413, and the next request is answered', async () => {
  const raw = JSON.stringify({ name: 'x'.repeat(2 * 2 ** 20) })
  isClear(await api.call('POST', '/api/svm/svms', undefined, { raw }), [413], '2 MiB')
  assert.equal((await api.get('/api/cluster')).status, 200)
})

test('unknown names in bodies are 422, also those of Object.prototype', async () => {
  for (const [place, [method, path]] of writes.entries()) {
    const names = [
      'nothing',
      '__proto__',
      'constructor',
      'toString',
      'hasOwnProperty',
      '',
      '.',
      '..',
      'a.b.c',
      'x'.repeat(10_000),
      '$password',
      '$folder',
      '$started',
    ]
    for (const name of partOf(names, place)) {
      const raw = `{${JSON.stringify(name)}:{"x":1}}`
      isClear(await api.call(method, path, undefined, { raw }), [422], `${method} ${path} ${name.slice(0, 30)}`)
    }
  }
})

test('names given twice, escaped or dotted, are refused', async () => {
  const raw = '{"name":"x","svm":{"name":"svm1"},"svm.name":"svm1"}'
  isClear(await api.call('POST', '/api/storage/volumes', undefined, { raw }), [400], raw)
})

test('hostile words in paths are 404 or 400, and reach nothing', async () => {
  const words = [
    '..',
    '.',
    '%2e%2e',
    '..%2f..',
    '%00',
    'a%00b',
    '%2F',
    '%2Fetc%2Fpasswd',
    '%',
    '%zz',
    '%ff',
    '%c0%ae',
    '__proto__',
    'constructor',
    'x'.repeat(4000),
    '%20',
    "' OR 1=1 --",
    '{svm.uuid}',
    '*',
    'null',
    'NaN',
    '%5c..',
    '\u{1f642}',
  ]
  for (const word of words) {
    for (const at of [
      `/api/storage/volumes/`,
      `${one.data.path}/snapshots/`,
      `/api/svm/svms/`,
      `/api/cluster/jobs/`,
      '/api/',
      '/api/storage/',
      `/api/security/accounts/holdfast/`,
      `/api/protocols/s3/services/`,
      '/docs/swagger-ui/files/',
      '/docs/',
    ]) {
      const path = `${at}${encodeURI(word).replaceAll('%25', '%')}`
      const reply = await api.get(path)
      // Leaving the last word away, a dot is the collection itself.
      if (reply.status === 200 && ['.', '..', '%2e%2e'].includes(word)) continue
      isClear(reply, [400, 404], path.slice(0, 200))
      if (at.startsWith('/api/')) {
        for (const method of ['PATCH', 'DELETE']) {
          const refused = await api.call(method, path, {})
          isClear(refused, [400, 404, 405], `${method} ${path.slice(0, 200)}`)
        }
      }
    }
  }
})

test('methods that a path does not have are 405 and say which it has', async () => {
  for (const [method, path] of [
    ['PUT', '/api/svm/svms'],
    ['POST', '/api/cluster'],
    ['DELETE', '/api/cluster'],
    ['DELETE', '/api/cluster/jobs'],
    ['POST', one.servers],
    ['DELETE', '/api/cluster/nodes'],
    ['POST', '/api/security/audit/messages'],
  ] as const) {
    const reply = await api.call(method, path, {})
    isClear(reply, [405], `${method} ${path}`)
    assert.match(reply.headers['allow'] ?? '', /GET/)
  }
})

test('hostile queries are 400', async () => {
  for (const query of [
    `name=${'x'.repeat(9000)}`,
    `name=${encodeURIComponent('|'.repeat(2000))}`,
    `name=${encodeURIComponent('!'.repeat(8000))}"`,
    'name=%22open',
    `fields=${'a,'.repeat(3000)}b`,
    `order_by=${'name,'.repeat(30)}name`,
    Array.from({ length: 300 }, (_, at) => `f${at}=x`).join('&'),
    'password=x',
    'size=%00',
    'max_records=1e3',
    'offset=%F0%9F%99%82',
    'start=W10%3D%3D%3D%3D',
  ]) {
    const reply = await api.get(`/api/storage/volumes?${query}`)
    if (reply.status === 200 && query.startsWith('start')) continue
    isClear(reply, [400], query.slice(0, 60))
  }
})

test('arguments that are no arguments of a write are 400', async () => {
  for (const query of [
    'nothing=1',
    'constructor=1',
    '__proto__=1',
    'toString=1',
    'return_timeout=x',
    'return_records=x',
    'return_timeout=1e1',
  ]) {
    isClear(await api.call('PATCH', `${one.data.path}?${query}`, { comment: 'x' }), [400], query)
    isClear(await api.call('POST', `/api/svm/svms?${query}`, { name: 'never_made' }), [400], query)
  }
  isClear(await api.call('POST', '/api/svm/svms?name=x', { name: 'never_made' }), [400], 'name=x')
  assert.equal(recordsOf((await api.get('/api/svm/svms?name=never_made')).body).length, 0)
})

test('any content type with JSON is taken as JSON, and with anything else refused', async () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'nonsense',
    'application/json; charset=latin1',
    '',
  ]) {
    isClear(
      await api.call('POST', '/api/svm/svms', undefined, { raw: 'name=x', headers: { 'content-type': type } }),
      [400, 415],
      type,
    )
  }
})

test('bad Authorization headers are 401', async () => {
  for (const header of [
    'Basic',
    'Basic ====',
    `Basic ${'A'.repeat(9000)}`,
    'Basic YQ==',
    'Bearer',
    'Bearer a.b.c.d',
    `Bearer ${'x'.repeat(9000)}`,
    'Negotiate x',
    'AWS4-HMAC-SHA256 Credential=x',
    basic(user, `${password} `),
    basic(`${user}\0`, password),
  ]) {
    isClear(await api.as(header).get('/api/cluster'), [401], header.slice(0, 40))
  }
})

test('random bodies, for every resource and verb, are never a 500', async (context) => {
  const targets: [string, string, Behaviour, 'create' | 'modify'][] = []
  for (const behaviour of behaviours) {
    if (behaviour.create !== undefined)
      targets.push([behaviour.resource.createMethod, collectionOf(behaviour), behaviour, 'create'])
    const instance = behaviour.modify === undefined ? undefined : await instanceOf(behaviour)
    if (instance !== undefined) targets.push(['PATCH', instance, behaviour, 'modify'])
  }
  // What logs this test in and what is at the other end of the line stays as it is, and nothing fails on purpose.
  const isOwn = (path: string) => /^\/api\/(security\/accounts|cluster$|private\/faults(\/|$))|\/network\//.test(path)
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    anyText(),
    fc.constantFrom<unknown>('1g', '', null, 0, -1, [], {}, 2 ** 53, NOBODY, one.svm.name, one.data.name, 'svm1'),
  )
  const anyName = fc.string()
  const calls = targets
    .filter(([, path]) => !isOwn(path))
    .map(([method, path, behaviour, purpose]) => {
      const fields = settable(behaviour, purpose).map((field) => field.path)
      const names = fc.oneof(
        // What is asked by the query alone has no fields.
        { weight: 5, arbitrary: fc.constantFrom(...(fields.length === 0 ? ['uuid'] : fields)) },
        { weight: 1, arbitrary: anyName },
      )
      const body = fc
        .dictionary(names, value, { maxKeys: 6, noNullPrototype: true })
        .map((random) => Object.assign({}, purpose === 'create' ? behaviour.create?.example : {}, random))
      return fc.record({ method: fc.constant(method), path: fc.constant(path), body, native: fc.boolean() })
    })
  const call = fc.oneof(...calls)
  await fc.assert(
    fc.asyncProperty(call, async ({ method, path, body, native }) => {
      const reply = await api.call(method, path, body, native ? NATIVE : {})
      assert.ok(reply.status < 500, `${method} ${path} ${JSON.stringify(body)}: ${reply.status} ${reply.text}`)
      if (reply.status >= 400) isClear(reply, [400, 404, 409, 422], `${method} ${path}`)
    }),
    { seed: seedOf(context), numRuns: isWhole ? 600 : 300 },
  )
})

test('after all of that the cluster answers, and what was made before is as it was', async () => {
  assert.equal((await api.get(one.data.path)).status, 200)
  assert.equal((await api.get(bucket.path)).status, 200)
  assert.equal((await api.get('/readyz')).status, 200)
})
