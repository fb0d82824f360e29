import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { asNumber, asText, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster, type Answered, type TestCluster } from '../../../../test/support/cluster.ts'
import { Housekeeping } from '../../../background/housekeeping.ts'
import { nextOf, placeOf } from '../../../storage/tree-of.ts'
import type { SimulatedVolumes } from '../../../engines/simulated/volumes.ts'
import { textAt } from '../../../model/value.ts'
import type { Change } from '../../../ports/catalog.ts'
import { VolumesFailure } from '../../../ports/volumes.ts'
import { allowAnyAggregate } from '../../../../test/support/any-aggregate.ts'
import { until } from '../../../../test/support/until.ts'
import { codeOf } from '../../../model/failure.ts'

const VOLUMES = '/api/storage/volumes'
const AGGREGATES = '/api/storage/aggregates'

/** A cluster with a second aggregate on a disk of its own, and a volume with a bucket in the first. */
class Moving {
  readonly test: TestCluster
  readonly volume: string
  readonly engines: Readonly<Record<'aggr1' | 'aggr2', SimulatedVolumes>>
  readonly aggregates: Readonly<Record<'aggr1' | 'aggr2', string>>

  static async start(context: TestContext): Promise<Moving> {
    const test = await startTestCluster()
    context.after(() => test.close())
    const made = await test.call('POST', AGGREGATES, { name: 'aggr2', block_storage: { path: '/disk2/a' } })
    assert.equal(made.status, 201)
    await allowAnyAggregate(test.cluster)
    const volume = await test.uuidOf(VOLUMES, 'vol1')
    const aggregates = { aggr1: await test.uuidOf(AGGREGATES, 'aggr1'), aggr2: await test.uuidOf(AGGREGATES, 'aggr2') }
    // Simulated ones, as the test cluster makes them.
    const second = (await test.cluster.volumesOf(aggregates.aggr2)) as SimulatedVolumes
    await test.cluster.commit([{ do: 'open-bucket', bucket: 'b', volume, limitBytes: 1e9 }])
    return new Moving(test, volume, { aggr1: test.volumes, aggr2: second }, aggregates)
  }

  private constructor(test: TestCluster, volume: string, engines: Moving['engines'], aggregates: Moving['aggregates']) {
    this.test = test
    this.volume = volume
    this.engines = engines
    this.aggregates = aggregates
  }

  get path(): string {
    return `${VOLUMES}/${this.volume}`
  }

  patch(body: unknown, query = ''): Promise<Answered> {
    return this.test.call('PATCH', `${this.path}${query}`, body)
  }

  move(to: string, more: Readonly<Record<string, unknown>> = {}): Promise<Answered> {
    return this.patch({ movement: { destination_aggregate: { name: to }, ...more } })
  }

  /** Begins a move that waits before it switches. */
  async hold(to: string): Promise<void> {
    const begun = await this.test.call('PATCH', `${this.path}?return_timeout=0`, {
      movement: { destination_aggregate: { name: to }, state: 'cutover_wait' },
    })
    assert.equal(begun.status, 202, JSON.stringify(begun.body))
    await this.until('cutover_pending')
  }

  async until(state: string, path = this.path): Promise<void> {
    await until(`the move is ${state}`, async () => (await this.state(path)) === state)
  }

  async state(path = this.path): Promise<string> {
    const { body } = await this.test.call('GET', `${path}?fields=movement`)
    const state = body['movement']?.['state']
    return state === undefined ? '' : asText(state)
  }

  async aggregate(): Promise<string> {
    const { body } = await this.test.call('GET', `${this.path}?fields=aggregates`)
    const [aggregate] = body['aggregates'] as unknown as readonly { readonly name: string }[]
    return aggregate?.name ?? ''
  }

  async row() {
    return this.test.cluster.row('storage/volumes', this.volume)
  }

  /** Writes an object as the data plane does: the blob, then the commit that names it. Gives the name of the blob. */
  async put(key: string, sizeBytes = 100): Promise<string> {
    const blob = randomBytes(16).toString('hex')
    const place = placeOf(await this.row())
    const writer = await (await this.test.cluster.volumesOf(place.aggregate)).write(place.tree, blob)
    await writer.write(Buffer.alloc(sizeBytes, key))
    await writer.commit(Buffer.from(key))
    await this.test.cluster.commit([putChange(key, blob, sizeBytes, place.tree)])
    return blob
  }

  remove(key: string) {
    return this.test.cluster.commit([{ do: 'delete-object', bucket: 'b', key: Buffer.from(key) }])
  }

  /** Names of the blobs in an aggregate, of all trees. */
  async blobs(aggregate: 'aggr1' | 'aggr2'): Promise<string[]> {
    const engine = this.engines[aggregate]
    const found: string[] = []
    for (const tree of await engine.list()) for await (const blob of engine.blobs(tree)) found.push(blob)
    return found.toSorted()
  }

  /** Trees of volumes with objects: the root volume has its own in the first aggregate. */
  async trees(aggregate: 'aggr1' | 'aggr2'): Promise<number> {
    return (await this.engines[aggregate].list()).length - (aggregate === 'aggr1' ? 1 : 0)
  }

  async available(aggregate: string): Promise<number> {
    const fields = 'space.block_storage.available'
    const { body } = await this.test.call('GET', `${AGGREGATES}?name=${aggregate}&fields=${fields}`)
    return asNumber(recordsOf(body)[0]?.['space']?.['block_storage']?.['available'])
  }
}

function putChange(key: string, blob: string, sizeBytes: number, tree: string): Change {
  const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' } as const
  const object = { version: 'null', sizeBytes, etag: blob, modifiedMs: 1, checksum, parts: null, details: {} }
  return {
    do: 'put-object',
    bucket: 'b',
    key: Buffer.from(key),
    object: { ...object, blobs: [{ blob, sizeBytes }] },
    tree,
  }
}

test('a volume that was moved has all its objects and snapshots in the other aggregate, and nothing where it was', async (context) => {
  const moving = await Moving.start(context)
  const blobs = [await moving.put('a', 3_000_000), await moving.put('b')]
  assert.equal((await moving.test.call('POST', `${moving.path}/snapshots`, { name: 's' })).status, 201)
  await moving.remove('a')
  for (const [to, from] of [
    ['aggr2', 'aggr1'],
    ['aggr1', 'aggr2'],
  ] as const) {
    assert.equal((await moving.move(to)).status, 200)
    assert.equal(await moving.aggregate(), to)
    assert.deepEqual(await moving.blobs(to), blobs.toSorted())
    assert.equal(await moving.trees(from), 0)
    const { body } = await moving.test.call('GET', `${moving.path}?fields=movement`)
    const { state, percent_complete: percent, destination_aggregate: destination } = body['movement'] ?? {}
    assert.deepEqual([state, percent, destination], ['success', 100, { name: to, uuid: moving.aggregates[to] }])
  }
  const { tree } = placeOf(await moving.row())
  const reader = await moving.engines.aggr1.open(tree, blobs[1] ?? '')
  assert.equal(Buffer.from(await reader.label()).toString(), 'b', 'labels go with the bytes')
  assert.equal(
    (await moving.test.call('GET', `${VOLUMES}?movement.destination_aggregate.name=aggr1`)).body['num_records'],
    1,
  )
})

test('a volume that was moved can be deleted, and nothing of it is left', async (context) => {
  const { test, engines } = await Moving.start(context)
  await test.call('POST', VOLUMES, { name: 'v2', svm: 'svm1', size: '64m' })
  const path = `${VOLUMES}/${await test.uuidOf(VOLUMES, 'v2')}`
  assert.equal((await test.call('PATCH', path, { 'movement.destination_aggregate.name': 'aggr2' })).status, 200)
  assert.equal((await engines.aggr2.list()).length, 1)
  assert.equal((await test.call('DELETE', `${path}?force=true`)).status, 200)
  assert.deepEqual(await engines.aggr2.list(), [])
  assert.equal((await test.call('DELETE', `${AGGREGATES}/${await test.uuidOf(AGGREGATES, 'aggr2')}`)).status, 200)
})

test('what cannot be moved is refused before anything is done, and says why', async (context) => {
  const moving = await Moving.start(context)
  const to = (name: string) => ({ destination_aggregate: { name } })
  const refusals: readonly [status: number, target: string, body: unknown][] = [
    [422, 'movement.destination_aggregate', { movement: to('aggr1') }],
    [422, 'movement.destination_aggregate.name', { movement: to('none') }],
    [422, 'movement.destination_aggregate', { movement: to('aggr2'), comment: 'x' }],
    [422, 'movement.state', { movement: { ...to('aggr2'), state: 'cutover' } }],
    [422, 'movement.state', { movement: { state: 'aborted' } }],
    [422, 'movement.state', { movement: { state: 'success' } }],
    [422, 'movement.destination_aggregate', { movement: { cutover_window: 40 } }],
    [422, 'movement.cutover_window', { movement: { ...to('aggr2'), cutover_window: 1 } }],
    [422, 'movement.tiering_policy', { movement: { ...to('aggr2'), tiering_policy: 'all' } }],
  ]
  for (const [status, target, body] of refusals) {
    const answered = await moving.patch(body)
    assert.deepEqual([answered.status, answered.body['error']?.['target']], [status, target], JSON.stringify(body))
  }
  const svm = `/api/svm/svms/${await moving.test.uuidOf('/api/svm/svms', 'svm1')}`
  assert.equal((await moving.test.call('PATCH', svm, { aggregates: ['aggr1'] })).status, 200)
  assert.equal((await moving.move('aggr2')).body['error']?.['code'], codeOf('moveSvmWithoutAggregate'))
  assert.equal(await moving.state(), '')
})

test('with validate_only a move is checked, and not begun', async (context) => {
  const moving = await Moving.start(context)
  const movement = { destination_aggregate: { name: 'aggr2' } }
  assert.equal((await moving.patch({ movement }, '?validate_only=true')).status, 200)
  assert.equal(await moving.state(), '')
  assert.equal(await moving.trees('aggr2'), 0)
  const wrong = { movement: { destination_aggregate: { name: 'aggr1' } } }
  assert.equal((await moving.patch(wrong, '?validate_only=true')).status, 422)
})

test('a move waits before it switches when it is told to, and follows writers until it may', async (context) => {
  const moving = await Moving.start(context)
  const first = await moving.put('a')
  await moving.hold('aggr2')
  assert.equal(await moving.aggregate(), 'aggr1')
  const later = await moving.put('b')
  assert.equal((await moving.patch({ movement: { state: 'cutover' } })).status, 200)
  await moving.until('success')
  assert.equal(await moving.aggregate(), 'aggr2')
  assert.deepEqual(await moving.blobs('aggr2'), [first, later].toSorted())
})

test('a move can be halted, and goes on', async (context) => {
  const moving = await Moving.start(context)
  await moving.put('a')
  await moving.hold('aggr2')
  assert.equal((await moving.patch({ movement: { state: 'paused' } })).status, 200)
  await moving.until('paused')
  assert.equal((await moving.patch({ movement: { state: 'replicating' } })).status, 200)
  await moving.until('success')
  assert.equal(await moving.aggregate(), 'aggr2')
})

test('a move that is aborted leaves the volume as it was', async (context) => {
  const moving = await Moving.start(context)
  const blob = await moving.put('a')
  const before = await moving.row()
  await moving.hold('aggr2')
  assert.equal(await moving.trees('aggr2'), 1)
  assert.equal((await moving.patch({ movement: { state: 'aborted' } })).status, 200)
  await moving.until('aborted')
  assert.deepEqual(await moving.row(), before)
  assert.equal(await moving.trees('aggr2'), 0)
  assert.deepEqual(await moving.blobs('aggr1'), [blob])
  assert.equal((await moving.move('aggr2')).status, 200, 'and it can be moved later')
})

test('while a volume is moved, neither it nor the two aggregates are deleted, and it is moved nowhere else', async (context) => {
  const moving = await Moving.start(context)
  const { test } = moving
  await test.call('POST', VOLUMES, { name: 'v2', svm: 'svm1', size: '64m', aggregates: ['aggr1'] })
  const path = `${VOLUMES}/${await test.uuidOf(VOLUMES, 'v2')}`
  const movement = { destination_aggregate: { name: 'aggr2' }, state: 'cutover_wait' }
  assert.equal((await test.call('PATCH', `${path}?return_timeout=0`, { movement })).status, 202)
  await moving.until('cutover_pending', path)
  for (const [method, target, body] of [
    ['DELETE', path, undefined],
    ['DELETE', `${AGGREGATES}/${moving.aggregates.aggr2}`, undefined],
    ['PATCH', path, { movement }],
  ] as const) {
    assert.equal((await test.call(method, target, body)).status, 409, `${method} ${target}`)
  }
  // Everything else goes on.
  assert.equal((await test.call('PATCH', path, { size: '80m' })).status, 200)
  assert.equal((await test.call('POST', `${path}/snapshots`, { name: 's' })).status, 201)
  await test.call('PATCH', path, { movement: { state: 'cutover' } })
  await moving.until('success', path)
  assert.equal((await test.call('DELETE', `${path}?force=true`)).status, 200)
  assert.deepEqual(await moving.engines.aggr2.list(), [])
})

for (const [what, faults] of [
  ['full', { noSpace: 1 }],
  ['failing', { io: 1 }],
] as const) {
  test(`a move to a disk that is ${what} is undone, and says so`, async (context) => {
    const moving = await Moving.start(context)
    const blob = await moving.put('a')
    const before = await moving.row()
    moving.engines.aggr2.faults = faults
    const answered = await moving.move('aggr2')
    assert.ok(answered.status >= 400, JSON.stringify(answered.body))
    assert.match(asText(answered.body['error']?.['message']), /disk/)
    assert.equal(await moving.state(), 'failed')
    assert.deepEqual(await moving.row(), before)
    assert.equal(await moving.trees('aggr2'), 0)
    moving.engines.aggr2.faults = {}
    assert.equal((await moving.move('aggr2')).status, 200)
    assert.deepEqual(await moving.blobs('aggr2'), [blob])
  })
}

for (const [what, aggregate, method] of [
  ['it goes to', 'aggr2', 'write'],
  ['it is on', 'aggr1', 'open'],
] as const) {
  test(`a move is undone when the disk that ${what} goes away`, async (context) => {
    const moving = await Moving.start(context)
    const blob = await moving.put('a')
    const before = await moving.row()
    const engine = moving.engines[aggregate]
    const there = engine[method].bind(engine)
    Object.assign(engine, { [method]: () => Promise.reject(new VolumesFailure('away', 'The place is not there.')) })
    const answered = await moving.move('aggr2')
    assert.deepEqual([answered.status, await moving.state()], [503, 'failed'])
    assert.deepEqual(await moving.row(), before)
    assert.equal(await moving.trees('aggr2'), 0)
    Object.assign(engine, { [method]: there })
    assert.equal((await moving.move('aggr2')).status, 200)
    assert.deepEqual(await moving.blobs('aggr2'), [blob])
  })
}

test('a volume of which a blob is lost stays where it is', async (context) => {
  const moving = await Moving.start(context)
  const blob = await moving.put('a')
  await moving.engines.aggr1.unlink(moving.volume, blob)
  const { body } = await moving.move('aggr2')
  assert.match(asText(body['error']?.['message']), /cannot be read/)
  assert.equal(await moving.aggregate(), 'aggr1')
  assert.equal(await moving.trees('aggr2'), 0)
})

test('what is written just before the switch is copied after it, however long the disk is in the way', async (context) => {
  const moving = await Moving.start(context)
  await moving.put('a')
  const { catalog } = moving.test.cluster
  const commit = catalog.commit.bind(catalog)
  let late: string | undefined
  catalog.commit = async (changes) => {
    if (late === undefined && changes.some((change) => change.do === 'move-volume')) {
      late = 'under way'
      late = await moving.put('late')
      moving.engines.aggr2.faults = { noSpace: 1 }
    }
    return commit(changes)
  }
  const path = `${moving.path}?return_timeout=0`
  await moving.test.call('PATCH', path, { 'movement.destination_aggregate.name': 'aggr2' })
  await moving.until('cutover')
  assert.equal(await moving.aggregate(), 'aggr2')
  assert.deepEqual([await moving.trees('aggr1'), await moving.trees('aggr2')], [1, 1], 'the old tree has it still')
  assert.equal((await moving.patch({ movement: { state: 'aborted' } })).status, 409)
  moving.engines.aggr2.faults = {}
  await moving.until('success')
  assert.ok((await moving.blobs('aggr2')).includes(late ?? ''))
  assert.equal(await moving.trees('aggr1'), 0)
})

test('a write that began where the volume was is waited for', async (context) => {
  const moving = await Moving.start(context)
  await moving.put('a')
  const asked: string[] = []
  let isWriting = true
  Object.assign(moving.test.cluster, {
    leaveTree: (_volume: string, tree: string) => {
      asked.push(tree)
      return Promise.resolve(isWriting)
    },
  })
  const path = `${moving.path}?return_timeout=0`
  await moving.test.call('PATCH', path, { 'movement.destination_aggregate.name': 'aggr2' })
  while (asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 5))
  assert.equal(await moving.state(), 'cutover')
  assert.equal(await moving.trees('aggr1'), 1)
  isWriting = false
  await moving.until('success')
  assert.deepEqual(new Set(asked), new Set([moving.volume]))
  assert.equal(await moving.trees('aggr1'), 0)
})

test('what becomes unneeded during a move goes from both places', async (context) => {
  const moving = await Moving.start(context)
  const housekeeping = new Housekeeping(moving.test.cluster, moving.test.jobs)
  const kept = await moving.put('kept')
  await moving.put('gone')
  await moving.hold('aggr2')
  await moving.remove('gone')
  await housekeeping.round()
  assert.deepEqual([await moving.blobs('aggr1'), await moving.blobs('aggr2')], [[kept], [kept]])
  // As a copy does that was under way while its blob went.
  const next = nextOf(await moving.row())
  const writer = await moving.engines.aggr2.write(next?.tree ?? '', '0'.repeat(32))
  await writer.commit(Buffer.alloc(0))
  await moving.patch({ movement: { state: 'cutover' } })
  await moving.until('success')
  assert.deepEqual(await moving.blobs('aggr2'), [kept])
})

test('the promise of a guarantee goes with the volume: at no moment is it given twice, or not at all', async (context) => {
  const moving = await Moving.start(context)
  const size = 2 ** 30
  assert.equal((await moving.patch({ size, guarantee: { type: 'volume' } })).status, 200)
  const used = 5_000_000
  await moving.put('a', used)
  const both = async () => [await moving.available('aggr1'), await moving.available('aggr2')] as const
  const [old1, old2] = await both()
  await moving.hold('aggr2')
  assert.deepEqual(await both(), [old1, old2 - size], 'promised in both as long as it is in both')
  await moving.patch({ movement: { state: 'cutover' } })
  await moving.until('success')
  assert.deepEqual(await both(), [old1 + size, old2 - size])
})

test('between aggregates on one disk only what is copied is promised twice', async (context) => {
  const moving = await Moving.start(context)
  const used = 5_000_000
  assert.equal((await moving.patch({ size: 2 ** 30, guarantee: { type: 'volume' } })).status, 200)
  assert.equal((await moving.move('aggr2')).status, 200)
  const body = { name: 'aggr3', block_storage: { path: '/disk2/b' } }
  assert.equal((await moving.test.call('POST', AGGREGATES, body)).status, 201)
  await moving.put('a', used)
  const free = await moving.available('aggr2')
  await moving.hold('aggr3')
  // The simulated aggregates of a disk count the bytes that they hold each for itself.
  assert.deepEqual([await moving.available('aggr2'), await moving.available('aggr3')], [free, free])
  await moving.patch({ movement: { state: 'cutover' } })
  await moving.until('success')
  assert.equal(await moving.available('aggr3'), free)
})

test('a volume is not moved to an aggregate without room for it, and others are not promised what it needs', async (context) => {
  const moving = await Moving.start(context)
  const size = 2 ** 30
  assert.equal((await moving.patch({ size, guarantee: { type: 'volume' } })).status, 200)
  const free = await moving.available('aggr2')
  // Volumes have at most 300 TiB.
  let left = free - size + 1
  for (let n = 0; left > 0; n++) {
    const part = Math.min(left, 300 * 2 ** 40)
    const body = { name: `filler${n}`, svm: 'svm1', size: Math.max(part, 2 ** 20), aggregates: ['aggr2'] }
    assert.equal((await moving.test.call('POST', VOLUMES, body)).status, 201)
    left -= part
  }
  const refused = await moving.move('aggr2')
  assert.deepEqual([refused.status, refused.body['error']?.['code']], [422, codeOf('moveAggregateTooSmall')])
  const filler = `${VOLUMES}/${await moving.test.uuidOf(VOLUMES, 'filler0')}`
  await moving.test.call('DELETE', filler)
  await moving.hold('aggr2')
  const spare = await moving.available('aggr2')
  const greedy = { name: 'greedy', svm: 'svm1', size: spare + 2 ** 20, aggregates: ['aggr2'] }
  assert.equal((await moving.test.call('POST', VOLUMES, greedy)).status, 422)
  await moving.patch({ movement: { state: 'cutover' } })
  await moving.until('success')
})

test('volumes that share a tree move apart, each with what it needs, and the last one takes the tree along', async (context) => {
  const moving = await Moving.start(context)
  const { cluster } = moving.test
  const housekeeping = new Housekeeping(cluster, moving.test.jobs)
  const shared = await moving.put('shared')
  const parents = await moving.put('parents')
  await cluster.commit([{ do: 'take-snapshot', volume: moving.volume, snapshot: 'snap', nowMs: 1 }])
  const clone = 'c0000000-0000-4000-8000-000000000000'
  const row = await moving.row()
  await cluster.commit([
    { do: 'open-volume', volume: clone, sizeBytes: 2 ** 30, tree: moving.volume },
    cluster.put('storage/volumes', { ...row, uuid: clone, name: 'clone', $tree: moving.volume }, { expect: 'absent' }),
    { do: 'open-bucket', bucket: 'c', volume: clone, limitBytes: 1e9 },
    { do: 'clone-rows', bucket: 'c', from: 'b', snapshot: 'snap', limit: 10 },
    { do: 'delete-object', bucket: 'c', key: Buffer.from('parents') },
    { do: 'drop-snapshot', volume: moving.volume, snapshot: 'snap' },
  ])
  assert.equal((await moving.move('aggr2')).status, 200)
  assert.deepEqual(await moving.blobs('aggr2'), [shared, parents].toSorted())
  assert.deepEqual(await moving.blobs('aggr1'), [shared], 'what only the parent needed is gone')
  await moving.remove('shared')
  await housekeeping.round()
  assert.deepEqual([await moving.blobs('aggr1'), await moving.blobs('aggr2')], [[shared], [parents]])
  const path = `${VOLUMES}/${clone}`
  const moved = await moving.test.call('PATCH', path, { 'movement.destination_aggregate.name': 'aggr2' })
  assert.equal(moved.status, 200, JSON.stringify(moved.body))
  assert.deepEqual(await moving.blobs('aggr2'), [shared, parents].toSorted())
  assert.equal(await moving.trees('aggr1'), 0)
  assert.equal((await cluster.catalog.volume(clone))?.inheritedBytes, 0)
  await cluster.commit([{ do: 'close-volume', volume: clone, withBuckets: true }])
  assert.equal(textAt(await cluster.row('storage/volumes', clone), 'name'), 'clone')
})
