/** What the management interface does not take of a bucket's settings, and the codes that it says so with. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { asText, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'
import { codeOf } from '../../../model/failure.ts'

const cluster = await startTestCluster()
after(() => cluster.close())
const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
const service = `/api/protocols/s3/services/${svm}`

async function bucket(fields: object = {}): Promise<string> {
  const name = `bucket-${++made}`
  const reply = await cluster.call('POST', `${service}/buckets?return_records=true`, { name, ...fields })
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
  return `${service}/buckets/${asText(recordsOf(reply.body)[0]?.['uuid'])}`
}
let made = 0

async function refusal(method: string, path: string, body: object): Promise<unknown[]> {
  const { status, body: answer } = await cluster.call(method, path, body)
  return [status, Number(answer['error']?.['code']), answer['error']?.['target']]
}

const many = (count: number, of: (at: number) => unknown) => Array.from({ length: count }, (_, at) => of(at))
const statement = { effect: 'allow', principals: ['*'], actions: ['GetObject'] }

test('statements are refused with the code of what is wrong with them', async () => {
  const path = await bucket()
  const cases: [object, number, string][] = [
    [{ ...statement, resources: ['other/*'] }, codeOf('policyStatementResourcesUnfit'), 'resources'],
    [{ ...statement, resources: ['arn:aws:sqs:::x'] }, codeOf('policyStatementResourcesUnfit'), 'resources'],
    [{ ...statement, resources: many(501, (at) => `bucket-1/${at}`) }, 92405894, 'resources'],
    [{ ...statement, principals: many(501, (at) => `user${at}`) }, 92405894, 'principals'],
    [{ ...statement, principals: ['user*'] }, codeOf('policyStatementPrincipalsUnfit'), 'principals'],
    [{ ...statement, principals: ['group/'] }, codeOf('policyStatementPrincipalsUnfit'), 'principals'],
    [{ ...statement, principals: [] }, codeOf('policyStatementPrincipalsUnfit'), 'principals'],
    [{ ...statement, sid: 'x'.repeat(257) }, codeOf('policyStatementSidUnfit'), 'sid'],
    [{ ...statement, sid: 'ü' }, codeOf('policyStatementSidUnfit'), 'sid'],
    [{ ...statement, actions: ['Fly'] }, codeOf('policyStatementUnfit'), 'actions'],
    [{ effect: 'allow', principals: ['*'] }, codeOf('policyStatementUnfit'), 'actions'],
    [{ ...statement, not_actions: ['PutObject'] }, codeOf('policyStatementUnfit'), 'not_actions'],
    [{ ...statement, not_resources: [] }, codeOf('policyStatementResourcesUnfit'), 'not_resources'],
    [
      { effect: 'allow', not_principals: ['alice'], actions: ['*'] },
      codeOf('policyStatementPrincipalsUnfit'),
      'principals',
    ],
    [{ ...statement, conditions: [{ operator: 'string_like' }] }, codeOf('policyStatementUnfit'), 'conditions'],
    [
      { ...statement, conditions: [{ operator: 'string_like', prefixes: [] }] },
      codeOf('policyStatementUnfit'),
      'conditions',
    ],
    [
      { ...statement, conditions: [{ operator: 'near', prefixes: ['a'] }] },
      codeOf('policyStatementUnfit'),
      'conditions',
    ],
    [
      { ...statement, conditions: [{ operator: 'ip_address', source_ips: ['here'] }] },
      codeOf('policyStatementUnfit'),
      'conditions',
    ],
    [
      { ...statement, conditions: [{ operator: 'bool', key: 'aws:Moon', values: ['true'] }] },
      codeOf('policyStatementUnfit'),
      'conditions',
    ],
  ]
  for (const [given, code, field] of cases) {
    const wanted = [422, code, `policy.statements[1].${field}`]
    const body = { policy: { statements: [statement, given] } }
    assert.deepEqual(await refusal('PATCH', path, body), wanted, JSON.stringify(given).slice(0, 200))
  }
  const tooMany = { policy: { statements: many(201, () => statement) } }
  assert.deepEqual(await refusal('PATCH', path, tooMany), [422, 92405894, 'policy.statements'])
  const tooLong = {
    policy: { statements: many(100, () => ({ ...statement, resources: ['bucket-1/'.padEnd(2000, 'x')] })) },
  }
  assert.deepEqual(await refusal('PATCH', path, tooLong), [422, 92405894, 'policy.statements'])
  const onCreate = { name: 'never-made', policy: { statements: [{ ...statement, sid: 'ü' }] } }
  assert.deepEqual(await refusal('POST', `${service}/buckets`, onCreate), [
    422,
    codeOf('policyStatementSidUnfit'),
    'policy.statements[0].sid',
  ])
})

test('statements of named policies are held to the same', async () => {
  const policies = `${service}/policies`
  const cases: [object, number, string][] = [
    [
      { effect: 'allow', actions: ['GetObject'], resources: ['/x'] },
      codeOf('policyStatementResourcesUnfit'),
      'resources',
    ],
    [{ effect: 'allow', actions: ['Fly'], resources: ['*'] }, codeOf('policyStatementUnfit'), 'actions'],
    [{ ...statement, principals: ['a*'] }, codeOf('policyStatementPrincipalsUnfit'), 'principals'],
    [
      { effect: 'allow', not_principals: ['a'], actions: ['*'] },
      codeOf('policyStatementPrincipalsUnfit'),
      'not_principals',
    ],
    [{ ...statement, sid: 'ü' }, codeOf('policyStatementSidUnfit'), 'sid'],
  ]
  for (const [given, code, field] of cases) {
    const body = { name: 'bad', statements: [given] }
    assert.deepEqual(await refusal('POST', policies, body), [422, code, `statements[0].${field}`])
  }
  const good = {
    ...statement,
    principals: ['alice'],
    resources: ['*'],
    conditions: [{ operator: 'null', if_match: ['true'] }],
  }
  const reply = await cluster.call('POST', `${policies}?return_records=true`, { name: 'good', statements: [good] })
  assert.equal(reply.status, 201)
  assert.deepEqual(recordsOf(reply.body)[0]?.['statements'], [good])
  const worse = { statements: [good, { ...good, sid: 'ü' }] }
  assert.deepEqual(await refusal('PATCH', `${policies}/good`, worse), [
    422,
    codeOf('policyStatementSidUnfit'),
    'statements[1].sid',
  ])
})

test('cross-origin rules are refused with the code of what is wrong with them', async () => {
  const path = await bucket()
  const rule = { allowed_origins: ['*'], allowed_methods: ['GET'] }
  const cases: [unknown, number][] = [
    [[{ ...rule, allowed_methods: ['PATCH'] }], codeOf('corsMethodsUnfit')],
    [[{ ...rule, allowed_headers: ['a*b*'] }], codeOf('corsHeadersUnfit')],
    [[{ ...rule, expose_headers: ['x y'] }], codeOf('corsHeadersUnfit')],
    [[{ ...rule, allowed_origins: [] }], codeOf('corsRuleIncomplete')],
    [many(101, () => rule), codeOf('tooManyCorsRules')],
    [[{ ...rule, allowed_origins: many(100, (at) => `https://${'x'.repeat(700)}${at}`) }], codeOf('tooManyCorsRules')],
  ]
  for (const [rules, code] of cases) {
    assert.deepEqual(await refusal('PATCH', path, { cors: { rules } }), [422, code, 'cors.rules'])
  }
})

test('lifecycle rules are held to what the object store holds its own clients to', async () => {
  const path = await bucket()
  const age = { expiration: { object_age_days: 1 } }
  const field = 'lifecycle_management.rules'
  for (const rules of [
    [{ name: 'nothing to do' }],
    [
      { name: 'a', ...age },
      { name: 'a', ...age },
    ],
    [{ name: 'two', expiration: { object_age_days: 1, object_expiry_date: '2030-01-01T00:00:00Z' } }],
    [{ name: 'noon', expiration: { object_expiry_date: '2030-01-01T12:00:00Z' } }],
    [{ name: 'no days', non_current_version_expiration: { new_non_current_versions: 3 } }],
    [
      {
        name: 'markers have none',
        object_filter: { tags: ['a=b'] },
        expiration: { expired_object_delete_marker: true },
      },
    ],
    [{ name: 'long', object_filter: { prefix: 'ü'.repeat(600) }, ...age }],
  ]) {
    const [status, , target] = await refusal('PATCH', path, { lifecycle_management: { rules } })
    assert.deepEqual([status, target], [422, field], JSON.stringify(rules).slice(0, 100))
  }
  for (const [body, target] of [
    [{ name: 'x', expiration: { object_age_days: 0 } }, 'expiration.object_age_days'],
    [{ name: 'x'.repeat(256), ...age }, 'name'],
    [age, 'name'],
    [{ name: 'x' }, field],
  ] as const) {
    const [status, , given] = await refusal('POST', `${path}/rules`, body)
    assert.deepEqual([status, given], [422, target])
  }
  const elsewhere = `${service}/buckets/00000000-0000-4000-8000-000000000000/rules`
  assert.equal((await cluster.call('GET', elsewhere)).status, 404)
  assert.equal((await cluster.call('POST', elsewhere, { name: 'x', ...age })).status, 404)
})

test('a retention has a mode and a period that make sense together', async () => {
  const path = await bucket({ versioning_state: 'enabled' })
  for (const [retention, target] of [
    [{ mode: 'governance' }, 'retention.default_period'],
    [{ default_period: 'P1D' }, 'retention.default_period'],
    [{ mode: 'no_lock', default_period: 'P1D' }, 'retention.default_period'],
    [{ mode: 'governance', default_period: 'P0D' }, 'retention.default_period'],
    [{ mode: 'governance', default_period: 'P36501D' }, 'retention.default_period'],
    [{ mode: 'governance', default_period: 'P101Y' }, 'retention.default_period'],
    [{ mode: 'governance', default_period: 'PT1H' }, 'retention.default_period'],
    [{ mode: 'worm', default_period: 'P1D' }, 'retention.mode'],
  ] as const) {
    const [status, , given] = await refusal('PATCH', path, { retention })
    assert.deepEqual([status, given], [422, target], JSON.stringify(retention))
  }
  for (const [given, shown] of [
    ['30days', 'P30D'],
    ['1 year', 'P1Y'],
    ['p7y', 'P7Y'],
  ] as const) {
    await cluster.call('PATCH', path, { retention: { mode: 'compliance', default_period: given } })
    const { body } = await cluster.call('GET', `${path}?fields=retention`)
    assert.deepEqual(body['retention'], { mode: 'compliance', default_period: shown })
  }
})

test('a bucket that is to have locks cannot be told to keep no versions', async () => {
  const retention = { mode: 'governance', default_period: 'P1D' }
  const suspended = { name: 'never-made', retention, versioning_state: 'suspended' }
  assert.equal((await cluster.call('POST', `${service}/buckets`, suspended)).status, 422)
  const path = await bucket({ retention, versioning_state: 'disabled' })
  assert.equal((await cluster.call('GET', `${path}?fields=versioning_state`)).body['versioning_state'], 'enabled')
  for (const state of ['suspended', 'disabled']) {
    assert.deepEqual(await refusal('PATCH', path, { versioning_state: state }), [422, 92406014, 'versioning_state'])
  }
})

test('fields of later releases are not there in earlier ones', async () => {
  const old = await startTestCluster({ release: '9.13.1' })
  try {
    const svm = await old.uuidOf('/api/svm/svms', 'svm1')
    const buckets = `/api/protocols/s3/services/${svm}/buckets`
    for (const [fields, status] of [
      [{ lifecycle_management: { rules: [] } }, 201],
      [{ retention: { mode: 'no_lock' } }, 422],
      [{ cors: { rules: [] } }, 422],
    ] as const) {
      assert.equal((await old.call('POST', buckets, { name: 'one', ...fields })).status, status)
    }
  } finally {
    await old.close()
  }
})

test('a bucket is neither encrypted nor mirrored: it says so, and refuses to be', async () => {
  const path = await bucket({ encryption: { enabled: false } })
  const { body } = await cluster.call('GET', `${path}?fields=encryption,protection_status`)
  assert.deepEqual(body['encryption'], { enabled: false })
  assert.deepEqual(body['protection_status'], {
    is_protected: false,
    destination: { is_ontap: false, is_cloud: false },
  })
  const [status, , target] = await refusal('PATCH', path, { encryption: { enabled: true } })
  assert.deepEqual([status, target], [422, 'encryption.enabled'])
})
