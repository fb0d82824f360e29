import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'
import { CommitRefused } from '../../../ports/catalog.ts'
import { notesChange, NOTES } from './owed-snapshots.ts'
import { wireCode } from '../../../../test/support/codes.ts'

const VOLUMES = '/api/storage/volumes'
const TOOL = { headers: { 'user-agent': 'python-requests/2.31.0', 'x-dot-client-app': 'netapp.ontap/22.7.0' } }

async function begin() {
  const cluster = await startTestCluster()
  const change = (target: string, body: unknown) => cluster.call('POST', target, body, TOOL)
  const refusal = async (body: object) => {
    const { status, body: answer } = await change(`${VOLUMES}?return_timeout=15`, {
      name: 'clone1',
      svm: { name: 'svm1' },
      ...body,
    })
    return [status, answer['error']?.['code'], answer['error']?.['target']]
  }
  return { cluster, change, refusal }
}

test('a clone is made as tools ask for it, and tells the uuid beside the job', async () => {
  const { cluster, change } = await begin()
  const { status, body } = await change(`${VOLUMES}?return_timeout=30&return_records=true`, {
    name: 'clone1',
    'svm.name': 'svm1',
    'clone.parent_volume.name': 'vol1',
    'clone.is_flexclone': true,
  })
  assert.ok(status === 201 || status === 202, String(status))
  const uuid = asText(recordsOf(body)[0]?.['uuid'])
  const read = await cluster.call(
    'GET',
    `${VOLUMES}/${uuid}?fields=clone,size,guarantee,snapshot_policy.name,aggregates`,
  )
  const parent = await cluster.call('GET', `${VOLUMES}?name=vol1&fields=size,guarantee,snapshot_policy.name,aggregates`)
  for (const field of ['size', 'guarantee', 'snapshot_policy', 'aggregates']) {
    assert.deepEqual(read.body[field], recordsOf(parent.body)[0]?.[field])
  }
  assert.equal(read.body['clone']?.['is_flexclone'], true)
  assert.equal(read.body['clone']?.['parent_volume']?.['name'], 'vol1')
  assert.equal(read.body['clone']?.['parent_svm']?.['name'], 'svm1')
  const shown = await cluster.call('GET', `${VOLUMES}?clone.is_flexclone=true&fields=name`)
  assert.deepEqual(
    recordsOf(shown.body).map((row) => row['name']),
    ['clone1'],
  )
  const parents = await cluster.call('GET', `${VOLUMES}?clone.has_flexclone=true&fields=name`)
  assert.deepEqual(
    recordsOf(parents.body).map((row) => row['name']),
    ['vol1'],
  )
  await cluster.close()
})

test('what a clone cannot be made of is refused, and leaves nothing', async () => {
  const { cluster, refusal } = await begin()
  const clone = (more: object) => ({ clone: { is_flexclone: true, ...more } })
  assert.deepEqual(await refusal(clone({})), [400, wireCode('fieldRequired'), 'clone.parent_volume.name'])
  assert.deepEqual(await refusal({ clone: { parent_volume: { name: 'vol1' } } }), [
    400,
    wireCode('fieldRequired'),
    'clone.is_flexclone',
  ])
  const unknown = { parent_volume: { name: 'none' } }
  assert.deepEqual(await refusal(clone(unknown)), [400, wireCode('cloneParentNotFound'), 'clone.parent_volume.name'])
  const ofNobody = { parent_volume: { name: 'vol1' }, parent_svm: { name: 'none' } }
  assert.deepEqual(await refusal(clone(ofNobody)), [400, wireCode('cloneParentSvmNotFound'), 'clone.parent_svm.name'])
  const atNothing = { parent_volume: { name: 'vol1' }, parent_snapshot: { name: 'none' } }
  assert.deepEqual(await refusal(clone(atNothing)), [
    400,
    wireCode('cloneSnapshotUnknown'),
    'clone.parent_snapshot.name',
  ])
  const { body } = await cluster.call('GET', `${VOLUMES}?name=clone1`)
  assert.equal(body['num_records'], 0)
  const volume = await cluster.uuidOf(VOLUMES, 'vol1')
  assert.equal((await cluster.call('GET', `${VOLUMES}/${volume}/snapshots`)).body['num_records'], 0)
  await cluster.close()
})

test('the snapshot that a clone began with goes with the clone when it was taken for it, and stays when it was chosen', async () => {
  const { cluster, change } = await begin()
  const volume = await cluster.uuidOf(VOLUMES, 'vol1')
  const snapshots = `${VOLUMES}/${volume}/snapshots`
  const names = async () =>
    recordsOf((await cluster.call('GET', `${snapshots}?fields=name`)).body).map((row) => row['name'])
  const make = async (name: string, more: object = {}) => {
    const clone = { is_flexclone: true, parent_volume: { name: 'vol1' }, ...more }
    const made = await change(`${VOLUMES}?return_timeout=15`, { name, svm: { name: 'svm1' }, clone })
    assert.ok(made.status < 300, JSON.stringify(made.body))
    return `${VOLUMES}/${await cluster.uuidOf(VOLUMES, name)}`
  }
  const one = await make('one')
  assert.equal((await names()).length, 1)
  assert.ok((await cluster.call('DELETE', `${one}?return_timeout=15`)).status < 300)
  assert.deepEqual(await names(), [])

  await cluster.call('POST', snapshots, { name: 'chosen' })
  const two = await make('two', { parent_snapshot: { name: 'chosen' } })
  const three = await make('three', { parent_snapshot: { name: 'chosen' } })
  const split = await cluster.call('PATCH', `${two}?return_timeout=15`, { clone: { split_initiated: true } })
  assert.ok(split.status < 300, JSON.stringify(split.body))
  const held = await cluster.call('DELETE', `${snapshots}/chosen`, undefined, TOOL)
  assert.deepEqual([held.status, held.body['error']?.['code']], [409, wireCode('snapshotOfClone')])
  assert.ok((await cluster.call('DELETE', `${three}?return_timeout=15`)).status < 300)
  assert.deepEqual(await names(), ['chosen'])
  assert.ok((await cluster.call('DELETE', `${snapshots}/chosen?return_timeout=15`)).status < 300)
  const again = await cluster.call('PATCH', two, { clone: { split_initiated: true } }, TOOL)
  assert.deepEqual([again.status, again.body['error']?.['target']], [400, 'clone.split_initiated'])
  await cluster.close()
})

test('a snapshot is cloned that shows an empty bucket, which was deleted since', async () => {
  const { cluster, change } = await begin()
  const buckets = '/api/protocols/s3/buckets'
  const made = await change(`${buckets}?return_timeout=15`, {
    name: 'papers',
    svm: { name: 'svm1' },
    volume: { name: 'vol1' },
    size: 1_073_741_824,
  })
  assert.ok(made.status < 300, JSON.stringify(made.body))
  await cluster.call('POST', `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'vol1')}/snapshots`, { name: 'then' })
  const place = `${buckets}/${await cluster.uuidOf('/api/svm/svms', 'svm1')}/${await cluster.uuidOf(buckets, 'papers')}`
  assert.ok((await cluster.call('DELETE', `${place}?return_timeout=15`)).status < 300)
  const clone = { is_flexclone: true, parent_volume: { name: 'vol1' }, parent_snapshot: { name: 'then' } }
  const cloned = await change(`${VOLUMES}?return_timeout=15`, { name: 'clone1', svm: { name: 'svm1' }, clone })
  assert.ok(cloned.status < 300, JSON.stringify(cloned.body))
  const shown = await cluster.call('GET', `${buckets}?fields=name`)
  assert.deepEqual(
    recordsOf(shown.body).map((row) => row['name']),
    ['papers-clone1'],
  )
  await cluster.close()
})

test('the notes of scheduled snapshots of its buckets go with a clone', async () => {
  const { cluster, change } = await begin()
  const { catalog } = cluster.cluster
  const draft = { name: 'papers', svm: { name: 'svm1' }, volume: { name: 'vol1' }, size: 1_073_741_824 }
  assert.ok((await change('/api/protocols/s3/buckets?return_timeout=15', draft)).status < 300)
  const clone = { is_flexclone: true, parent_volume: { name: 'vol1' } }
  assert.ok(
    (await change(`${VOLUMES}?return_timeout=15`, { name: 'clone1', svm: { name: 'svm1' }, clone })).status < 300,
  )
  const bucket = await cluster.uuidOf('/api/protocols/s3/buckets', 'papers-clone1')
  await catalog.commit([notesChange(bucket, { hourly: 1 })])
  const path = `${VOLUMES}/${await cluster.uuidOf(VOLUMES, 'clone1')}?return_timeout=15`
  assert.ok((await cluster.call('DELETE', path)).status < 300)
  assert.equal(await catalog.record('protocols/s3/buckets', bucket), undefined)
  assert.equal(await catalog.record(NOTES, bucket), undefined)
  await cluster.close()
})

test('a clone gets more buckets than one commit may write, and loses them all where it cannot be made', async () => {
  const { cluster, change } = await begin()
  const { catalog } = cluster.cluster
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  const parent = await cluster.uuidOf(VOLUMES, 'vol1')
  const buckets = 300
  for (let n = 0; n < buckets; n++) {
    const [uuid, name] = [`00000000-0000-4000-8000-${String(n).padStart(12, '0')}`, `papers-${n}`]
    const body = { uuid, name, 'svm.uuid': svm, 'volume.uuid': parent, size: 2 ** 30, comment: 'long '.repeat(2000) }
    await catalog.commit([
      { do: 'open-bucket', bucket: uuid, volume: parent, limitBytes: 2 ** 30 },
      cluster.cluster.put('protocols/s3/buckets', body),
    ])
  }
  const commit = catalog.commit.bind(catalog)
  let longest = 0
  let isRefused = true
  catalog.commit = (changes) => {
    longest = Math.max(longest, JSON.stringify(changes).length)
    const last = changes.findIndex((one) => one.do === 'put-record' && one.type === 'storage/volumes')
    return isRefused && last >= 0 ? Promise.reject(new CommitRefused('taken', last)) : commit(changes)
  }
  const clone = { is_flexclone: true, parent_volume: { name: 'vol1' } }
  const make = () => change(`${VOLUMES}?return_timeout=120`, { name: 'clone1', svm: { name: 'svm1' }, clone })
  const count = async () => (await catalog.records('protocols/s3/buckets')).length
  assert.equal((await make()).status, 409)
  assert.equal(await count(), buckets)
  isRefused = false
  const made = await make()
  assert.ok(made.status < 300, JSON.stringify(made.body))
  assert.equal(await count(), 2 * buckets)
  const own = await catalog.records('protocols/s3/buckets', { parent: await cluster.uuidOf(VOLUMES, 'clone1') })
  const names = new Set(own.map(({ body }) => body['name']))
  assert.deepEqual([own.length, names.size, names.has('papers-7-clone1')], [buckets, buckets, true])
  for (const { key } of own) assert.ok((await catalog.bucket(key)) !== undefined)
  assert.ok(longest < 2 ** 20, `a commit of ${longest} characters`)
  await cluster.close()
})
