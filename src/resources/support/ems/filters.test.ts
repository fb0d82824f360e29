import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, type Body, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../../test/support/cluster.ts'
import { wireCode } from '../../../../test/support/codes.ts'

const EMS = '/api/support/ems'
const FILTERS = `${EMS}/filters`
const DESTINATIONS = `${EMS}/destinations`
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }
const failed = ({ status, body }: { status: number; body: Body }) => [status, body['error']?.['code']]
const bare = () => startTestCluster({ isBare: true })

const RULES = [
  { index: 1, type: 'include', message_criteria: { name_pattern: 'volume.*', severities: 'ALERT, error' } },
  { index: 2, type: 'exclude', message_criteria: { name_pattern: 'snapshot.*' } },
]
const ANY = [{ name_pattern: '*', value_pattern: '*' }]
const shown = (index: number, type: string, name: string, severities: string) => ({
  index,
  type,
  message_criteria: { name_pattern: name, severities, snmp_trap_types: '*' },
  parameter_criteria: ANY,
})

async function rulesOf(cluster: TestCluster, name: string): Promise<unknown> {
  const { body } = await cluster.call('GET', `${FILTERS}?name=${name}&fields=rules`, undefined, TOOL)
  return recordsOf(body)[0]?.['rules']
}

test('a filter shows what its rules leave out as anything, and that it leaves out all others', async () => {
  const cluster = await bare()
  assert.equal((await cluster.call('POST', FILTERS, { name: 'full', rules: RULES }, TOOL)).status, 201)
  const expected = [
    shown(1, 'include', 'volume.*', 'alert,error'),
    shown(2, 'exclude', 'snapshot.*', '*'),
    shown(3, 'exclude', '*', '*'),
  ]
  assert.deepEqual(await rulesOf(cluster, 'full'), expected)
  const path = `${FILTERS}/full`
  assert.equal((await cluster.call('PATCH', path, { rules: [RULES[1], RULES[0]] }, TOOL)).status, 200)
  assert.deepEqual(await rulesOf(cluster, 'full'), expected)
  assert.equal((await cluster.call('POST', FILTERS, { name: 'full' })).status, 409)
  assert.equal((await cluster.call('DELETE', path)).status, 200)
  await cluster.close()
})

test('rules are added, changed and removed one by one, and those behind them move', async () => {
  const cluster = await bare()
  await cluster.call('POST', FILTERS, { name: 'full', rules: RULES })
  const path = `${FILTERS}/full/rules`
  const first = { index: 1, type: 'exclude', message_criteria: { severities: 'debug' } }
  assert.equal((await cluster.call('POST', path, first)).status, 201)
  assert.equal(
    (await cluster.call('POST', path, { type: 'include', message_criteria: { name_pattern: 'x.*' } })).status,
    201,
  )
  assert.equal((await cluster.call('PATCH', `${path}/2`, { 'message_criteria.severities': 'alert' })).status, 200)
  assert.equal((await cluster.call('DELETE', `${path}/3`)).status, 200)
  const expected = [
    shown(1, 'exclude', '*', 'debug'),
    shown(2, 'include', 'volume.*', 'alert'),
    shown(3, 'include', 'x.*', '*'),
    shown(4, 'exclude', '*', '*'),
  ]
  assert.deepEqual(await rulesOf(cluster, 'full'), expected)
  const listed = recordsOf((await cluster.call('GET', `${path}?fields=type`)).body)
  assert.deepEqual(
    listed.map((row) => row['type']),
    ['exclude', 'include', 'include', 'exclude'],
  )
  assert.equal((await cluster.call('DELETE', `${path}/4`)).status, 409)
  assert.equal((await cluster.call('POST', path, { ...first, index: 9 })).status, 422)
  assert.equal((await cluster.call('GET', `${FILTERS}/nothing/rules`)).status, 404)
  await cluster.close()
})

test('rules that say nothing, or what nobody knows, are refused', async () => {
  const cluster = await bare()
  const rule = (more: object) => [{ type: 'include', ...more }]
  for (const [rules, code] of [
    [rule({}), wireCode('filterRuleWithoutCriteria')],
    [rule({ message_criteria: {} }), wireCode('filterRuleWithoutCriteria')],
    [rule({ message_criteria: { severities: 'bad' } }), wireCode('filterSeverityUnknown')],
    [rule({ message_criteria: { snmp_trap_types: 'bad' } }), wireCode('filterTrapTypeUnknown')],
    [rule({ message_criteria: { name_pattern: 'a b' } }), '262197'],
    [rule({ index: 3, message_criteria: { name_pattern: 'a' } }), '983095'],
  ] as const) {
    assert.deepEqual(failed(await cluster.call('POST', FILTERS, { name: 'full', rules }, TOOL)), [400, code])
  }
  assert.equal((await cluster.call('POST', FILTERS, { name: '-' })).status, 422)
  await cluster.close()
})

test('the filters and the destination of traps that a cluster comes with stay, and are told apart', async () => {
  const cluster = await bare()
  const own = recordsOf((await cluster.call('GET', `${FILTERS}?system_defined=true&fields=name`)).body)
  assert.deepEqual(
    own.map((row) => row['name']),
    ['default-trap-events', 'important-events', 'no-info-debug-events'],
  )
  const path = `${FILTERS}/important-events`
  assert.deepEqual(failed(await cluster.call('PATCH', path, { rules: [] }, TOOL)), [
    409,
    wireCode('builtInEventFilter'),
  ])
  assert.deepEqual(failed(await cluster.call('DELETE', path, undefined, TOOL)), [409, wireCode('builtInEventFilter')])
  const rule = { type: 'include', message_criteria: { name_pattern: 'a' } }
  assert.deepEqual(failed(await cluster.call('POST', `${path}/rules`, rule, TOOL)), [
    409,
    wireCode('builtInEventFilter'),
  ])
  const traps = `${DESTINATIONS}/snmp-traphost`
  assert.deepEqual(failed(await cluster.call('DELETE', traps, undefined, TOOL)), [
    409,
    wireCode('builtInEventDestination'),
  ])
  assert.equal((await cluster.call('PATCH', traps, { filters: [{ name: 'important-events' }] })).status, 200)
  assert.deepEqual((await cluster.call('GET', traps)).body['filters'], [{ name: 'important-events' }])
  await cluster.close()
})

test('destinations come back as they were set, each type with what it takes', async () => {
  const cluster = await bare()
  const filters = [{ name: 'important-events' }]
  const wanted = [
    { name: 'mail', type: 'email', destination: 'operators@example.com', filters },
    {
      name: 'web',
      type: 'rest_api',
      destination: 'https://events.example.com/x',
      filters,
      certificate: { ca: 'ca', serial_number: '1f' },
    },
    {
      name: 'log',
      type: 'syslog',
      destination: 'syslog.example.com',
      filters,
      syslog: { port: 6514, transport: 'tcp_encrypted' },
    },
  ]
  for (const body of wanted) assert.equal((await cluster.call('POST', DESTINATIONS, body, TOOL)).status, 201)
  const log = (await cluster.call('GET', `${DESTINATIONS}/log`)).body
  const format = { message: 'legacy_netapp', timestamp_override: 'no_override', hostname_override: 'no_override' }
  assert.deepEqual(log['syslog'], { port: 6514, transport: 'tcp_encrypted', format })
  const web = (await cluster.call('GET', `${DESTINATIONS}/web`)).body
  assert.deepEqual([web['certificate'], web['syslog']], [{ ca: 'ca', serial_number: '1f' }, undefined])
  const change = { destination: 'nights@example.com', filters: [{ name: 'no-info-debug-events' }] }
  for (let round = 0; round < 2; round++) {
    assert.equal((await cluster.call('PATCH', `${DESTINATIONS}/mail`, change, TOOL)).status, 200)
  }
  const mail = (await cluster.call('GET', `${DESTINATIONS}/mail`)).body
  assert.deepEqual([mail['destination'], mail['filters']], [change.destination, change.filters])
  const found = await cluster.call('GET', `${DESTINATIONS}?filters.name=important-events&fields=name`)
  assert.equal(recordsOf(found.body).length, 2)
  assert.equal((await cluster.call('DELETE', `${DESTINATIONS}/mail`)).status, 200)
  await cluster.close()
})

test('a destination that is none of its type, or has a filter that is not there, is refused', async () => {
  const cluster = await bare()
  const mail = { name: 'mail', type: 'email', destination: 'operators@example.com' }
  for (const odd of [
    { destination: 'operators' },
    { type: 'syslog' },
    { type: 'rest_api', destination: 'https://user:secret@example.com' },
    { type: 'snmp' },
    { filters: [{ name: 'nothing' }] },
    { filters: [{ name: 'important-events' }, { name: 'important-events' }] },
    { 'syslog.port': 514 },
    { 'certificate.ca': 'x' },
  ]) {
    const { status, body } = await cluster.call('POST', DESTINATIONS, { ...mail, ...odd })
    assert.equal(status, 422, JSON.stringify(odd))
    assert.ok(!JSON.stringify(body).includes('secret'))
  }
  await cluster.call('POST', FILTERS, { name: 'full', rules: RULES })
  assert.equal((await cluster.call('POST', DESTINATIONS, { ...mail, filters: [{ name: 'full' }] })).status, 201)
  assert.deepEqual(failed(await cluster.call('DELETE', `${FILTERS}/full`, undefined, TOOL)), [
    409,
    wireCode('eventFilterInUse'),
  ])
  await cluster.close()
})

test('the settings of events have their defaults, come back as they were set, and never show a password', async () => {
  const cluster = await bare()
  assert.deepEqual((await cluster.call('GET', EMS)).body['mail_from'], 'admin@localhost')
  const change = {
    mail_from: 'cluster@example.com',
    mail_server: 'mail.example.com',
    proxy_url: 'https://proxy.example.com:8080',
    proxy_user: 'holdfast',
  }
  const secrets = { mail_server_password: 'a secret of mail', proxy_password: 'a secret of the proxy' }
  for (let round = 0; round < 2; round++) {
    assert.equal((await cluster.call('PATCH', EMS, { ...change, ...secrets }, TOOL)).status, 200)
  }
  const { body } = await cluster.call('GET', `${EMS}?fields=**`)
  for (const [field, value] of Object.entries(change)) assert.equal(body[field], value)
  assert.ok(!JSON.stringify([body, await cluster.cluster.rows('support/ems'), cluster.logged]).includes('secret of'))
  assert.equal((await cluster.call('PATCH', EMS, { mail_from: 'nobody' })).status, 422)
  assert.equal((await cluster.call('DELETE', EMS)).status, 405)
  await cluster.close()
})

test('every event that the cluster can log is in the catalogue', async () => {
  const cluster = await bare()
  const { body } = await cluster.call('GET', `${EMS}/messages?severity=alert&fields=name,description,snmp_trap_type`)
  assert.ok(recordsOf(body).some((row) => asText(row['name']) === 'volume.space.full'))
  await cluster.close()
})

test('what an application logs is an event with its particulars', async () => {
  const cluster = await bare()
  const body = {
    computer_name: 'host1',
    event_source: 'backup',
    event_id: 7,
    event_description: 'It failed.',
    severity: 'error',
  }
  const path = `${EMS}/application-logs`
  assert.equal((await cluster.call('POST', `${path}?return_records=true`, body, TOOL)).status, 201)
  const [event] = recordsOf((await cluster.call('GET', `${EMS}/events?message.name=app.log.err&fields=**`)).body)
  assert.equal(event?.['message']?.['severity'], 'error')
  const { severity: _severity, ...said } = body
  const parameters = Object.entries(said).map(([name, value]) => ({ name, value: String(value) }))
  assert.deepEqual(event['parameters'], parameters)
  assert.equal((await cluster.call('POST', path, { ...body, severity: 'debug' })).status, 422)
  await cluster.close()
})
