/** What tools send and read back, over the REST interface. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { asNumber, asText, recordsOf, type Body } from '../../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../../test/support/cluster.ts'
import { codeOf } from '../../../model/failure.ts'

let t: TestCluster
let volume: string
before(async () => {
  t = await startTestCluster()
  volume = await t.uuidOf('/api/storage/volumes', 'vol1')
})
after(() => t.close())

const patch = async (body: unknown) => {
  const { status, body: answered } = await t.call('PATCH', `/api/storage/volumes/${volume}?return_timeout=15`, body)
  return { status, message: status < 300 ? '' : asText(answered['error']?.['message']) }
}
const efficiency = async (): Promise<Body> => {
  const { body } = await t.call('GET', `/api/storage/volumes/${volume}?fields=efficiency`)
  return body['efficiency'] ?? body
}

test('a new volume has no efficiency, and says so', async () => {
  const { state, compression, dedupe, op_state, progress, ratio, has_savings, volume_path, space_savings } =
    await efficiency()
  assert.deepEqual(
    { state, compression, dedupe, op_state, progress, ratio, has_savings, volume_path },
    {
      state: 'disabled',
      compression: 'none',
      dedupe: 'none',
      op_state: 'disabled',
      progress: 'Idle',
      ratio: 1,
      has_savings: false,
      volume_path: '/vol/vol1',
    },
  )
  assert.deepEqual(space_savings, {
    compression: 0,
    compression_percent: 0,
    dedupe: 0,
    dedupe_percent: 0,
    total: 0,
    total_percent: 0,
  })
})

test('automation turns it on, changes it, finds its volume by path, and turns it off', async () => {
  assert.equal((await patch({ 'efficiency.dedupe': 'background' })).status, 200)
  const found = await t.call('GET', '/api/storage/volumes?efficiency.volume_path=/vol/vol1&fields=uuid,efficiency')
  const [record] = recordsOf(found.body)
  const { state, op_state, policy, schedule } = record?.['efficiency'] ?? {}
  assert.deepEqual([state, op_state, policy?.['name'], schedule], ['enabled', 'idle', 'default', 'daily'])
  assert.equal((await patch({ efficiency: { compression: 'both', policy: { name: 'auto' } } })).status, 200)
  assert.equal((await patch({ 'efficiency.dedupe': 'both' })).status, 200)
  const changed = await efficiency()
  assert.deepEqual(
    [changed['compression'], changed['dedupe'], changed['policy']?.['name'], changed['schedule']],
    ['both', 'both', 'auto', '-'],
  )
  const off = { dedupe: 'none', compression: 'none', compaction: 'none', cross_volume_dedupe: 'none' }
  assert.equal((await patch({ efficiency: off })).status, 200)
  assert.equal(asText((await efficiency())['state']), 'disabled')
})

test('state turns all of it off, and deduplication in the background on', async () => {
  await patch({ 'efficiency.state': 'enabled' })
  const on = await efficiency()
  assert.deepEqual([on['state'], on['dedupe'], on['compression']], ['enabled', 'background', 'none'])
  const both = await patch({ 'efficiency.state': 'disabled', 'efficiency.compression': 'inline' })
  assert.match(both.message, /cannot be turned on/)
  await patch({ 'efficiency.state': 'disabled' })
  const off = await efficiency()
  assert.deepEqual([off['state'], off['dedupe'], off['compression']], ['disabled', 'none', 'none'])
})

test('what is not done is refused by name', async () => {
  for (const [field, value] of [
    ['compaction', 'inline'],
    ['cross_volume_dedupe', 'both'],
    ['storage_efficiency_mode', 'efficient'],
    ['compression', 'always'],
  ] as const) {
    const { status, message } = await patch({ efficiency: { [field]: value } })
    assert.ok(status === 400 || status === 422)
    assert.match(message, new RegExp(`efficiency\\.${field}`))
  }
})

test('a run is asked for by the state of the scanner, and is pending until it begins', async () => {
  const refused = await t.call('PATCH', `/api/storage/volumes/${volume}?return_timeout=15`, {
    'efficiency.scanner.state': 'active',
  })
  assert.equal(asNumber(refused.body['error']?.['code']), codeOf('efficiencyOff'))
  await patch({ 'efficiency.compression': 'inline' })
  assert.equal((await patch({ efficiency: { scanner: { state: 'active', scan_old_data: true } } })).status, 200)
  assert.equal(asText((await efficiency())['op_state']), 'pending')
  await patch({ 'efficiency.scanner.state': 'idle' })
  assert.equal(asText((await efficiency())['op_state']), 'idle')
})

test('a run that is posted is a job, and its record and the volume tell of it', async () => {
  const runs = `/api/storage/volumes/${volume}/efficiency-runs`
  const posted = await t.call('POST', `${runs}?return_timeout=15`, { dedupe: true })
  assert.equal(posted.status, 201)
  const [run] = recordsOf((await t.call('GET', `${runs}?fields=*`)).body)
  assert.deepEqual([run?.['state'], run?.['examined'], run?.['saved']], ['success', 0, 0])
  const told = await efficiency()
  assert.equal(asText(told['last_op_state']), 'success')
  assert.ok(asText(told['last_op_end']) >= asText(told['last_op_begin']))
})

test('policies come with the cluster, are made, changed and deleted, and not while a volume has them', async () => {
  const path = '/api/storage/volume-efficiency-policies'
  const names = recordsOf((await t.call('GET', path)).body).map((one) => asText(one['name']))
  assert.deepEqual(names, ['auto', 'default', 'inline-only'])
  const body = { name: 'nightly', 'svm.name': 'svm1', type: 'scheduled', schedule: { name: 'daily' }, duration: '5' }
  assert.equal((await t.call('POST', path, { ...body, qos_policy: 'background' })).status, 201)
  const uuid = await t.uuidOf(path, 'nightly')
  const read = async () => (await t.call('GET', `${path}/${uuid}?fields=*`)).body
  const made = await read()
  assert.deepEqual(
    [made['type'], made['duration'], made['schedule']?.['name'], made['enabled'], made['start_threshold_percent']],
    ['scheduled', 5, 'daily', true, undefined],
  )
  assert.equal((await t.call('POST', path, body)).status, 409)
  const threshold = { type: 'threshold', start_threshold_percent: 30 }
  assert.equal((await t.call('PATCH', `${path}/${uuid}`, threshold)).status, 200)
  const changed = await read()
  assert.deepEqual(
    [changed['start_threshold_percent'], changed['duration'], changed['schedule']],
    [30, undefined, undefined],
  )
  const low = await t.call('PATCH', `${path}/${uuid}`, { start_threshold_percent: 0 })
  assert.equal(asNumber(low.body['error']?.['code']), codeOf('efficiencyThresholdTooLow'))
  const mixed = await t.call('PATCH', `${path}/${uuid}`, { duration: 3 })
  assert.match(asText(mixed.body['error']?.['message']), /threshold policy has no "duration"/)

  await patch({ 'efficiency.policy.name': 'nightly' })
  assert.equal((await t.call('DELETE', `${path}/${uuid}`)).status, 409)
  await patch({ 'efficiency.policy.name': 'default' })
  assert.equal((await t.call('DELETE', `${path}/${uuid}`)).status, 200)
  const builtIn = await t.uuidOf(path, 'default')
  assert.equal((await t.call('DELETE', `${path}/${builtIn}`)).status, 409)
  const daily = await t.uuidOf('/api/cluster/schedules', 'daily')
  assert.equal((await t.call('DELETE', `/api/cluster/schedules/${daily}`)).status, 409)
})

test('an aggregate tells what its volumes hold and what of it is saved', async () => {
  await t.cluster.catalog.commit([
    { do: 'open-bucket', bucket: 'b', volume, limitBytes: 1000 },
    {
      do: 'put-object',
      bucket: 'b',
      key: Buffer.from('k'),
      object: {
        version: 'null',
        sizeBytes: 100,
        etag: 'e',
        modifiedMs: 1,
        checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' },
        blobs: [{ blob: '0'.repeat(32), sizeBytes: 100, storedBytes: 25 }],
        parts: null,
        details: {},
      },
    },
  ])
  const told = await efficiency()
  assert.deepEqual([told['ratio'], told['has_savings'], told['space_savings']?.['compression_percent']], [4, true, 75])
  const { body } = await t.call(
    'GET',
    '/api/storage/aggregates?fields=space.efficiency,space.efficiency_without_snapshots',
  )
  const space = recordsOf(body)[0]?.['space']
  for (const base of ['efficiency', 'efficiency_without_snapshots']) {
    const { logical_used: held, savings, ratio } = space?.[base] ?? {}
    assert.deepEqual([held, savings, ratio], [100, 75, 4], base)
  }
})
