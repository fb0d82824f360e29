import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asList, asNumber, asText, recordsOf, type Body } from '../../../test/support/body.ts'
import { QuickSecrets, startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { openSqliteCatalog } from '../../engines/sqlite/catalog.ts'
import { codeOf } from '../../model/failure.ts'

const GROUPS = '/api/application/consistency-groups'
const VOLUMES = '/api/storage/volumes'

const failed = ({ status, body }: { status: number; body: Body }) => [
  status,
  body['error']?.['code'],
  body['error']?.['target'],
]
const make = (cluster: TestCluster, name: string | undefined, volumes: readonly object[], more: object = {}) =>
  cluster.call('POST', `${GROUPS}?return_timeout=15`, {
    ...(name === undefined ? {} : { name }),
    svm: 'svm1',
    volumes,
    ...more,
  })
const fresh = (name: string, more: object = {}) => ({
  name,
  space: { size: '64m' },
  provisioning_options: { action: 'create', ...more },
})
const add = (name: string) => ({ name, provisioning_options: { action: 'add' } })
const remove = (name: string) => ({ name, provisioning_options: { action: 'remove' } })
const membersOf = async (cluster: TestCluster, name: string) => {
  const { body } = await cluster.call('GET', `${GROUPS}?name=${name}&fields=volumes`)
  return (recordsOf(body)[0]?.['volumes'] as unknown as Body[] | undefined)?.map((volume) => volume['name'])
}
const pathOf = async (cluster: TestCluster, name: string) => `${GROUPS}/${await cluster.uuidOf(GROUPS, name)}`

test('a consistency group has volumes that were there and volumes that are made for it, and each says so', async () => {
  const cluster = await startTestCluster()
  const made = await make(cluster, 'cg1', [
    add('vol1'),
    fresh('new', { count: 2 }),
    { name: 'dotted', 'space.size': '1g' },
  ])
  assert.equal(made.status, 201, JSON.stringify(made.body))
  assert.deepEqual(await membersOf(cluster, 'cg1'), ['vol1', 'new_1', 'new_2', 'dotted'])
  const { body } = await cluster.call('GET', `${VOLUMES}?consistency_group.name=cg1&fields=name,consistency_group`)
  assert.equal(recordsOf(body).length, 4)
  const { body: group } = await cluster.call('GET', await pathOf(cluster, 'cg1'))
  assert.equal(group['replicated'], false)
  assert.ok(Number(group['space']?.['size']) >= 2 ** 30 + 2 * 64 * 2 ** 20)
  assert.equal((await make(cluster, undefined, [fresh('alone')])).status, 201)
  assert.deepEqual(await membersOf(cluster, 'alone'), ['alone'])
  await cluster.close()
})

test('volumes come to a group and leave it, and a group without volumes is gone', async () => {
  const cluster = await startTestCluster()
  await make(cluster, 'cg1', [fresh('a')])
  const path = `${await pathOf(cluster, 'cg1')}?return_timeout=15`
  const change = (body: object) => cluster.call('PATCH', path, body)
  assert.equal((await change({ volumes: [add('vol1'), fresh('b'), { name: 'a' }] })).status, 200)
  assert.deepEqual(await membersOf(cluster, 'cg1'), ['a', 'vol1', 'b'])
  assert.equal((await change({ volumes: [remove('a')], name: 'renamed' })).status, 200)
  assert.deepEqual(await membersOf(cluster, 'renamed'), ['vol1', 'b'])
  assert.deepEqual(failed(await change({ volumes: [remove('a')] })), [422, codeOf('volumeNotMember'), 'volumes.name'])
  assert.deepEqual(failed(await change({ volumes: [{ name: 'b', space: { size: '99m' } }] })), [
    422,
    codeOf('memberFieldFixed'),
    'volumes.space.size',
  ])
  await cluster.call('DELETE', `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'b')}?return_timeout=15`)
  assert.deepEqual(await membersOf(cluster, 'renamed'), ['vol1'])
  assert.equal((await change({ volumes: [remove('vol1')] })).status, 200)
  assert.equal((await cluster.call('GET', path)).status, 404)
  assert.equal(asNumber((await cluster.call('GET', `${VOLUMES}?name=vol1`)).body['num_records']), 1)
  await cluster.close()
})

test('a volume is in one group, names are used once, and what a group cannot have is refused by name', async () => {
  const cluster = await startTestCluster()
  assert.equal((await make(cluster, 'cg1', [add('vol1')])).status, 201)
  assert.deepEqual(failed(await make(cluster, 'cg2', [add('vol1')])), [
    409,
    codeOf('volumeInAnotherGroup'),
    'volumes.name',
  ])
  assert.deepEqual(failed(await make(cluster, 'cg1', [fresh('a')])), [409, codeOf('groupNameTaken'), 'name'])
  assert.deepEqual(failed(await make(cluster, 'cg2', [add('nothing')])), [
    422,
    codeOf('memberVolumeNotFound'),
    'volumes.name',
  ])
  assert.deepEqual(failed(await make(cluster, 'cg2', [])), [422, codeOf('groupWithoutVolumes'), 'volumes'])
  for (const field of ['luns', 'namespaces', 'consistency_groups', 'snapshot_policy']) {
    assert.deepEqual(failed(await make(cluster, 'cg2', [fresh('a')], { [field]: 'x' })), [
      422,
      codeOf('fieldInvalid'),
      field,
    ])
  }
  assert.equal((await cluster.call('DELETE', `${await pathOf(cluster, 'cg1')}?return_timeout=15`)).status, 200)
  assert.equal((await make(cluster, 'cg2', [add('vol1')])).status, 201)
  await cluster.close()
})

test('a snapshot of a group is one of each of its volumes, of the same name, and goes with them', async () => {
  const cluster = await startTestCluster()
  await make(cluster, 'cg1', [add('vol1'), fresh('a'), fresh('b')])
  const path = `${await pathOf(cluster, 'cg1')}/snapshots`
  const taken = await cluster.call('POST', `${path}?return_timeout=15`, { name: 's1', consistency_type: 'crash' })
  assert.equal(taken.status, 201, JSON.stringify(taken.body))
  const snapshotsOf = async (volume: string) =>
    recordsOf(
      (await cluster.call('GET', `${VOLUMES}/${await cluster.uuidOf(VOLUMES, volume)}/snapshots?fields=name,uuid`))
        .body,
    )
  for (const volume of ['vol1', 'a', 'b']) assert.equal(asText((await snapshotsOf(volume))[0]?.['name']), 's1')
  assert.deepEqual(failed(await cluster.call('POST', path, { name: 's1' })), [
    409,
    codeOf('groupSnapshotTaken'),
    'name',
  ])
  const seen = (await cluster.call('GET', `${path}?fields=*,uuid`)).body
  const [snapshot] = recordsOf(seen)
  assert.deepEqual([snapshot?.['name'], snapshot?.['is_partial'], snapshot?.['write_fence']], ['s1', false, true])
  assert.equal(asList(snapshot?.['snapshot_volumes']).length, 3)

  const [own] = await snapshotsOf('a')
  const volume = await cluster.uuidOf(VOLUMES, 'a')
  await cluster.call('DELETE', `${VOLUMES}/${volume}/snapshots/${asText(own?.['uuid'])}?return_timeout=15`)
  const partial = (await cluster.call('GET', `${path}/s1?fields=*`)).body
  assert.equal(partial['is_partial'], true)
  assert.equal(partial['missing_volumes']?.['0']?.['name'], 'a')
  assert.equal((await cluster.call('DELETE', `${path}/${asText(snapshot?.['uuid'])}?return_timeout=15`)).status, 200)
  assert.equal((await snapshotsOf('vol1')).length, 0)
  assert.equal(asNumber((await cluster.call('GET', path)).body['num_records']), 0)
  await cluster.close()
})

test('a snapshot of a group that one volume does not allow is not taken of any', async () => {
  const cluster = await startTestCluster()
  await make(cluster, 'cg1', [fresh('a'), fresh('b')])
  const offline = await cluster.uuidOf(VOLUMES, 'b')
  await cluster.call('PATCH', `${VOLUMES}/${offline}?return_timeout=15`, { state: 'offline' })
  const path = `${await pathOf(cluster, 'cg1')}/snapshots?return_timeout=15`
  assert.deepEqual(failed(await cluster.call('POST', path, { name: 's1' })), [409, codeOf('memberOffline'), undefined])
  const { body } = await cluster.call('GET', `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'a')}/snapshots`)
  assert.equal(asNumber(body['num_records']), 0)
  await cluster.close()
})

test('what was written to the volumes of a group one after the other is cut at one point by each snapshot', async () => {
  const cluster = await startTestCluster()
  const { catalog } = cluster.cluster
  await make(cluster, 'cg1', [fresh('a'), fresh('b')])
  const buckets: string[] = []
  for (const name of ['a', 'b']) {
    const volume = await cluster.uuidOf(VOLUMES, name)
    buckets.push(`bucket-${name}`)
    await catalog.commit([{ do: 'open-bucket', bucket: `bucket-${name}`, volume, limitBytes: 2 ** 20 }])
  }
  const write = (at: number) => {
    const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: '' } as const
    const blobs = [{ blob: at.toString(16).padStart(32, '0'), sizeBytes: 1 }]
    const common = {
      version: 'null',
      sizeBytes: 1,
      etag: 'x',
      modifiedMs: 1,
      checksum,
      blobs,
      parts: null,
      details: {},
    }
    return catalog.commit([
      { do: 'put-object', bucket: buckets[at % 2] ?? '', key: Buffer.from(`${at}`), object: common },
    ])
  }
  const path = `${await pathOf(cluster, 'cg1')}/snapshots?return_timeout=15`
  const enough = new AbortController()
  const writing = (async () => {
    let at = 0
    for (; !enough.signal.aborted; at++) await write(at)
    return at
  })()
  for (let n = 0; n < 10; n++) assert.equal((await cluster.call('POST', path, { name: `s${n}` })).status, 201)
  enough.abort()
  const written = await writing
  for (let n = 0; n < 10; n++) {
    const held: boolean[] = []
    const epochs = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const volume = await cluster.uuidOf(VOLUMES, name)
        const taken = await cluster.cluster.rows('storage/volumes/{volume.uuid}/snapshots', volume)
        const uuid = taken.find((row) => row['name'] === `s${n}`)?.['uuid']
        return (await catalog.snapshots(volume)).find(({ snapshot }) => snapshot === uuid)?.epoch ?? -1
      }),
    )
    for (let at = 0; at < written; at++) {
      const found = await catalog.object(buckets[at % 2] ?? '', Buffer.from(`${at}`), { epoch: epochs[at % 2] ?? -1 })
      held.push(found !== undefined)
    }
    const end = held.includes(false) ? held.indexOf(false) : held.length
    assert.equal(held.slice(end).includes(true), false, `s${n}: ${held.join()}`)
  }
  await cluster.close()
})

test('volumes that are made by number at the same time for several groups get numbers of their own', async () => {
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const secrets = new QuickSecrets()
  const cluster = await startTestCluster({ catalog, secrets })
  // Another process knows nothing of the locks of this one.
  const other = await startTestCluster({ catalog, secrets, isUsed: true })
  const groups = Array.from({ length: 6 }, (_, at) => `cg${at}`)
  const answers = await Promise.all(
    groups.map((name, at) => make(at % 2 === 0 ? cluster : other, name, [fresh('many', { count: 3 })])),
  )
  for (const { status, body } of answers) assert.equal(status, 201, JSON.stringify(body))
  const names = await Promise.all(groups.map((name) => membersOf(cluster, name)))
  const all = Array.from({ length: 18 }, (_, at) => `many_${at + 1}`)
  assert.deepEqual(new Set(names.flat()), new Set(all))
  const { body } = await cluster.call('GET', `${VOLUMES}?name=many_*&fields=name`)
  assert.equal(recordsOf(body).length, 18)
  assert.ok(!JSON.stringify(await catalog.records('storage/volumes')).includes('numbered'))
  await other.jobs.drain(5000)
  other.clock.stop()
  await cluster.close()
})
