import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber, asText, recordsOf, type Body } from '../../../../test/support/body.ts'
import { leftovers } from '../../../../test/support/leftovers.ts'
import { textAt } from '../../../model/value.ts'
import { QUEUED_MAX, RecoveryQueueWatch, SPARE_BYTES_MAX } from '../../../background/recovery-queue-watch.ts'
import { queueChanges, RECOVERY_QUEUE } from './recovery-queue.ts'
import { allowAnyAggregate } from '../../../../test/support/any-aggregate.ts'
import { codeOf } from '../../../model/failure.ts'
import { wireCode } from '../../../../test/support/codes.ts'
import { begin, QUEUE, VOLUMES, type Bench } from '../../../../test/support/recovery-bench.ts'

const SVMS = '/api/svm/svms'
const AGGREGATES = '/api/storage/aggregates'
const HOUR_MS = 3_600_000
const GB = 2 ** 30
const TB = 2 ** 40
const TOOL = { headers: { 'user-agent': 'python-requests/2.31.0', 'x-dot-client-app': 'netapp.ontap/23' } }

test('a deleted volume is in the queue, where nobody sees it as a volume, and its name is free at once', async () => {
  const bench = await begin()
  const uuid = await bench.make('v')
  await bench.ask('POST', `${VOLUMES}/${uuid}/snapshots`, { name: 'one' })
  await bench.drop(uuid)
  await bench.ask('GET', `${VOLUMES}/${uuid}`, undefined, 404)
  await bench.ask('GET', `${VOLUMES}/${uuid}/snapshots`, undefined, 404)
  await bench.ask('PATCH', `${VOLUMES}/${uuid}`, { size: '2g' }, 404)
  await bench.ask('DELETE', `${VOLUMES}/${uuid}`, undefined, 404)
  const [row] = await bench.queue()
  assert.match(asText(row?.['volume']), /^v_\d+$/)
  assert.deepEqual(
    [row?.['uuid'], row?.['vserver'], row?.['svm']?.['name'], row?.['retention_hours'], row?.['size']],
    [uuid, 'svm1', 'svm1', 12, 2 ** 30],
  )
  assert.notEqual(await bench.make('v'), uuid)
  assert.deepEqual(await bench.left(), [])
  await bench.cluster.close()
})

test('it is found by the names that tools use, and its SVM tells how much there is', async () => {
  const bench = await begin()
  for (const name of ['va', 'vb', 'other']) await bench.drop(await bench.make(name))
  const found = await bench.ask('GET', `${QUEUE}?vserver=svm1&volume=v*&fields=volume`)
  assert.equal(found['num_records'], 2)
  assert.equal((await bench.ask('GET', `${QUEUE}?vserver=svm2`))['num_records'], 0)
  const fields = 'number_of_volumes_in_recovery_queue,total_volume_size_in_recovery_queue'
  const [svm] = recordsOf(await bench.ask('GET', `${SVMS}?name=svm1&fields=${fields}`))
  assert.deepEqual(
    [svm?.['number_of_volumes_in_recovery_queue'], svm?.['total_volume_size_in_recovery_queue']],
    [3, 3 * 2 ** 30],
  )
  await bench.cluster.close()
})

test('a recovered volume is what it was, with its snapshots, and offline', async () => {
  const bench = await begin()
  const uuid = await bench.make('v', { comment: 'precious', size: '3g' })
  await bench.hold(uuid, 1000)
  await bench.drop(uuid)
  await bench.pass(11 * HOUR_MS)
  await bench.recover(uuid)
  const volume = await bench.ask('GET', `${VOLUMES}/${uuid}?fields=name,comment,size,state,space.used,snapshot_count`)
  assert.deepEqual(
    ['name', 'comment', 'size', 'state', 'snapshot_count'].map((field) => volume[field]),
    ['v', 'precious', 3 * 2 ** 30, 'offline', 1],
  )
  assert.equal(volume['space']?.['used'], 1000)
  await bench.ask('PATCH', `${VOLUMES}/${uuid}`, { state: 'online' })
  await bench.ask('GET', `${VOLUMES}/${uuid}/snapshots/holding`)
  await bench.ask('PATCH', `${VOLUMES}/${uuid}?restore_to.snapshot.name=holding`, {})
  assert.deepEqual(await bench.queued(), [])
  await bench.pass(24 * HOUR_MS)
  await bench.ask('GET', `${VOLUMES}/${uuid}`)
  assert.deepEqual(await bench.left(), [])
  await bench.cluster.close()
})

test('a volume whose name somebody else has now is recovered under another one', async () => {
  const bench = await begin()
  const uuid = await bench.make('v')
  await bench.drop(uuid)
  await bench.make('v')
  const refused = await bench.recover(uuid, {}, 409)
  assert.equal(refused['error']?.['target'], 'newname')
  await bench.recover(uuid, { newname: 'w' })
  assert.equal(await bench.cluster.uuidOf(VOLUMES, 'w'), uuid)
  assert.deepEqual(await bench.left(), [])
  await bench.cluster.close()
})

test('what is not in the queue is neither recovered nor purged', async () => {
  const bench = await begin()
  const uuid = await bench.make('v')
  await bench.drop(uuid)
  const [row] = await bench.queue()
  for (const verb of ['recover', 'purge']) {
    await bench.ask('POST', `${QUEUE}/${verb}`, { vserver: 'svm1', volume: 'v' }, 404)
    await bench.ask('POST', `${QUEUE}/${verb}`, { vserver: 'svm9', volume: row?.['volume'] }, 404)
    await bench.ask('POST', `${QUEUE}/${verb}`, { volume: row?.['volume'] }, 422)
  }
  await bench.ask('DELETE', `${QUEUE}/${crypto.randomUUID()}`, undefined, 404)
  assert.deepEqual(await bench.queued(), ['v'])
  await bench.cluster.close()
})

for (const [how, purge] of [
  ['by its UUID', (bench: Bench, row: Body) => bench.ask('DELETE', `${QUEUE}/${asText(row['uuid'])}`)],
  [
    'as the command line does',
    (bench: Bench, row: Body) => bench.ask('POST', `${QUEUE}/purge`, { vserver: 'svm1', volume: row['volume'] }),
  ],
] as const) {
  test(`a volume is purged ${how}, and nothing of it is left`, async () => {
    const bench = await begin()
    const uuid = await bench.make('v')
    await bench.hold(uuid, 1000)
    await bench.drop(uuid)
    const [row] = await bench.queue()
    assert.ok(row !== undefined)
    await purge(bench, row)
    assert.deepEqual(await bench.queued(), [])
    assert.deepEqual(await bench.left(), [])
    assert.ok(!(await bench.cluster.volumes.list()).includes(uuid))
    await bench.cluster.close()
  })
}

test('a volume goes when its hours are over and not before, also when nobody was there to look', async () => {
  const bench = await begin()
  const uuid = await bench.make('v')
  await bench.drop(uuid)
  await bench.pass(12 * HOUR_MS - 60_000)
  assert.deepEqual(await bench.queued(), ['v'])
  await bench.pass(61_000)
  assert.deepEqual(await bench.queued(), [])
  assert.deepEqual(await bench.left(), [])
  const purged = (await bench.events()).filter(([name]) => name === 'volume.purged')
  assert.equal(purged.length, 1)
  assert.match(JSON.stringify(purged), /expired/)

  await bench.drop(await bench.make('w'))
  bench.cluster.clock.aheadMs += 1000 * HOUR_MS
  await new RecoveryQueueWatch(bench.cluster.cluster).look()
  assert.deepEqual(await bench.queued(), [])
  await bench.cluster.close()
})

test('hours that are changed hold for the volume they are changed of', async () => {
  const bench = await begin()
  const [long, short] = [await bench.make('long'), await bench.make('short')]
  await bench.drop(long)
  await bench.drop(short)
  await bench.ask('PATCH', `${QUEUE}/${long}`, { retention_hours: 48 })
  await bench.ask('PATCH', `${QUEUE}/${short}`, { retention_hours: 1 })
  await bench.pass(HOUR_MS)
  assert.deepEqual(await bench.queued(), ['long'])
  await bench.pass(24 * HOUR_MS)
  assert.deepEqual(await bench.queued(), ['long'])
  await bench.pass(24 * HOUR_MS)
  assert.deepEqual(await bench.queued(), [])
  await bench.cluster.close()
})

test('a clock that is corrected changes nothing; after one that was wrong the hours begin anew', async () => {
  const bench = await begin()
  await bench.drop(await bench.make('v'))
  await bench.pass(-4 * 60_000)
  await bench.pass(4 * 60_000 + 12 * HOUR_MS)
  assert.deepEqual(await bench.queued(), [], 'corrected')

  await bench.drop(await bench.make('w'))
  await bench.pass(-30 * HOUR_MS)
  await bench.pass(12 * HOUR_MS - 1000)
  assert.deepEqual(await bench.queued(), ['w'])
  await bench.pass(2000)
  assert.deepEqual(await bench.queued(), [], 'wrong before')
  await bench.cluster.close()
})

test('with force, and in an SVM that keeps none, a volume goes at once', async () => {
  const bench = await begin()
  await bench.drop(await bench.make('v'), '?force=true')
  assert.deepEqual(await bench.queued(), [])
  const svm = await bench.cluster.uuidOf(SVMS, 'svm1')
  await bench.ask('PATCH', `${SVMS}/${svm}`, { volume_delete_retention_hours: 0 })
  const uuid = await bench.make('v')
  await bench.ask('DELETE', `${VOLUMES}/${uuid}?force=perhaps`, undefined, 400)
  await bench.drop(uuid, '?force=false')
  assert.deepEqual(await bench.queued(), [])
  assert.deepEqual(await leftovers(bench.cluster.cluster, 'nowhere'), [], 'without any housekeeping')
  await bench.cluster.close()
})

test('what a volume of the queue holds is counted in its aggregate; its guarantee is given up, and asked for again', async () => {
  const bench = await begin()
  const [aggregate] = recordsOf(await bench.ask('GET', `${AGGREGATES}?fields=uuid`))
  const space = async (field: string) => {
    const body = await bench.ask('GET', `${AGGREGATES}/${asText(aggregate?.['uuid'])}?fields=space`)
    return asNumber(
      field === 'footprint' ? body['space']?.['footprint'] : body['space']?.['block_storage']?.['available'],
    )
  }
  const before = await space('available')
  const uuid = await bench.make('v', { size: 300 * TB, 'guarantee.type': 'volume' })
  await bench.hold(uuid, TB)
  await bench.drop(uuid)
  assert.equal(await space('footprint'), TB)
  assert.equal(await space('available'), before)
  for (const name of ['a', 'b', 'c']) await bench.make(name, { size: 300 * TB, 'guarantee.type': 'volume' })
  const refused = await bench.recover(uuid, {}, 422)
  assert.equal(refused['error']?.['code'], codeOf('aggregateTooSmall'))
  const full = { name: 'd', svm: 'svm1', size: 300 * TB, 'guarantee.type': 'volume' }
  const hinted = await bench.ask('POST', VOLUMES, full, 422)
  assert.match(asText(hinted['error']?.['message']), /recovery queue hold/)
  assert.deepEqual(await bench.queued(), ['v'], 'nothing was taken from it unasked')
  await bench.drop(await bench.cluster.uuidOf(VOLUMES, 'a'))
  await bench.recover(uuid)
  await bench.cluster.close()
})

test('when a disk runs short, the oldest volumes that hold something make room, as many as it takes, and events tell', async () => {
  const bench = await begin()
  assert.equal(SPARE_BYTES_MAX, 64 * GB)
  for (const name of ['old', 'empty', 'middle', 'young']) {
    const uuid = await bench.make(name, { size: 300 * GB })
    if (name !== 'empty') await bench.hold(uuid, 20 * GB)
    await bench.drop(uuid)
    bench.cluster.clock.aheadMs += 1000
  }
  await bench.watch.look()
  assert.equal((await bench.queued()).length, 4, 'there is room')
  // Of 1024 TiB, 40 GiB are not promised then, and 64 are wanted.
  for (const [name, size] of Object.entries({ a: 300 * TB, b: 300 * TB, c: 300 * TB, d: 124 * TB - 40 * GB })) {
    await bench.make(name, { size, 'guarantee.type': 'volume' })
  }
  await bench.watch.look()
  assert.deepEqual(await bench.queued(), ['empty', 'young'])
  await bench.watch.look()
  assert.deepEqual(await bench.queued(), ['empty', 'young'], 'what is being removed counts as free')
  const purged = (await bench.events()).filter(([name]) => name === 'volume.purged')
  assert.equal(purged.length, 2)
  assert.match(JSON.stringify(purged), /space/)
  await bench.cluster.close()
})

test('of a small disk, a tenth is to be left', async () => {
  const bench = await begin({ capacityBytes: 100 * GB })
  for (const name of ['old', 'young']) {
    const uuid = await bench.make(name, { size: 30 * GB })
    await bench.hold(uuid, 20 * GB)
    await bench.drop(uuid)
    bench.cluster.clock.aheadMs += 1000
  }
  const guaranteed = { 'guarantee.type': 'volume' }
  await bench.make('a', { size: 89 * GB, ...guaranteed })
  await bench.watch.look()
  assert.deepEqual(await bench.queued(), ['old', 'young'])
  await bench.make('b', { size: 2 * GB, ...guaranteed })
  await bench.watch.look()
  assert.deepEqual(await bench.queued(), ['young'])
  await bench.cluster.close()
})

test('what is within a deleted volume may be of any length, comes back with it, and goes with it', async () => {
  const bench = await begin()
  const { cluster } = bench.cluster
  const { catalog } = cluster
  const uuid = await bench.make('v')
  const svm = await bench.cluster.uuidOf(SVMS, 'svm1')
  for (let id = 1; id <= 400; id++) {
    const body = { id, name: `tree-${id}`, 'volume.uuid': uuid, 'svm.uuid': svm, $note: 'long '.repeat(1000) }
    await catalog.commit([cluster.put('storage/qtrees', body)])
  }
  const commit = catalog.commit.bind(catalog)
  let longest = 0
  catalog.commit = (changes) => {
    longest = Math.max(longest, JSON.stringify(changes).length)
    return commit(changes)
  }
  const shown = async () => (await cluster.rows('storage/qtrees')).length
  await bench.drop(uuid)
  assert.equal(await shown(), 0)
  await bench.recover(uuid)
  assert.equal(await shown(), 400)
  assert.equal((await cluster.rows('storage/qtrees', uuid))[0]?.['volume.uuid'], uuid)
  await bench.drop(uuid)
  await bench.ask('DELETE', `${QUEUE}/${uuid}`)
  assert.equal(await shown(), 0)
  assert.deepEqual(await bench.left(), [])
  assert.ok(longest < 100_000, `a commit of ${longest} characters`)
  await bench.cluster.close()
})

test('of more volumes than the queue keeps, the oldest go', async () => {
  const bench = await begin()
  const { cluster } = bench.cluster
  const svm = await bench.cluster.uuidOf(SVMS, 'svm1')
  const aggregates = [{ uuid: asText(recordsOf(await bench.ask('GET', `${AGGREGATES}?fields=uuid`))[0]?.['uuid']) }]
  for (let at = 0; at < QUEUED_MAX + 2; at++) {
    const volume = { uuid: crypto.randomUUID(), name: `v${at}`, 'svm.uuid': svm, aggregates, size: 2 ** 20 }
    await cluster.commit([
      { do: 'open-volume', volume: volume.uuid, sizeBytes: volume.size },
      ...queueChanges(cluster, volume, 12, []),
    ])
    bench.cluster.clock.aheadMs += 10
  }
  await bench.watch.look()
  const names = (await cluster.rows(RECOVERY_QUEUE)).map((row) => textAt(row, 'volume').replace(/_\d+$/, ''))
  assert.equal(names.length, QUEUED_MAX)
  assert.ok(!names.includes('v0') && !names.includes('v1') && names.includes('v2'))
  await bench.cluster.close()
})

test('an aggregate is not deleted with volumes that can be had back', async () => {
  const bench = await begin()
  await bench.ask('POST', AGGREGATES, { name: 'aggr2', block_storage: { path: '/disk2/aggr2' } })
  await allowAnyAggregate(bench.cluster.cluster)
  const aggregate = `${AGGREGATES}/${await bench.cluster.uuidOf(AGGREGATES, 'aggr2')}`
  const uuid = await bench.make('v', { aggregates: ['aggr2'] })
  await bench.drop(uuid)
  const refused = await bench.ask('DELETE', aggregate, undefined, 409)
  assert.match(asText(refused['error']?.['message']), /recovery queue/)
  await bench.ask('DELETE', `${QUEUE}/${uuid}`)
  await bench.ask('DELETE', aggregate)
  assert.deepEqual(await bench.left(), [])
  await bench.cluster.close()
})

test('an SVM takes its deleted volumes with it', async () => {
  const bench = await begin()
  await bench.ask('POST', SVMS, { name: 'svm2' })
  const uuid = await bench.make('v', { svm: 'svm2' })
  await bench.ask('POST', `${VOLUMES}/${uuid}/snapshots`, { name: 'one' })
  await bench.drop(uuid)
  await bench.drop(await bench.make('w', { svm: 'svm2' }))
  await bench.ask('DELETE', `${SVMS}/${await bench.cluster.uuidOf(SVMS, 'svm2')}`)
  assert.deepEqual(await bench.queued(), [])
  assert.deepEqual(await bench.left(), [])
  await bench.cluster.close()
})

test('policies that were deleted meanwhile do not keep a volume from coming back', async () => {
  const bench = await begin()
  const policies = '/api/storage/qos/policies'
  const copies = [{ schedule: { name: 'daily' }, count: 2 }]
  await bench.ask('POST', '/api/storage/snapshot-policies', { name: 'mine', enabled: true, copies })
  await bench.ask('POST', policies, { name: 'slow', svm: 'svm1', fixed: { max_throughput_iops: 10 } })
  const efficiency = '/api/storage/volume-efficiency-policies'
  await bench.ask('POST', efficiency, { name: 'nightly', svm: 'svm1' })
  const named = { snapshot_policy: 'mine', 'qos.policy.name': 'slow', 'efficiency.policy.name': 'nightly' }
  const uuid = await bench.make('v', named)
  await bench.drop(uuid)
  await bench.ask('DELETE', `${efficiency}/${await bench.cluster.uuidOf(efficiency, 'nightly')}`)
  await bench.ask('DELETE', `${policies}/${await bench.cluster.uuidOf(policies, 'slow')}`)
  const snapshotPolicies = '/api/storage/snapshot-policies'
  await bench.ask('DELETE', `${snapshotPolicies}/${await bench.cluster.uuidOf(snapshotPolicies, 'mine')}`)
  await bench.recover(uuid)
  const volume = await bench.ask('GET', `${VOLUMES}/${uuid}?fields=snapshot_policy.name,qos.policy.name`)
  assert.equal(volume['snapshot_policy']?.['name'], 'none')
  assert.deepEqual(await bench.left(), [])
  await bench.cluster.close()
})

test('a destination of replication is still one when it is recovered', async () => {
  const bench = await begin()
  const uuid = await bench.make('v', { type: 'dp' })
  await bench.drop(uuid)
  await bench.recover(uuid)
  await bench.ask('PATCH', `${VOLUMES}/${uuid}`, { state: 'online' })
  await bench.ask('POST', `${VOLUMES}/${uuid}/snapshots`, { name: 'mine' }, 409)
  assert.equal((await bench.ask('GET', `${VOLUMES}/${uuid}?fields=type`))['type'], 'dp')
  await bench.cluster.close()
})

for (const query of ['', '?force=true']) {
  test(`a volume is not deleted${query} with a snapshot that has not expired or is in use`, async () => {
    const bench = await begin()
    const uuid = await bench.make('v')
    const snapshots = `${VOLUMES}/${uuid}/snapshots`
    const expiry = new Date(bench.cluster.clock.now() + HOUR_MS).toISOString()
    await bench.ask('POST', snapshots, { name: 'held', expiry_time: expiry })
    const kept = await bench.cluster.call('DELETE', `${VOLUMES}/${uuid}${query}`, undefined, TOOL)
    assert.deepEqual([kept.status, kept.body['error']?.['code']], [409, wireCode('snapshotNotExpired')])
    assert.match(asText(kept.body['error']?.['message']), /"held"/)
    await bench.ask('GET', `${snapshots}/held`)

    bench.cluster.clock.aheadMs += HOUR_MS + 1000
    const { cluster } = bench.cluster
    const [record] = await cluster.catalog.records('storage/volumes/{volume.uuid}/snapshots', { parent: uuid })
    assert.ok(record !== undefined)
    const { type, key, body } = record
    await cluster.commit([{ do: 'put-record', type, key, body: { ...body, owners: ['snapmirror'] } }])
    const used = await bench.cluster.call('DELETE', `${VOLUMES}/${uuid}${query}`, undefined, TOOL)
    assert.deepEqual([used.status, used.body['error']?.['code']], [409, wireCode('snapshotInUse')])

    await cluster.commit([{ do: 'put-record', type, key, body }])
    await bench.drop(uuid, query)
    await bench.cluster.close()
  })
}

test('a snapshot that has not expired by a clock that was put back keeps its volume from being purged', async () => {
  const bench = await begin()
  const uuid = await bench.make('v')
  const expiry = new Date(bench.cluster.clock.now() + HOUR_MS).toISOString()
  await bench.ask('POST', `${VOLUMES}/${uuid}/snapshots`, { name: 'held', expiry_time: expiry })
  bench.cluster.clock.aheadMs += 2 * HOUR_MS
  await bench.drop(uuid)
  await bench.pass(-2 * HOUR_MS)
  await bench.ask('PATCH', `${QUEUE}/${uuid}`, { retention_hours: 0 })
  await bench.ask('DELETE', `${QUEUE}/${uuid}`, undefined, 409)
  await bench.pass(0)
  assert.deepEqual(await bench.queued(), ['v'])
  await bench.pass(HOUR_MS + 1000)
  assert.deepEqual(await bench.queued(), [])
  await bench.cluster.close()
})
