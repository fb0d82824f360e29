/** Jobs at their bounds: very many at once, those that nobody runs, and bodies of thousands of records. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { until } from '../../../test/support/until.ts'
import { partial } from '../../../test/support/partial.ts'
import { Failure } from '../../model/failure.ts'
import { text, uuid } from '../../model/kinds/index.ts'
import { resource, type TypeName } from '../../model/resource.ts'
import { type Row, textAt } from '../../model/value.ts'
import { CatalogUnavailable } from '../../ports/catalog.ts'
import { define, type Behaviour } from '../behaviour.ts'
import { BULK_PENDING_MAX, type BulkOrder } from './bulk.ts'
import { outcomesOf } from './bulk-outcomes.ts'
import { failure } from '../../model/failure.ts'
import { ACTIVE_MAX, isActive, Jobs, JOBS } from './jobs.ts'
import { LOCK_CLAIMS } from './lock-claims.ts'
import { PLACES } from './places.ts'
import { job, type Step } from '../verb.ts'

const MACHINES = 'test/machines'
const CALLER = { user: 'admin', role: 'admin', from: 'test' }

/** A resource whose records are made by a job of one step, which may do something more. */
function machine(run: () => Promise<void> = () => Promise.resolve(), locks: readonly string[] = []): Behaviour {
  const step: Step = {
    name: 'write record',
    async run(cluster, { key, input }) {
      await run()
      await cluster.commit([cluster.put(MACHINES, { ...input, uuid: key })])
    },
    undo: (cluster, { key }) => cluster.commit([{ do: 'remove-record', type: MACHINES, key }]).then(() => undefined),
  }
  const plan = (
    cluster: { readonly system: { readonly random: { uuid(): string } } },
    { draft = {} }: { draft?: Row },
  ) => {
    if (draft['name'] === 'wrong')
      return Promise.reject(new Failure('invalid', 262186, 'It is wrong.', { target: 'name' }))
    return Promise.resolve({ key: cluster.system.random.uuid(), input: { ...draft }, locks })
  }
  return define(
    resource({
      path: `/${MACHINES}`,
      noun: 'machine',
      doc: 'x',
      key: ['uuid'],
      nameWithin: false,
      fields: { uuid: { doc: 'x', kind: uuid() }, name: { doc: 'x', kind: text(), set: 'create' } },
    }),
    {
      create: job({ plan, steps: [step] }),
      remove: job({
        plan: (_cluster, { row }) => Promise.resolve({ key: textAt(row, 'uuid'), input: {} }),
        steps: [
          {
            name: 'remove record',
            run: (cluster, { key }) =>
              cluster.commit([{ do: 'remove-record', type: MACHINES, key }]).then(() => undefined),
          },
        ],
      }),
    },
  )
}

const start = (behaviour: Behaviour, more: Partial<Parameters<typeof startTestCluster>[0]> = {}) =>
  startTestCluster({ isBare: true, extra: [behaviour], ...more })

async function submit(cluster: TestCluster, behaviour: Behaviour, draft: Row = {}): Promise<string> {
  const call = { caller: CALLER, draft, path: {}, args: {}, description: 'POST /api/test/machines' }
  return textAt((await cluster.actions.perform(behaviour, 'create', call)).job, 'uuid')
}

function listed(behaviour: Behaviour, count: number, more: Partial<BulkOrder> = {}): BulkOrder {
  return {
    behaviour,
    verb: 'create',
    records: Array.from({ length: count }, (_, at) => ({ draft: { name: `m${at}` }, instance: [], description: 'x' })),
    path: {},
    args: {},
    caller: CALLER,
    description: 'POST /api/test/machines',
    continueOnFailure: false,
    isSerial: false,
    insistOn: () => Promise.resolve(),
    ...more,
  }
}

async function activeIn({ cluster }: TestCluster): Promise<readonly Row[]> {
  return (await cluster.rows(JOBS)).filter(isActive)
}

test('hundreds of jobs for one lock all run, those of an earlier process too', async () => {
  const held = Promise.withResolvers<void>()
  const behaviour = machine(() => held.promise, ['thing:1'])
  const cluster = await start(behaviour)
  const uuids: string[] = []
  for (let n = 0; n < 400; n++) uuids.push(await submit(cluster, behaviour))
  // The first process ends: what waits does not begin, and what has begun never gets any further.
  await cluster.jobs.drain(0)
  assert.equal((await activeIn(cluster)).length, 400)
  const quick = machine(undefined, ['thing:1'])
  const next = await start(quick, { catalog: cluster.cluster.catalog, isUsed: true })
  assert.equal(await next.jobs.resume(), 400)
  assert.equal(await next.jobs.resume(), 0, 'a job is taken up once')
  for (const each of uuids) assert.equal((await next.jobs.wait(each, 60_000))['state'], 'success')
  assert.deepEqual(await activeIn(next), [])
  assert.equal((await next.cluster.rows(MACHINES)).length, 400)
  await next.close()
})

test('a job that has begun goes on before those that wait for its lock, whatever their times say', async () => {
  const held = Promise.withResolvers<void>()
  const cluster = await start(machine(() => held.promise, ['thing:1']))
  const uuids = [await submit(cluster, machine(undefined, ['thing:1']))]
  await until('the job holds its lock', async () => (await cluster.cluster.rows(LOCK_CLAIMS)).length === 1)
  cluster.clock.aheadMs = -60_000
  for (let n = 0; n < 9; n++) uuids.push(await submit(cluster, machine(undefined, ['thing:1'])))
  await cluster.jobs.drain(0)
  const next = await start(machine(undefined, ['thing:1']), { catalog: cluster.cluster.catalog, isUsed: true })
  assert.equal(await next.jobs.resume(), 10)
  for (const each of uuids) assert.equal((await next.jobs.wait(each, 20_000))['state'], 'success')
  await next.close()
})

test('a job that waits for the claim of another lets that one have its lock in this process', async () => {
  const held = Promise.withResolvers<void>()
  const behaviour = machine(() => held.promise, ['thing:1'])
  const cluster = await start(behaviour)
  const first = await submit(cluster, behaviour)
  await until('the job holds its lock', async () => (await cluster.cluster.rows(LOCK_CLAIMS)).length === 1)
  await cluster.jobs.drain(0)
  const quick = machine(undefined, ['thing:1'])
  const next = await start(quick, { catalog: cluster.cluster.catalog, isUsed: true })
  // Before the job of the earlier process is taken up, one of this process has the lock here.
  const second = await submit(next, quick)
  await until('it waits', () => next.cluster.locks.isHeld('thing:1'))
  assert.equal(await next.jobs.resume(), 1)
  for (const each of [first, second]) assert.equal((await next.jobs.wait(each, 20_000))['state'], 'success')
  await next.close()
})

test('jobs beyond the bound are refused before they have a record, and accepted when some have ended', async () => {
  const held = Promise.withResolvers<void>()
  let inside = 0
  const behaviour = machine(() => {
    inside++
    return held.promise
  })
  const cluster = await start(behaviour)
  const uuids = await Promise.all(Array.from({ length: ACTIVE_MAX }, () => submit(cluster, behaviour)))
  const isLimited = (failure: unknown) =>
    failure instanceof Failure && failure.kind === 'limited' && failure.retryAfterSeconds === 5
  await assert.rejects(submit(cluster, behaviour), isLimited)
  await assert.rejects(cluster.actions.bulk.submit(listed(behaviour, 1)), isLimited)
  await assert.rejects(
    submit(cluster, behaviour, { name: 'wrong' }),
    (failure) => failure instanceof Failure && failure.kind === 'invalid',
    'a request that is wrong is told so',
  )
  assert.equal((await cluster.cluster.rows(JOBS)).length, ACTIVE_MAX)
  assert.ok(inside <= PLACES, `${inside} jobs were taken up at once`)
  held.resolve()
  for (const each of uuids) assert.equal((await cluster.jobs.wait(each, 60_000))['state'], 'success')
  assert.equal((await cluster.jobs.wait(await submit(cluster, behaviour), 60_000))['state'], 'success')
  await cluster.close()
})

test('a body of many records makes progress while no other job is accepted', async () => {
  const held = Promise.withResolvers<void>()
  const slow = machine(() => held.promise, ['thing:1'])
  const quick = { ...machine(), resource: { ...machine().resource, type: 'test/quick' as TypeName } }
  const cluster = await startTestCluster({ isBare: true, extra: [slow, quick] })
  // All but one wait for one lock, so they take no places.
  await Promise.all(Array.from({ length: ACTIVE_MAX - 1 }, () => submit(cluster, slow)))
  const bulk = await cluster.actions.bulk.submit(listed(quick, 100))
  await assert.rejects(submit(cluster, slow), (failure) => failure instanceof Failure && failure.kind === 'limited')
  assert.equal((await cluster.jobs.wait(textAt(bulk, 'uuid'), 60_000))['state'], 'success')
  held.resolve()
  await cluster.jobs.drain(0)
  await cluster.cluster.catalog.close()
})

test('records of bodies that wait are bounded, and a refused body leaves no job', async () => {
  const held = Promise.withResolvers<void>()
  const behaviour = machine(() => held.promise)
  const cluster = await start(behaviour)
  for (let n = 0; n < BULK_PENDING_MAX / 5000; n++) await cluster.actions.bulk.submit(listed(behaviour, 5000))
  await assert.rejects(
    cluster.actions.bulk.submit(listed(behaviour, 1)),
    (failure) => failure instanceof Failure && failure.kind === 'limited' && failure.retryAfterSeconds === 10,
  )
  const bulks = (await cluster.cluster.rows(JOBS)).filter((row) => textAt(row, '$verb') === 'bulk create')
  assert.equal(bulks.length, BULK_PENDING_MAX / 5000)
  held.resolve()
  await cluster.jobs.drain(0)
  await cluster.cluster.catalog.close()
})

test('what a body of many records writes grows with their number alone', async () => {
  const behaviour = machine()
  const cluster = await start(behaviour)
  const { catalog } = cluster.cluster
  const commit = catalog.commit.bind(catalog)
  let bytes = 0
  catalog.commit = (changes) => {
    bytes += JSON.stringify(changes).length
    return commit(changes)
  }
  const bytesOf = async (count: number) => {
    bytes = 0
    const bulk = await cluster.actions.bulk.submit(listed(behaviour, count))
    assert.equal((await cluster.jobs.wait(textAt(bulk, 'uuid'), 120_000))['state'], 'success')
    assert.equal((await outcomesOf(cluster.cluster, textAt(bulk, '$key'))).size, count)
    return bytes
  }
  const few = await bytesOf(100)
  const many = await bytesOf(400)
  assert.ok(many / few < 4.4, `100 records write ${few} bytes, 400 write ${many}`)
  // What is kept of them goes with the job.
  cluster.clock.aheadMs = 48 * 3600 * 1000
  await cluster.jobs.prune()
  assert.equal((await catalog.records('internal/bulk-outcomes')).length, 0)
  await cluster.close()
})

test('a wait for a job that this process does not run looks now and then, and sees its end', async () => {
  const behaviour = machine()
  const cluster = await start(behaviour)
  const { catalog } = cluster.cluster
  const row: Row = {
    uuid: cluster.cluster.system.random.uuid(),
    name: 'x',
    state: 'running',
    start_time: 0,
    $type: MACHINES,
    $verb: 'create',
  }
  await cluster.cluster.commit([cluster.cluster.put(partial(JOBS), row)])
  const record = catalog.record.bind(catalog)
  let looks = 0
  catalog.record = (type, key) => {
    if (type === JOBS) looks++
    return record(type, key)
  }
  assert.equal((await cluster.jobs.wait(textAt(row, 'uuid'), 1100))['state'], 'running')
  assert.ok(looks <= 5, `${looks} looks`)
  const waiting = cluster.jobs.wait(textAt(row, 'uuid'), 60_000)
  await cluster.cluster.commit([cluster.cluster.put(partial(JOBS), { ...row, state: 'success', end_time: 1 })])
  assert.equal((await waiting)['state'], 'success')
  await cluster.close()
})

test('a job of a kind that is not known any more fails and says so, and stops neither the start nor the others', async () => {
  const behaviour = machine()
  const cluster = await start(behaviour)
  const left = (type: string): Row => ({
    uuid: cluster.cluster.system.random.uuid(),
    name: 'x',
    state: 'running',
    start_time: 0,
    description: 'x',
    $type: type,
    $verb: 'create',
    $key: cluster.cluster.system.random.uuid(),
    $input: {},
    $memo: {},
    $locks: [],
    $at: 0,
    $direction: 'forward',
    $user: 'x',
    $from: 'x',
  })
  const [gone, known] = [left('gone/things'), left(MACHINES)]
  await cluster.cluster.commit([gone, known].map((row) => cluster.cluster.put(partial(JOBS), row)))
  const jobs = new Jobs(cluster.cluster)
  assert.equal(await jobs.resume(), 2)
  assert.equal((await jobs.wait(textAt(known, 'uuid'), 60_000))['state'], 'success')
  const ended = await jobs.wait(textAt(gone, 'uuid'), 60_000)
  assert.deepEqual([ended['state'], ended['message']], ['failure', failure('jobVerbUnknown').message])
  assert.equal(await jobs.resume(), 0)
  await cluster.close()
})

test('a job that could not go on is taken up again by the same process', async () => {
  let isAway = true
  const behaviour = machine(() => (isAway ? Promise.reject(new CatalogUnavailable('away')) : Promise.resolve()))
  const cluster = await start(behaviour)
  const sleep = cluster.clock.sleep.bind(cluster.clock)
  cluster.clock.sleep = () => new Promise((resolve) => void setImmediate(resolve))
  const left = await submit(cluster, behaviour)
  while (cluster.jobs.activeCount > 0) await new Promise(setImmediate)
  assert.equal((await cluster.cluster.row(JOBS, left))['state'], 'running')
  cluster.clock.sleep = sleep
  isAway = false
  assert.equal(await cluster.jobs.resume(), 1)
  assert.equal((await cluster.jobs.wait(left, 60_000))['state'], 'success')
  await cluster.close()
})
