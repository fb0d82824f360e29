import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Change } from '../ports/catalog.ts'
import { startTestCluster, type TestCluster } from '../../test/support/cluster.ts'
import { startTwoPlanes } from '../../test/support/two-planes.ts'
import { until } from '../../test/support/until.ts'
import { Interrupted } from '../core/verb.ts'
import { Housekeeping } from './housekeeping.ts'
import { SET_ASIDE_KEPT_MS } from '../records/set-aside.ts'

async function watched() {
  const cluster = await startTestCluster()
  const { catalog } = cluster.cluster
  const commits: (readonly Change[])[] = []
  const commit = catalog.commit.bind(catalog)
  catalog.commit = (changes) => {
    commits.push(changes)
    return commit(changes)
  }
  const svm = (await cluster.cluster.keyOfName('svm/svms', 'svm1')) ?? ''
  const volume = (await cluster.cluster.keyOfName('storage/volumes', 'vol1', svm)) ?? ''
  return { cluster, catalog, commits, volume, housekeeping: new Housekeeping(cluster.cluster, cluster.jobs) }
}

test('a cluster in which nothing happens is not written to, however many volumes it has', async () => {
  const { commits, housekeeping } = await watched()
  await housekeeping.round()
  commits.length = 0
  for (let round = 0; round < 3; round++) await housekeeping.round()
  assert.deepEqual(commits, [])
})

test('the space of a dropped snapshot is given back', async () => {
  const { catalog, volume, housekeeping } = await watched()
  await catalog.commit([
    ...objectIn(volume),
    { do: 'take-snapshot', volume, snapshot: 's', nowMs: 1 },
    { do: 'delete-object', bucket: 'b', key },
  ])
  await housekeeping.round()
  assert.equal((await catalog.volume(volume))?.usedBytes, 5)
  await catalog.commit([{ do: 'drop-snapshot', volume, snapshot: 's' }])
  await housekeeping.round()
  assert.equal((await catalog.volume(volume))?.usedBytes, 0)
  assert.deepEqual(await catalog.unneededBlobs(volume, 10), [])
})

test('the space of a snapshot that was taken and dropped between two rounds is given back', async () => {
  const { catalog, volume, housekeeping } = await watched()
  await catalog.commit(objectIn(volume))
  await housekeeping.round()
  await catalog.commit([
    { do: 'take-snapshot', volume, snapshot: 's', nowMs: 1 },
    { do: 'delete-object', bucket: 'b', key },
    { do: 'drop-snapshot', volume, snapshot: 's' },
  ])
  await housekeeping.round()
  assert.equal((await catalog.volume(volume))?.usedBytes, 0)
})

test('blobs that no row knows are set aside after an unclean stop, counted in an event, and go later only if proven', async () => {
  const { cluster, catalog, volume, housekeeping } = await watched()
  await catalog.commit(objectIn(volume))
  const write = async (blob: string) => {
    const writer = await cluster.volumes.write(volume, blob)
    await writer.commit(Buffer.from('{}'))
  }
  const madeAt = (ms: number, end: string) => `${ms.toString(16).padStart(12, '0')}${end.repeat(20)}`
  const now = cluster.clock.now()
  const [older, newer, later] = [madeAt(now - 1000, 'a'), madeAt(now + 1000, 'b'), madeAt(now + 2000, 'c')]
  for (const blob of [older, newer, later]) await write(blob)
  assert.equal(await housekeeping.sweep(now, false), 1)
  assert.equal(await housekeeping.sweep(now, false), 0)
  assert.equal(await housekeeping.sweep(now + 1500, true), 1)
  assert.deepEqual(await Array.fromAsync(cluster.volumes.blobs(volume)), [later], 'that of an upload under way stays')
  assert.deepEqual(
    cluster.volumes.aside.map(({ name }) => name),
    [older, newer],
  )
  const events = (await catalog.log('events', { limit: 100 })).map(({ body }) => body)
  assert.deepEqual(
    events.filter(({ name }) => name === 'cluster.blobs.set_aside').map(({ blobs, proven }) => [blobs, proven]),
    [
      [1, true],
      [1, false],
    ],
  )
  await housekeeping.round()
  assert.equal(cluster.volumes.aside.length, 2)
  cluster.clock.aheadMs = SET_ASIDE_KEPT_MS + 3_600_001
  await housekeeping.round()
  assert.deepEqual(
    cluster.volumes.aside.map(({ name }) => name),
    [older],
  )
})

test('a sweep rests three times as long as it works, and does not count what is unlinked beside it', async () => {
  const { cluster, volume, housekeeping } = await watched()
  const blobs = Array.from({ length: 1200 }, (_, n) => `000000000001${n.toString(16).padStart(20, '0')}`)
  for (const blob of blobs) await (await cluster.volumes.write(volume, blob)).commit(Buffer.from('{}'))
  const { clock } = cluster.cluster.system
  const [elapsed, sleep] = [clock.elapsed.bind(clock), clock.sleep.bind(clock)]
  let [workedMs, restedMs] = [0, 0]
  // Each look at the clock comes after a second of work.
  clock.elapsed = () => (workedMs += 1000) + restedMs
  clock.sleep = async (ms) => {
    restedMs += ms
    await cluster.volumes.unlink(volume, blobs.pop() ?? '')
  }
  try {
    const found = await housekeeping.sweep(clock.now())
    assert.equal(found, cluster.volumes.aside.length)
    assert.ok(found > 500 && found < 1200, `${found} were set aside`)
  } finally {
    clock.elapsed = elapsed
    clock.sleep = sleep
  }
  // A look when a rest has ended is no work.
  assert.ok(restedMs >= workedMs, `${workedMs} ms of work, ${restedMs} ms of rest`)
})

test('a sweep that an orderly stop ends goes on after the next start, and trusts no more than the first', async () => {
  const { cluster, catalog, volume, housekeeping } = await watched()
  const blob = `000000000001${'a'.repeat(20)}`
  await (await cluster.volumes.write(volume, blob)).commit(Buffer.from('{}'))
  const due = async () => (await catalog.record('internal/sweep', 'due'))?.body
  const stopped = Promise.withResolvers<void>()
  const blobs = cluster.volumes.blobs.bind(cluster.volumes)
  cluster.volumes.blobs = (tree) => {
    stopped.resolve(housekeeping.stop())
    return blobs(tree)
  }
  const sweepBeforeMs = cluster.clock.now()
  housekeeping.start({ sweepBeforeMs, isProven: false })
  await stopped.promise
  cluster.volumes.blobs = blobs
  assert.deepEqual(await due(), { sweepBeforeMs, isProven: false })
  assert.equal(cluster.volumes.aside.length, 0)
  const next = new Housekeeping(cluster.cluster, cluster.jobs)
  next.start({ sweepBeforeMs: sweepBeforeMs + 1, isProven: true })
  await until('the sweep has ended', async () => (await due()) === undefined)
  await next.stop()
  assert.deepEqual(
    cluster.volumes.aside.map(({ name }) => name),
    [blob],
  )
  const events = (await catalog.log('events', { limit: 100 })).map(({ body }) => body)
  assert.equal(events.find(({ name }) => name === 'cluster.blobs.set_aside')?.['proven'], false)
})

test('what is set aside goes after as many hours as the cluster is told to keep it', async () => {
  const { cluster, volume, housekeeping } = await watched()
  const { status } = await cluster.call('PATCH', '/api/private/scrub-schedule', { lost_and_found_retention: 2 })
  assert.equal(status, 200)
  const writer = await cluster.volumes.write(volume, 'a'.repeat(32).replace(/^a{12}/, '0'.repeat(12)))
  await writer.commit(Buffer.from('{}'))
  assert.equal(await housekeeping.sweep(cluster.clock.now(), true), 1)
  for (const [hours, left] of [
    [1.5, 1],
    [2.6, 0],
  ] as const) {
    cluster.clock.aheadMs = hours * 3_600_000
    await housekeeping.round()
    assert.equal(cluster.volumes.aside.length, left, `after ${hours} hours`)
  }
})

const key = Buffer.from('k')

/** Makes the bucket `b` with an object of 5 bytes. */
function objectIn(volume: string): readonly Change[] {
  const object = {
    version: 'null',
    sizeBytes: 5,
    etag: 'e',
    modifiedMs: 1,
    checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' },
    blobs: [{ blob: '0'.repeat(32), sizeBytes: 5 }],
    parts: null,
    details: {},
  } as const
  return [
    { do: 'open-bucket', bucket: 'b', volume, limitBytes: 100 },
    { do: 'put-object', bucket: 'b', key, object },
  ]
}

test('of two planes one compacts packs, and each takes up its own jobs', async () => {
  let begun = 0
  const two = await startTwoPlanes({
    // The first time that a job of the second plane is about to begin, it stops there.
    hooks: { reached: () => (begun++ === 0 ? Promise.reject(new Interrupted()) : Promise.resolve()) },
  })
  const { first, second } = two
  const keepers = [first, second].map(({ cluster, jobs }) => new Housekeeping(cluster, jobs))
  const statusOf = ({ cluster }: TestCluster, name: string) =>
    cluster.background.tasks.find(({ declared }) => declared.name === name)?.status.state
  keepers[0]?.start()
  await until(
    'the first plane has its tasks',
    () => statusOf(first, 'pack-compaction') === 'waiting' && statusOf(first, 'housekeeping') === 'waiting',
  )
  await second.call('POST', '/api/svm/svms', { name: 's' })
  await until('the job of the second plane stops', () => second.jobs.activeCount === 0)
  assert.equal((await first.cluster.rows('svm/svms')).length, 0)
  keepers[1]?.start()
  await until('the second plane takes up its job', async () => (await first.cluster.rows('svm/svms')).length === 1)
  await until(
    'the second plane has looked at its tasks',
    () => statusOf(second, 'pack-compaction') !== undefined && second.jobs.activeCount === 0,
  )
  assert.deepEqual(
    ['pack-compaction', 'housekeeping', 'tree-removal'].map((name) => statusOf(second, name)),
    ['elsewhere', 'elsewhere', 'elsewhere'],
  )
  await Promise.all(keepers.map((one) => one.stop()))
  await two.close()
})
