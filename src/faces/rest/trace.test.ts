import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { ADMIN, ADMIN_PASSWORD, startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import type { Json } from '../../model/value.ts'
import { answer } from './answer.ts'
import { Replay } from './replay.ts'
import type { TraceEntry } from './trace.ts'

describe('a trace', () => {
  let test: TestCluster
  const entries: TraceEntry[] = []
  before(async () => {
    test = await startTestCluster()
  })
  after(() => test.close())

  async function call(method: string, target: string, body?: unknown, on: TestCluster = test): Promise<TraceEntry> {
    await answer(
      {
        actions: on.actions,
        authenticate: (authorization, from) => on.login.authenticate(authorization, from),
        wireDialect: () => Promise.resolve('auto'),
        trace: (entry) => entries.push(entry),
      },
      {
        method,
        target,
        headers: { authorization: ADMIN, cookie: 'session=1234567', accept: '*/*', 'x-dot-client-app': 'a tool/1.0' },
        body: body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body),
        from: '192.0.2.1',
      },
    )
    return entries.at(-1) as TraceEntry
  }

  it('has what was asked and what was answered', async () => {
    const entry = await call('GET', '/api/svm/svms?fields=name&name=svm1')
    assert.deepEqual([entry.method, entry.target, entry.status], ['GET', '/api/svm/svms?fields=name&name=svm1', 200])
    assert.deepEqual(entry.headers, { accept: '*/*', 'x-dot-client-app': 'a tool/1.0' })
    assert.match(JSON.stringify(entry.answer), /"name":"svm1"/)
    assert.match(entry.time, /^\d{4}-\d\d-\d\dT/)
  })

  it('never has what a resource keeps from being read, whatever it is called, also of several records at once', async () => {
    const value = 'da39a3ee5e6b4b0d3255bfef95601890afd80709'
    const key = { id: 77, digest_type: 'sha1', value }
    for (const [path, body] of [
      ['cluster/ntp/keys', key],
      ['cluster/ntp/keys', { records: [{ ...key, id: 78 }] }],
      ['private/cli/cluster/ntp/key', { ...key, id: 79 }],
    ] as const) {
      const entry = await call('POST', `/api/${path}?return_timeout=15`, body)
      assert.ok(entry.status < 300, JSON.stringify(entry))
      assert.doesNotMatch(JSON.stringify(entry), new RegExp(value))
    }
  })

  it('never has passwords, keys, cookies or what logs in, wherever they stand', async () => {
    const svm = await test.uuidOf('/api/svm/svms', 'svm1')
    const [base64 = ''] = ADMIN.split(' ').slice(1)
    entries.length = 0
    const account = await call('POST', '/api/security/accounts', { name: 'ann', password: 'hunter2hunter2' })
    assert.equal(account.status, 201)
    assert.deepEqual(account.body, { name: 'ann', password: '***' })
    const user = await call('POST', `/api/protocols/s3/services/${svm}/users`, {
      name: 'u1',
      access_key: 'KEYOFTHEUSER0001',
      secret_key: 'secret-of-the-user',
    })
    assert.equal(user.status, 201)
    const key = await call('POST', '/api/security/authentication/keys', { 'user.name': 'ann', 'role.name': 'readonly' })
    assert.equal(key.status, 201)
    assert.match(JSON.stringify(key.answer), /"key":"\*\*\*"/)
    await call('GET', '/api/svm/svms?password=hunter2hunter2')
    await call('GET', `/api/protocols/s3/services/${svm}/users?access_key=KEYOFTHEUSER0001`)
    await call('PATCH', '/api/security/accounts/holdfast/ann', {
      'some.password': 'dotted-password',
      comment: 'dotted-password',
    })
    await call('POST', '/api/security/accounts', '{"name": "x", "password": "broken-off-password')
    const text = JSON.stringify(entries)
    const secrets = [
      ADMIN_PASSWORD,
      base64,
      'session=1234567',
      'hunter2hunter2',
      'KEYOFTHEUSER0001',
      'secret-of-the-user',
      'dotted-password',
      'broken-off-password',
    ]
    for (const secret of secrets) assert.ok(!text.includes(secret), `${secret} is in the trace`)
    const made = await test.cluster.rows('security/authentication/keys')
    assert.equal(made.length, 1)
  })

  it('leaves out what is too long, and says how long it was', async () => {
    const { body, bodyBytes } = await call('POST', '/api/svm/svms', { name: 'x', comment: 'y'.repeat(70_000) })
    assert.equal(body, undefined)
    assert.ok(Number(bodyBytes) > 70_000)
  })

  it('is replayed against another cluster, whose uuids are others', async (context) => {
    const svm = await test.uuidOf('/api/svm/svms', 'svm1')
    entries.length = 0
    await call('GET', '/api/svm/svms?name=svm1&fields=uuid')
    await call('POST', '/api/storage/volumes?return_records=true&return_timeout=10', {
      name: 'v1',
      svm: { uuid: svm },
      size: '20m',
    })
    const uuid = await test.uuidOf('/api/storage/volumes', 'v1')
    await call('GET', '/api/storage/volumes?name=v1&fields=uuid')
    await call('PATCH', `/api/storage/volumes/${uuid}?return_timeout=10`, { comment: 'changed' })
    await call('POST', `/api/protocols/s3/services/${svm}/users`, {
      name: 'u2',
      access_key: 'ABCDEFGH',
      secret_key: 'ijklmnop',
    })
    const recorded = [...entries]

    const other = await startTestCluster()
    context.after(() => other.close())
    const replay = new Replay()
    for (const entry of recorded) {
      const { method, target, body } = replay.request(entry)
      const now = await call(method, target, body, other)
      assert.equal(now.status, entry.status, `${method} ${target}: ${JSON.stringify(now.answer)}`)
      replay.learn(entry.answer, now.answer as Json)
    }
    const { body } = await other.call('GET', '/api/storage/volumes?name=v1&fields=comment')
    assert.match(JSON.stringify(body), /"comment":"changed"/)
  })
})
