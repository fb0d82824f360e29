/** A later user of a name gets nothing that was granted to the earlier one. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTestCluster, type TestCluster } from '../../../../../test/support/cluster.ts'
import { Tenancy } from '../../../../s3/tenancy/tenancy.ts'

let t: TestCluster
let services: string
let svm: string
before(async () => {
  t = await startTestCluster()
  svm = await t.uuidOf('/api/svm/svms', 'svm1')
  services = `/api/protocols/s3/services/${svm}`
})
after(() => t.close())

async function done(method: string, path: string, body?: unknown): Promise<void> {
  const reply = await t.call(method, path, body)
  assert.ok(reply.status < 300, `${method} ${path}: ${JSON.stringify(reply.body)}`)
}

const makeUser = (name: string, place = services) =>
  done('POST', `${place}/users`, { name, access_key: `KEY-${name}`, secret_key: 'secret-of-the-user' })
const removeUser = (name: string, place = services) => done('DELETE', `${place}/users/${name}`)

/** What is decided of a user who reads a key of a bucket. */
async function decision(name: string, bucketName: string, key = 'x'): Promise<string> {
  const { catalog, secrets } = t.cluster
  const view = await new Tenancy(catalog, (sealed) => secrets.unseal(sealed)).view()
  const caller = await view.user(`KEY-${name}`)
  const bucket = await view.bucket(svm, bucketName)
  const [server] = await view.servers(svm)
  assert.ok(caller !== undefined && bucket !== undefined && server !== undefined)
  const context = () => (asked: string) => (asked === 'aws:username' ? [caller.name] : undefined)
  return (await view.decide({ caller, server, bucket }, 's3:GetObject', `${bucketName}/${key}`, context)).decision
}

async function makeBucket(name: string, statements: readonly object[]): Promise<void> {
  await done('POST', '/api/protocols/s3/buckets?return_timeout=15', {
    name,
    svm: { name: 'svm1' },
    policy: { statements },
  })
}

const allow = (more: object) => ({ effect: 'allow', actions: ['*'], ...more })

test('statements of a bucket name the user who had the name, until they are set again', async () => {
  const statements = [allow({ principals: ['anna'] })]
  await makeBucket('annas', statements)
  await makeUser('anna')
  assert.equal(await decision('anna', 'annas'), 'allow', 'a policy may name a user who is made later')
  await removeUser('anna')
  await makeUser('anna')
  assert.equal(await decision('anna', 'annas'), 'none')
  await removeUser('anna')
  const bucket = `/api/protocols/s3/buckets/${svm}/${await t.uuidOf('/api/protocols/s3/buckets', 'annas')}`
  await done('PATCH', bucket, { comment: 'not about its policy' })
  await makeUser('anna')
  assert.equal(await decision('anna', 'annas'), 'none', 'another change of the bucket grants nothing')
  await done('PATCH', bucket, { policy: { statements: [allow({ principals: ['anna', 'bert'] })] } })
  assert.equal(await decision('anna', 'annas'), 'allow')
})

test('denials, exceptions and conditions that name a user mean the earlier one too', async () => {
  await makeUser('carl')
  await makeBucket('carls', [
    allow({ principals: ['*'], conditions: [{ operator: 'string_equals', usernames: ['carl'] }] }),
  ])
  await makeBucket('all-but-carl', [
    allow({ principals: ['*'] }),
    { effect: 'deny', actions: ['*'], not_principals: ['carl'] },
  ])
  assert.deepEqual([await decision('carl', 'carls'), await decision('carl', 'all-but-carl')], ['allow', 'allow'])
  await removeUser('carl')
  await makeUser('carl')
  assert.deepEqual([await decision('carl', 'carls'), await decision('carl', 'all-but-carl')], ['none', 'deny'])
})

test('a group loses a user who is deleted, and gives a later one of the name nothing', async () => {
  await makeUser('dora')
  await makeUser('emil')
  await done('POST', `${services}/groups`, {
    name: 'readers',
    users: [{ name: 'dora' }, { name: 'emil' }],
    policies: [{ name: 'FullAccess' }],
  })
  await makeBucket('of-readers', [allow({ principals: ['group/readers'] })])
  assert.equal(await decision('dora', 'of-readers'), 'allow')
  await removeUser('dora')
  await makeUser('dora')
  assert.equal(await decision('dora', 'of-readers'), 'none')
  assert.equal(await decision('emil', 'of-readers'), 'allow')
  const { body } = await t.call('GET', `${services}/groups?name=readers&fields=users`)
  assert.deepEqual(body['records']?.[0]?.['users'], [{ name: 'emil' }])
})

test('a later group of a name gives its users nothing that was granted to the earlier one', async () => {
  await makeUser('fred')
  await done('POST', `${services}/policies`, { name: 'Nothing', statements: [] })
  const made = { name: 'writers', users: [{ name: 'fred' }], policies: [{ name: 'Nothing' }] }
  await done('POST', `${services}/groups`, made)
  await makeBucket('of-writers', [allow({ principals: ['group/writers'] })])
  assert.equal(await decision('fred', 'of-writers'), 'allow')
  const { body } = await t.call('GET', `${services}/groups?name=writers&fields=id`)
  await done('PATCH', `${services}/groups/${JSON.stringify(body['records']?.[0]?.['id'])}`, { name: 'authors' })
  await done('POST', `${services}/groups`, made)
  assert.equal(await decision('fred', 'of-writers'), 'none', 'renaming gives the name up')
  await done('DELETE', `${services}/groups?name=writers`)
  await done('POST', `${services}/groups`, made)
  assert.equal(await decision('fred', 'of-writers'), 'none')
})

test('statements of a policy that servers and groups have mean the earlier user as well', async () => {
  await makeUser('gina')
  await makeUser('hugo')
  await done('POST', `${services}/policies`, {
    name: 'ForGina',
    statements: [allow({ principals: ['gina'], resources: ['*'] })],
  })
  await makeBucket('shared', [])
  const grouped = { name: 'gs', users: [{ name: 'gina' }, { name: 'hugo' }], policies: [{ name: 'ForGina' }] }
  await done('POST', `${services}/groups`, grouped)
  assert.equal(await decision('gina', 'shared'), 'allow')
  await removeUser('gina')
  await makeUser('gina')
  const { body } = await t.call('GET', `${services}/groups?name=gs&fields=id`)
  await done('PATCH', `${services}/groups/${JSON.stringify(body['records']?.[0]?.['id'])}`, { users: grouped.users })
  assert.equal(await decision('gina', 'shared'), 'none', 'who is in the group again is still not whom the policy names')
  await done('PATCH', `${services}/policies/ForGina`, { comment: 'not about its statements' })
  assert.equal(await decision('gina', 'shared'), 'none')
  await done('PATCH', `${services}/policies/ForGina`, {
    statements: [allow({ principals: ['gina', 'hugo'], resources: ['*'] })],
  })
  assert.equal(await decision('gina', 'shared'), 'allow')
})

test('variables stand for the name, whoever has it', async () => {
  await makeBucket('homes', [allow({ principals: ['*'], resources: ['homes/${aws:username}/*'] })])
  await makeUser('ivan')
  await removeUser('ivan')
  await makeUser('ivan')
  assert.equal(await decision('ivan', 'homes', 'ivan/x'), 'allow')
  assert.equal(await decision('ivan', 'homes', 'anna/x'), 'none')
})

test('a user of another SVM who takes the name is not meant either, also when the SVM went with its users', async () => {
  await makeBucket('abroad', [allow({ principals: ['jana'] })])
  for (const [round, expected] of [
    [1, 'allow'],
    [2, 'none'],
  ] as const) {
    await done('POST', '/api/svm/svms?return_timeout=15', { name: 'svm9' })
    const other = await t.uuidOf('/api/svm/svms', 'svm9')
    await makeUser('jana', `/api/protocols/s3/services/${other}`)
    assert.equal(await decision('jana', 'abroad'), expected, `round ${round}`)
    await done('DELETE', `/api/svm/svms/${other}?return_timeout=15`)
  }
})
