import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber, recordsOf } from '../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../test/support/cluster.ts'
import { write } from '../../test/support/lifecycle.ts'
import { textAt } from '../model/value.ts'
import { CommitRefused } from '../ports/catalog.ts'
import { setSize } from '../resources/storage/volumes/set-size.ts'
import { VolumeWatch } from './volume-watch.ts'

const VOLUMES = '/api/storage/volumes'
const MB = 2 ** 20

interface Watched {
  readonly cluster: TestCluster
  readonly volume: string
  readonly path: string
  watch: VolumeWatch
  /** Lets the volume hold exactly so much: one object of that size. */
  hold(bytes: number): Promise<void>
  size(): Promise<number>
  /** The events about volumes since the last call, oldest first: what was said, and about which percent or size. */
  told(): Promise<string[]>
}

async function watched(fields: Readonly<Record<string, unknown>>): Promise<Watched> {
  const cluster = await startTestCluster()
  const made = await cluster.call('POST', VOLUMES, { name: 'v1', svm: 'svm1', size: 100 * MB, ...fields })
  assert.equal(made.status, 201, JSON.stringify(made.body))
  const volume = await cluster.uuidOf(VOLUMES, 'v1')
  const path = `${VOLUMES}/${volume}`
  const { catalog } = cluster.cluster
  await catalog.commit([{ do: 'open-bucket', bucket: 'b', volume, limitBytes: 2 ** 50 }])
  let last = 0
  let blob = 0
  return {
    cluster,
    volume,
    path,
    watch: new VolumeWatch(cluster.cluster),
    async hold(sizeBytes) {
      const blobs = [{ blob: String(++blob).padStart(32, '0'), sizeBytes }]
      await catalog.commit([{ do: 'delete-object', bucket: 'b', key: Buffer.from('k') }])
      await catalog.commit([write('b', 'k', { modifiedMs: 0, sizeBytes, blobs })])
    },
    async size() {
      const { body } = await cluster.call('GET', `${path}?fields=size`)
      assert.equal((await catalog.volume(volume))?.sizeBytes, asNumber(body['size']), 'It has one size.')
      return asNumber(body['size'])
    },
    async told() {
      const entries = (await catalog.log('events', { limit: 1000 })).toReversed()
      const fresh = entries.filter(({ id }) => id > last)
      last = entries.at(-1)?.id ?? last
      return fresh
        .filter(({ body }) => /autosize|space/.test(textAt(body, 'name')))
        .map(({ body }) => `${textAt(body, 'name')} ${Number(body['percent'] ?? body['to'])}`)
    },
  }
}

async function availableOf(cluster: TestCluster): Promise<number> {
  const { body } = await cluster.call('GET', '/api/storage/aggregates?fields=space.block_storage.available')
  return asNumber(recordsOf(body)[0]?.['space']?.['block_storage']?.['available'])
}

/** Promises what the aggregate has to volumes more2, more3 and so on, and leaves so much. */
async function promiseAllBut(cluster: TestCluster, bytes: number): Promise<void> {
  let name = 1
  for (let left = (await availableOf(cluster)) - bytes; left > 0; left = (await availableOf(cluster)) - bytes) {
    const size = Math.min(left, 300 * 2 ** 40)
    const more = await cluster.call('POST', VOLUMES, { name: `more${++name}`, svm: 'svm1', size })
    assert.equal(more.status, 201, JSON.stringify(more.body))
  }
}

test('a volume grows before it is full, shrinks again, and says so', async () => {
  const w = await watched({
    autosize: { mode: 'grow_shrink', maximum: 400 * MB, minimum: 50 * MB },
    guarantee: { type: 'none' },
  })
  await w.hold(85 * MB)
  await w.watch.look()
  assert.equal(await w.size(), 100 * MB, 'At the threshold it stays.')
  await w.hold(88 * MB)
  await w.watch.look()
  assert.equal(await w.size(), 110 * MB)
  await w.hold(20 * MB)
  await w.watch.look()
  assert.equal(await w.size(), 50 * MB)
  await w.watch.look()
  assert.deepEqual(await w.told(), [`volume.autosize.grown ${110 * MB}`, `volume.autosize.shrunk ${50 * MB}`])
  await w.cluster.close()
})

test('a volume that only grows keeps its size, and one that does neither is left alone', async () => {
  for (const mode of ['grow', 'off']) {
    const w = await watched({ autosize: { mode, maximum: 400 * MB } })
    await w.hold(10 * MB)
    await w.watch.look()
    assert.equal(await w.size(), 100 * MB)
    await w.hold(90 * MB)
    await w.watch.look()
    assert.equal(await w.size(), mode === 'grow' ? Math.ceil((90 * MB) / 0.8) : 100 * MB)
    await w.cluster.close()
  }
})

test('a write that was refused has the volume grown for it, up to the maximum and not at all beyond', async () => {
  const w = await watched({ autosize: { mode: 'grow', maximum: 400 * MB } })
  await assert.rejects(w.hold(300 * MB), CommitRefused)
  assert.equal(await setSize(w.cluster.cluster, w.volume, 300 * MB), true)
  await w.hold(300 * MB)
  assert.equal(await w.size(), 375 * MB)
  assert.equal(await setSize(w.cluster.cluster, w.volume, 101 * MB), false)
  assert.equal(await w.size(), 375 * MB, 'What does not fit anyway does not make it grow.')
  assert.equal(await setSize(w.cluster.cluster, w.volume, 100 * MB), true)
  assert.equal(await w.size(), 400 * MB)
  await w.cluster.close()
})

test('a guaranteed volume grows by what its aggregate has to give, and no more', async () => {
  const w = await watched({ autosize: { mode: 'grow', maximum: 400 * MB }, guarantee: { type: 'volume' } })
  const free = () => availableOf(w.cluster)
  await promiseAllBut(w.cluster, 20 * MB)
  // What it holds is not on the simulated disk, so its promise is given back as it fills: the aggregate has that too.
  const before = await w.size()
  const spare = await free()
  assert.equal(await setSize(w.cluster.cluster, w.volume, 399 * MB), false)
  assert.equal(await w.size(), before + spare)
  assert.equal(await free(), 0)
  await w.cluster.close()
})

test('a volume that could not grow for want of space grows when there is some', async () => {
  const w = await watched({ autosize: { mode: 'grow', maximum: 400 * MB }, guarantee: { type: 'volume' } })
  await w.hold(90 * MB)
  await promiseAllBut(w.cluster, 0)
  for (let look = 0; look < 2; look++) await w.watch.look()
  assert.equal(await w.size(), 100 * MB)
  await w.cluster.call('DELETE', `${VOLUMES}/${await w.cluster.uuidOf(VOLUMES, 'more2')}`)
  await w.watch.look()
  assert.equal(await w.size(), Math.ceil((90 * MB) / 0.8))
  await w.cluster.close()
})

test('that a volume is nearly full, or full, is told once for each crossing, also over a restart', async () => {
  const w = await watched({})
  const look = async (megabytes: number) => {
    await w.hold(megabytes * MB)
    await w.watch.look()
    await w.watch.look()
    return w.told()
  }
  assert.deepEqual(await look(94), [])
  assert.deepEqual(await look(95), ['volume.space.nearly_full 95'])
  assert.deepEqual(await look(96), [])
  w.watch = new VolumeWatch(w.cluster.cluster)
  assert.deepEqual(await look(97), [])
  assert.deepEqual(await look(98), ['volume.space.full 98'])
  assert.deepEqual(await look(97), [], 'A little below is not below.')
  assert.deepEqual(await look(95), ['volume.space.nearly_full 95'])
  assert.deepEqual(await look(94), [])
  assert.deepEqual(await look(80), ['volume.space.back 80'])
  const changed = await w.cluster.call('PATCH', w.path, {
    space: { nearly_full_threshold_percent: 50, full_threshold_percent: 60 },
  })
  assert.equal(changed.status, 200, JSON.stringify(changed.body))
  await w.watch.look()
  assert.deepEqual(await w.told(), ['volume.space.full 80'], 'Another threshold is looked at by itself.')
  assert.deepEqual(await look(61), [])
  const { body } = await w.cluster.call('GET', `${w.path}?fields=space,autosize`)
  assert.deepEqual(
    [body['space']?.['nearly_full_threshold_percent'], body['space']?.['full_threshold_percent']],
    [50, 60],
  )
  assert.deepEqual(body['autosize'], { mode: 'off', grow_threshold: 85, shrink_threshold: 50 })
  await w.cluster.close()
})
