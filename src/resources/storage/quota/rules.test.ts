import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber, asText, recordsOf, type Body } from '../../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../../test/support/cluster.ts'
import type { Outcome } from '../../../ports/catalog.ts'
import { draft, put, refused } from '../../../ports/catalog/fixtures.suite.ts'
import { codeOf } from '../../../model/failure.ts'

const VOLUMES = '/api/storage/volumes'
const QTREES = '/api/storage/qtrees'
const RULES = '/api/storage/quota/rules'
const REPORTS = '/api/storage/quota/reports'
const KB = 1024
/** As the modules of Ansible come. */
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }

interface Opened {
  readonly cluster: TestCluster
  readonly volume: string
  readonly make: (rule: object) => ReturnType<TestCluster['call']>
  /** An object of a bucket in the volume. */
  readonly write: (key: string, sizeBytes: number, owner: string) => Promise<readonly Outcome[]>
  readonly turn: (enabled: boolean) => Promise<void>
  readonly reports: () => Promise<string[]>
}

async function opened(): Promise<Opened> {
  const cluster = await startTestCluster()
  const made = await cluster.call('POST', VOLUMES, {
    name: 'v1',
    svm: 'svm1',
    size: '64m',
    guarantee: { type: 'none' },
  })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const volume = await cluster.uuidOf(VOLUMES, 'v1')
  const { catalog } = cluster.cluster
  await catalog.commit([{ do: 'open-bucket', bucket: 'b', volume, limitBytes: 2 ** 50 }])
  let blob = 0
  return {
    cluster,
    volume,
    make: (rule) => cluster.call('POST', RULES, { svm: 'svm1', volume: 'v1', ...rule }),
    write: (key, sizeBytes, owner) => catalog.commit([put('b', key, draft(`blob-${++blob}`, sizeBytes, { owner }))]),
    async turn(enabled) {
      assert.equal((await cluster.call('PATCH', `${VOLUMES}/${volume}`, { quota: { enabled } })).status, 200)
    },
    async reports() {
      const { body } = await cluster.call('GET', `${REPORTS}?fields=*&volume.name=v1&order_by=index`)
      return recordsOf(body).map(line)
    },
  }
}

/** `user - anna: 512 of 1024 50 - -; 1 of -`: who, bytes of the limits with their percents, files of the hard limit. */
function line({ type, qtree, users, group, space, files }: Body): string {
  const shown = (value: Body | undefined) => (value === undefined ? '-' : JSON.stringify(value).replaceAll('"', ''))
  const used = space?.['used']
  const who = [type, qtree?.['name'], users?.[0]?.['name'] ?? group?.['name']].map(shown).join(' ')
  const limits = [
    space?.['hard_limit'],
    used?.['hard_limit_percent'],
    space?.['soft_limit'],
    used?.['soft_limit_percent'],
  ]
  const held = `${shown(used?.['total'])} of ${limits.map(shown).join(' ')}`
  return `${who}: ${held}; ${shown(files?.['used']?.['total'])} of ${shown(files?.['hard_limit'])}`
}

const failed = ({ status, body }: { status: number; body: Body }) => [
  status,
  body['error']?.['code'],
  body['error']?.['target'],
]

test('rules hold while quotas of the volume are on, and changes of them at once', async () => {
  const { cluster, volume, make, write, turn } = await opened()
  const { body } = await make({ type: 'user', users: [{ name: 'anna' }], space: { hard_limit: '10k' } })
  const rule = `${RULES}/${asText(recordsOf(body)[0]?.['uuid'])}`
  const state = async () => (await cluster.call('GET', `${VOLUMES}/${volume}?fields=quota`)).body['quota']
  assert.deepEqual(await state(), { enabled: false, state: 'off' })
  await write('a', 11 * KB, 'anna')
  await turn(true)
  assert.deepEqual(await state(), { enabled: true, state: 'on' })
  await refused('full', write('b', 1, 'anna'), { scope: 'quota:user' })
  assert.equal((await cluster.call('PATCH', rule, { space: { hard_limit: '12k' } })).status, 200)
  await write('b', 1, 'anna')
  await refused('full', write('c', KB, 'anna'))
  assert.equal((await cluster.call('PATCH', rule, { space: { hard_limit: -1 }, files: { hard_limit: 2 } })).status, 200)
  await refused('full', write('c', 0, 'anna'))
  const second = await make({ type: 'user', users: [{ name: 'bert' }], space: { hard_limit: '1k' } })
  assert.equal(second.status, 201)
  await refused('full', write('d', 2 * KB, 'bert'))
  assert.equal((await cluster.call('DELETE', rule)).status, 200)
  await write('c', 20 * KB, 'anna')
  await turn(false)
  await write('d', 2 * KB, 'bert')
  assert.deepEqual(await state(), { enabled: false, state: 'off' })
  await cluster.close()
})

test('what na_ontap_quotas sends is made once, read back as it was sent, changed and deleted', async () => {
  const { cluster, volume } = await opened()
  const call = (method: string, target: string, body?: unknown) => cluster.call(method, target, body, TOOL)
  await call('POST', QTREES, { name: 'q1', 'svm.name': 'svm1', 'volume.name': 'v1' })
  const fields =
    'svm.uuid,svm.name,space.hard_limit,files.hard_limit,user_mapping,qtree.name,type,space.soft_limit,files.soft_limit,volume.uuid,users.name,group.name,'
  const find = async (type: string, more = '') => {
    const reply = await call('GET', `${RULES}?svm.name=svm1&volume.name=v1&type=${type}&fields=${fields}${more}`)
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return recordsOf(reply.body)
  }
  const common = { 'svm.name': 'svm1', 'volume.name': 'v1' }
  const cases = [
    {
      find: () => find('tree', '&qtree.name=q1'),
      body: { type: 'tree', 'qtree.name': 'q1', 'space.hard_limit': '10240', 'files.hard_limit': '100' },
      shows: { qtree: { name: 'q1' }, space: { hard_limit: 10_240 }, files: { hard_limit: 100 } },
    },
    {
      find: () => find('user', '&users.name=anna'),
      body: { type: 'user', 'qtree.name': '', 'users.name': ['anna'], 'space.soft_limit': '2048', user_mapping: false },
      shows: { users: [{ name: 'anna' }], user_mapping: false, space: { soft_limit: 2048 } },
    },
    {
      find: () => find('user', '&qtree.name=q1'),
      body: { type: 'user', 'qtree.name': 'q1', 'users.name': [''], 'space.hard_limit': '-', 'files.soft_limit': '7' },
      shows: { qtree: { name: 'q1' }, users: [{ name: '' }], user_mapping: false, files: { soft_limit: 7 } },
    },
    {
      find: () => find('group', '&group.name=staff'),
      body: { type: 'group', 'qtree.name': '', 'group.name': 'staff', 'space.hard_limit': '4096' },
      shows: { group: { name: 'staff' }, space: { hard_limit: 4096 } },
    },
  ]
  for (const each of cases) {
    assert.deepEqual(await each.find(), [])
    const created = await call('POST', `${RULES}?return_timeout=30&return_records=true`, { ...common, ...each.body })
    assert.equal(created.status, 201, JSON.stringify(created.body))
    assert.equal(recordsOf(created.body)[0]?.['volume']?.['uuid'], volume)
    const [found, ...others] = await each.find()
    assert.deepEqual(others, [])
    const { uuid, svm: _svm, volume: _volume, _links, type, ...shown } = found ?? {}
    assert.deepEqual([type, shown], [each.body.type, each.shows])
    assert.deepEqual(failed(await call('POST', RULES, { ...common, ...each.body })).slice(0, 2), [409, '1'])
    const rule = `${RULES}/${asText(uuid)}?return_timeout=30`
    assert.equal((await call('PATCH', rule, { 'space.hard_limit': '8192', 'files.soft_limit': '-' })).status, 200)
    const [changed] = await each.find()
    assert.deepEqual([changed?.['space']?.['hard_limit'], changed?.['files']?.['soft_limit']], [8192, undefined])
    assert.equal((await call('PATCH', `${VOLUMES}/${volume}?return_timeout=30`, { 'quota.enabled': true })).status, 200)
    const states = recordsOf((await call('GET', `${VOLUMES}?name=v1&svm.name=svm1&fields=quota.state,uuid`)).body)
    assert.equal(states[0]?.['quota']?.['state'], 'on')
    assert.equal((await call('DELETE', rule)).status, 200)
    assert.deepEqual(await each.find(), [])
  }
  await cluster.close()
})

test('a rule that cannot be is refused with the reason', async () => {
  const { cluster, make } = await opened()
  const cases: [object, unknown[]][] = [
    [{ type: 'tree' }, [422, codeOf('treeRuleTarget'), 'qtree.name']],
    [{ type: 'tree', qtree: '', users: [{ name: 'anna' }] }, [422, codeOf('treeRuleTarget'), 'qtree.name']],
    [{ type: 'tree', qtree: { name: 'q9' } }, [422, codeOf('qtreeUnknown'), 'qtree.name']],
    [{ type: 'user' }, [422, codeOf('userRuleTarget'), 'users']],
    [{ type: 'user', users: [{ name: 'anna' }], group: { name: 'staff' } }, [422, codeOf('userRuleTarget'), 'users']],
    [{ type: 'user', users: [{ name: 'anna', id: '7' }] }, [422, codeOf('userRuleNameAndId'), 'users']],
    [{ type: 'user', users: [{ name: 'anna' }, { name: 'bert' }] }, [422, codeOf('userRuleForSeveral'), 'users']],
    [{ type: 'group' }, [422, codeOf('groupRuleTarget'), 'group.name']],
    [{ type: 'group', group: { name: 'staff', id: '7' } }, [422, codeOf('groupRuleNameAndId'), 'group.name']],
    [{ type: 'group', group: { name: 'staff' }, user_mapping: true }, [422, 262197, 'user_mapping']],
    [
      { type: 'tree', qtree: '', space: { hard_limit: '1k', soft_limit: '2k' } },
      [422, codeOf('softLimitAboveHard'), 'space.soft_limit'],
    ],
    [
      { type: 'tree', qtree: '', files: { hard_limit: 2 ** 32 } },
      [422, codeOf('quotaLimitTooLarge'), 'files.hard_limit'],
    ],
    [{ type: 'tree', qtree: '', space: { hard_limit: '2p' } }, [422, codeOf('quotaLimitTooLarge'), 'space.hard_limit']],
    [{ type: 'tree', qtree: '', space: { hard_limit: 'much' } }, [422, 262197, 'space.hard_limit']],
    [{ type: 'disk' }, [422, 262197, 'type']],
    [{}, [422, codeOf('fieldRequired'), 'type']],
  ]
  for (const [rule, expected] of cases) assert.deepEqual(failed(await make(rule)), expected, JSON.stringify(rule))
  assert.deepEqual(recordsOf((await cluster.call('GET', RULES)).body), [])
  await cluster.close()
})

test('reports show what is held beside what may be, also of those for whom the default limits hold', async () => {
  const { cluster, volume, make, write, turn, reports } = await opened()
  await cluster.call('POST', QTREES, { name: 'q1', svm: 'svm1', volume: 'v1' })
  await write('a', 512, 'anna')
  await write('b', 256, 'bert')
  await write('c', 1, '')
  await make({ type: 'tree', qtree: '', space: { hard_limit: '2k' } })
  await make({ type: 'user', users: [{ name: '' }], space: { hard_limit: '1k', soft_limit: '1k' } })
  await make({ type: 'user', users: [{ name: 'bert' }], files: { hard_limit: 3 } })
  await make({ type: 'user', users: [{ id: '1001' }], qtree: { name: 'q1' } })
  assert.deepEqual(await reports(), [], 'Quotas are off.')
  await turn(true)
  assert.deepEqual((await reports()).toSorted(), [
    'tree  -: 0 of 2048 0 - -; 0 of -',
    'tree  -: 769 of 2048 37 - -; 3 of -',
    'tree q1 -: 0 of 2048 0 - -; 0 of -',
    'user - : 0 of 1024 0 1024 0; 0 of -',
    'user - anna: 512 of 1024 50 1024 50; 1 of -',
    'user - bert: 256 of - - - -; 1 of 3',
    'user q1 -: 0 of - - - -; 0 of -',
  ])
  const [first] = recordsOf((await cluster.call('GET', `${REPORTS}?type=user&users.name=anna`)).body)
  const path = `${REPORTS}/${volume}/${asNumber(first?.['index'])}`
  const one = await cluster.call('GET', path)
  assert.equal(one.status, 200)
  assert.deepEqual(one.body['users'], [{ name: 'anna' }])
  await write('d', 100, 'anna')
  assert.equal((await cluster.call('GET', path)).body['space']?.['used']?.['total'], 612)
  const named = recordsOf((await cluster.call('GET', `${REPORTS}?show_default_records=false`)).body)
  assert.equal(named.length, 5, 'Without the limits of all qtrees and of all users.')
  const indexes = named.map((report) => asNumber(report['index']))
  assert.deepEqual([new Set(indexes).size, indexes.every(Number.isSafeInteger)], [5, true])
  assert.equal((await cluster.call('GET', `${REPORTS}/${volume}/99999`)).status, 404)
  await cluster.close()
})

test('a qtree that is deleted takes its rules with it, and one that is renamed keeps them', async () => {
  const { cluster, volume, make, turn, reports } = await opened()
  await cluster.call('POST', QTREES, { name: 'q1', svm: 'svm1', volume: 'v1' })
  await make({ type: 'tree', qtree: 'q1', space: { hard_limit: '2k' } })
  await make({ type: 'user', qtree: 'q1', users: [{ name: 'anna' }] })
  await make({ type: 'user', users: [{ name: 'anna' }] })
  await turn(true)
  await cluster.call('PATCH', `${QTREES}/${volume}/1`, { name: 'q2' })
  const names = async () =>
    recordsOf((await cluster.call('GET', `${RULES}?fields=qtree.name&qtree.name=!null`)).body).map(
      (row) => row['qtree']?.['name'],
    )
  assert.deepEqual(await names(), ['q2', 'q2'])
  assert.equal((await reports()).length, 3)
  assert.equal((await cluster.call('DELETE', `${QTREES}/${volume}/1`)).status, 200)
  assert.deepEqual(await names(), [])
  assert.deepEqual(await reports(), ['user - anna: 0 of - - - -; 0 of -'])
  await cluster.close()
})

test('rules that are made while quotas are switched are all in force afterwards', async () => {
  const { cluster, volume, make } = await opened()
  const users = Array.from({ length: 10 }, (_, at) => `user${at}`)
  await Promise.all([
    ...users.map((name) => make({ type: 'user', users: [{ name }], space: { hard_limit: '1k' } })),
    cluster.call('PATCH', `${VOLUMES}/${volume}`, { quota: { enabled: true } }),
  ])
  const quotas = await cluster.cluster.catalog.quotas(volume)
  assert.deepEqual(quotas.map(({ name }) => name ?? '').toSorted(), users)
  await cluster.close()
})
