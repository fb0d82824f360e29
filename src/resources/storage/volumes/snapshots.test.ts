import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSqliteCatalog } from '../../../engines/sqlite/catalog.ts'
import type { Catalog } from '../../../ports/catalog.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'
import { SNAPSHOTS } from './snapshot-changes.ts'
import { wireCode } from '../../../../test/support/codes.ts'

const TOOL = { headers: { 'user-agent': 'python-requests/2.31.0', 'x-dot-client-app': 'netapp.ontap/23' } }

async function begin() {
  const cluster = await startTestCluster()
  const volume = await cluster.uuidOf('/api/storage/volumes', 'vol1')
  const path = `/api/storage/volumes/${volume}/snapshots`
  assert.equal((await cluster.call('POST', path, { name: 'one', snapmirror_label: 'l', comment: 'c' })).status, 201)
  return { cluster, path, snapshot: `${path}/${await cluster.uuidOf(path, 'one')}` }
}

test('a snapshot is renamed and described anew, and answers to its new name alone', async () => {
  const { cluster, path, snapshot } = await begin()
  const change = { name: 'two', comment: 'other', snapmirror_label: 'm', expiry_time: '2000-01-01T00:00:00Z' }
  assert.equal((await cluster.call('PATCH', snapshot, change)).status, 200)
  const { body } = await cluster.call('GET', `${snapshot}?fields=name,comment,snapmirror_label,expiry_time,state,size`)
  const { _links, ...fields } = body
  assert.deepEqual(fields, { ...change, state: 'valid', size: 0 })
  assert.equal((await cluster.call('GET', `${path}/one`)).status, 404)
  assert.equal((await cluster.call('GET', `${path}/two`)).status, 200)
  assert.equal((await cluster.call('POST', path, { name: 'one' })).status, 201)
  const taken = await cluster.call('PATCH', snapshot, { name: 'one' }, TOOL)
  assert.deepEqual([taken.status, taken.body['error']?.['code']], [409, wireCode('snapshotNameTaken')])
  await cluster.close()
})

test('a change of a snapshot is a job, as tools expect', async () => {
  const { cluster, snapshot } = await begin()
  const changed = await cluster.call('PATCH', snapshot, { comment: 'other' }, TOOL)
  assert.equal(changed.status, 202)
  assert.ok(changed.body['job']?.['uuid'] !== undefined)
  await cluster.close()
})

test('a snapshot whose expiry_time is in the future is not deleted; when that has passed, it is', async () => {
  const { cluster, snapshot } = await begin()
  const expiry = new Date(Date.now() + 3_600_000).toISOString()
  assert.equal((await cluster.call('PATCH', snapshot, { expiry_time: expiry })).status, 200)
  const kept = await cluster.call('DELETE', snapshot, undefined, TOOL)
  assert.deepEqual([kept.status, kept.body['error']?.['code']], [409, wireCode('snapshotNotExpired')])
  assert.equal((await cluster.call('GET', snapshot)).status, 200)
  cluster.clock.aheadMs = 3_601_000
  assert.equal((await cluster.call('DELETE', snapshot)).status, 200)
  await cluster.close()
})

test('a volume does not go back past a snapshot that may not be deleted yet', async () => {
  const { cluster, path } = await begin()
  const expiry = new Date(Date.now() + 3_600_000).toISOString()
  assert.equal((await cluster.call('POST', path, { name: 'kept', expiry_time: expiry })).status, 201)
  const back = `${path.replace(/\/snapshots$/, '')}?restore_to.snapshot.name=one`
  const refused = await cluster.call('PATCH', back, {}, TOOL)
  assert.deepEqual([refused.status, refused.body['error']?.['code']], [409, wireCode('snapshotNotExpired')])
  assert.equal((await cluster.call('GET', `${path}/kept`)).status, 200)
  cluster.clock.aheadMs = 3_601_000
  assert.equal((await cluster.call('PATCH', back, {})).status, 200)
  assert.equal((await cluster.call('GET', `${path}/kept`)).status, 404)
  await cluster.close()
})

test('a snapshot that something uses is not deleted', async () => {
  const { cluster, snapshot } = await begin()
  const key = snapshot.split('/').at(-1) ?? ''
  await cluster.cluster.commit([
    cluster.cluster.put(SNAPSHOTS, { ...(await cluster.cluster.row(SNAPSHOTS, key)), owners: ['snapmirror'] }),
  ])
  const kept = await cluster.call('DELETE', snapshot, undefined, TOOL)
  assert.deepEqual([kept.status, kept.body['error']?.['code']], [409, wireCode('snapshotInUse')])
  await cluster.close()
})

test('a snapshot of no name is refused with the code by which Manila knows that there are restores', async () => {
  const { cluster, path } = await begin()
  const made = await cluster.call('POST', path, { name: '' }, TOOL)
  assert.deepEqual(
    [made.status, made.body['error']?.['code'], made.body['error']?.['target']],
    [400, '1638515', 'name'],
  )
  const asked = { 'restore_to.snapshot.name': '' }
  const restored = await cluster.call('PATCH', '/api/storage/volumes?name=*', asked, TOOL)
  assert.deepEqual([restored.status, restored.body['error']?.['code']], [400, '1638515'])
  await cluster.close()
})

test('a page of snapshots reads no settings of buckets, and a missing one reads no others', async () => {
  const inner = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const read = { characters: 0, records: 0 }
  const counted = new Set(['record', 'records', 'recordsAt'])
  const catalog = new Proxy<Catalog>(inner, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      const bound = member.bind(target) as (...args: unknown[]) => unknown
      if (typeof name !== 'string' || !counted.has(name)) return bound
      return async (...args: unknown[]) => {
        const found = await bound(...args)
        const rows: readonly unknown[] = Array.isArray(found) ? found : [found]
        read.records += rows.length
        read.characters += JSON.stringify(rows).length
        return found
      }
    },
  })
  const cluster = await startTestCluster({ catalog })
  const volume = await cluster.uuidOf('/api/storage/volumes', 'vol1')
  const snapshots = `/api/storage/volumes/${volume}/snapshots`
  const before = await cluster.cluster.rows('protocols/s3/services')
  const comment = 'x'.repeat(200)
  for (let n = 0; n < 300; n++) {
    const uuid = `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
    const settings = { name: `bucket-${n}`, comment, size: 2 ** 30, 'server.uuid': before[0]?.['uuid'] ?? '' }
    const row = { uuid, ...settings, 'svm.uuid': before[0]?.['svm.uuid'] ?? '', 'volume.uuid': volume }
    await inner.commit([
      { do: 'open-bucket', bucket: uuid, volume, limitBytes: 2 ** 30 },
      cluster.cluster.put('protocols/s3/buckets', row),
    ])
  }
  for (let n = 0; n < 20; n++) {
    assert.equal((await cluster.call('POST', `${snapshots}?return_timeout=15`, { name: `s${n}` })).status, 201)
  }
  const reading = async (target: string, status: number) => {
    Object.assign(read, { characters: 0, records: 0 })
    assert.equal((await cluster.call('GET', target)).status, status)
    return { ...read }
  }
  const page = await reading(`${snapshots}?fields=name&max_records=5`, 200)
  assert.ok(page.characters < 20_000, `${page.characters} characters for a page of five names`)
  const filtered = await reading(`${snapshots}?name=s7&fields=create_time`, 200)
  assert.ok(filtered.characters < 20_000, `${filtered.characters} characters for a filter`)
  const missing = await reading(`${snapshots}/00000000-0000-4000-8000-00000000ffff`, 404)
  assert.ok(missing.records < 5, `${missing.records} records for one that is not there`)
  const named = await reading(`${snapshots}/s7`, 200)
  assert.ok(named.records < 10, `${named.records} records for one by its name`)
  await cluster.close()
})
