import assert from 'node:assert/strict'
import { test } from 'node:test'
import { faultyCatalog } from '../../engines/simulated/faulty-catalog.ts'
import { SimulatedRandom } from '../../engines/simulated/random.ts'
import { openSqliteCatalog } from '../../engines/sqlite/catalog.ts'
import type { Catalog } from '../../ports/catalog.ts'
import { figuresOf } from './figures.ts'
import { INTERVALS, type Interval, SAMPLE_SECONDS } from './intervals.ts'
import { Metrics } from './metrics.ts'

type Name = (typeof INTERVALS)[number]['name']

const STEP = SAMPLE_SECONDS * 1000
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** A midnight UTC that is also where a block of thirty days begins. */
const MIDNIGHT = 680 * 30 * DAY

/** A catalog that operations are counted in, and what samples it. */
class Bed {
  readonly catalog: Catalog
  metrics: Metrics
  nowMs: number

  constructor(nowMs = MIDNIGHT, catalog: Catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })) {
    this.catalog = catalog
    this.metrics = new Metrics(catalog)
    this.nowMs = nowMs
  }

  /** As the process does when it starts again: only what is committed is left. */
  restart(): void {
    this.metrics = new Metrics(this.catalog)
  }

  /** Reads and the bytes of them, on a volume and so on its server. */
  async read(volume: string, ops: number): Promise<void> {
    const add = { read_ops: ops, read_latency: ops * 700, total_ops: ops, bytes_read: ops * 1000 }
    await this.catalog.commit([
      { do: 'count', table: 'volume', row: volume, add },
      { do: 'count', table: 'object_store_server', row: 'svm', add },
    ])
  }

  async look(afterMs = STEP): Promise<void> {
    this.nowMs += afterMs
    await this.metrics.sample(this.nowMs)
    await this.metrics.history.keep(this.nowMs)
  }

  async rows(row: string, name: Name): Promise<Readonly<Record<string, unknown>>[]> {
    const interval: Interval = INTERVALS.find((each) => each.name === name) ?? INTERVALS[0]
    const measured = await this.metrics.history.read(row, interval, this.nowMs)
    return measured.map((one) => Object.assign({ ops: one.growth[0] }, figuresOf(one, interval.step)))
  }

  async ops(row: string, name: Name = '1h') {
    return (await this.rows(row, name)).map(({ ops }) => ops)
  }
}

/** Its commits fail when they may not go on. */
function failingAfter(catalog: Catalog, mayGoOn: () => boolean): Catalog {
  return new Proxy(catalog, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return async (...args: unknown[]): Promise<unknown> => {
        if (name === 'commit' && !mayGoOn()) throw new Error('The writer is gone.')
        return (await member.apply(target, args)) as unknown
      }
    },
  })
}

/** Tells how many rows each read or commit is about. A read of counters as a whole is of too many. */
function watched(catalog: Catalog, tell: (rows: number) => void): Catalog {
  return new Proxy(catalog, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      return async (...args: unknown[]): Promise<unknown> => {
        if (name === 'commit') tell((args[0] as unknown[]).length)
        const answer: unknown = await member.apply(target, args)
        if (name === 'counters') tell(args[1] === undefined ? Infinity : (answer as Map<string, unknown>).size)
        if (name === 'samples') tell((answer as unknown[]).length)
        return answer
      }
    },
  })
}

test('each quarter of a minute is a sample, of a volume, its server and the cluster; who did nothing has zeros', async () => {
  const bed = new Bed()
  await bed.look(0)
  for (const ops of [30, 0, 45]) {
    await bed.read('a', ops)
    await bed.look()
  }
  for (const row of ['a', 'svm', 'cluster']) assert.deepEqual(await bed.ops(row), [30, 0, 45])
  assert.deepEqual(await bed.ops('b'), [0, 0, 0])
  const rows = await bed.rows('a', '1h')
  assert.deepEqual(rows[0], {
    timestamp: MIDNIGHT + STEP,
    duration: 15,
    status: 'ok',
    'iops.read': 2,
    'iops.write': 0,
    'iops.other': 0,
    'iops.total': 2,
    'latency.read': 700,
    'latency.write': 0,
    'latency.other': 0,
    'latency.total': 700,
    'throughput.read': 2000,
    'throughput.write': 0,
    'throughput.other': 0,
    'throughput.total': 2000,
    ops: 30,
  })
})

test('many rows are sampled and kept a few at a time, each with its own figures', async () => {
  const plain = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  let most = 0
  const bed = new Bed(
    MIDNIGHT,
    watched(plain, (rows) => (most = Math.max(most, rows))),
  )
  await bed.look(0)
  const names = Array.from({ length: 250 }, (_, at) => `v${String(at).padStart(3, '0')}`)
  for (const [at, name] of names.entries()) await bed.read(name, at + 1)
  await bed.look()
  for (let at = 0; at < 20; at++) await bed.look()
  for (const [at, name] of names.entries()) {
    assert.equal((await bed.ops(name))[0], at + 1)
    assert.deepEqual(await bed.ops(name, '1d'), [at + 1])
  }
  assert.equal((await bed.ops('cluster'))[0], (250 * 251) / 2)
  assert.ok(most <= 51, `${most} at once`)
})

test('what was saved is there after a restart, and the block goes on', async () => {
  const bed = new Bed()
  await bed.look(0)
  for (let at = 1; at <= 6; at++) {
    await bed.read('a', at)
    await bed.look()
  }
  await bed.metrics.history.save()
  bed.restart()
  assert.deepEqual(await bed.ops('a'), [1, 2, 3, 4, 5, 6])
  await bed.look(4000)
  await bed.read('a', 7)
  await bed.look(STEP - 4000)
  const rows = await bed.rows('a', '1h')
  assert.deepEqual(
    rows.map(({ ops, status }) => [ops, status]),
    [...[1, 2, 3, 4, 5, 6].map((ops) => [ops, 'ok']), [7, 'partial_no_data']],
  )
  await bed.metrics.history.save()
  bed.restart()
  assert.deepEqual(await bed.ops('a'), [1, 2, 3, 4, 5, 6, 7])
})

test('a crash takes at most a minute, and what it kept from being rolled up is rolled up later', async () => {
  const bed = new Bed()
  await bed.look(0)
  for (let at = 0; at < 19; at++) {
    await bed.read('a', 10)
    await bed.look()
  }
  bed.restart()
  assert.deepEqual(
    await bed.ops('a'),
    Array.from({ length: 16 }, () => 10),
  )
  bed.nowMs += 2 * HOUR
  for (let at = 0; at < 10; at++) await bed.look()
  const [row] = await bed.rows('a', '1d')
  assert.deepEqual([row?.ops, row?.timestamp, row?.status], [160, MIDNIGHT + 300_000, 'partial_no_data'])
})

test('a save that is cut short leaves no half of a sample, in no interval', async () => {
  const plain = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  let left = Infinity
  const bed = new Bed(
    MIDNIGHT,
    failingAfter(plain, () => left-- > 0),
  )
  await bed.look(0)
  const names = Array.from({ length: 120 }, (_, at) => `v${String(at).padStart(3, '0')}`)
  const work = async () => {
    for (const name of names) await bed.read(name, 1)
  }
  for (let at = 0; at < 4; at++) {
    await work()
    await bed.look()
  }
  for (let at = 0; at < 4; at++) {
    await work()
    left = at < 3 ? Infinity : 1
    await (at < 3 ? bed.look() : assert.rejects(bed.look()))
  }
  left = Infinity
  bed.restart()
  assert.deepEqual(await bed.ops('v000'), [1, 1, 1, 1])
  for (let at = 0; at < 13; at++) await bed.look()
  const rows = await Promise.all(['v000', 'v119', 'cluster'].map((row) => bed.ops(row, '1d')))
  assert.deepEqual(rows, [[4], [4], [480]])
})

test('while the writer cannot be reached samples wait, and none is lost', async () => {
  const faults = { failBefore: 0 }
  const plain = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const bed = new Bed(MIDNIGHT, faultyCatalog(plain, { random: new SimulatedRandom(1), faults }))
  await bed.look(0)
  for (let at = 0; at < 60; at++) {
    faults.failBefore = 0
    await bed.read('a', 1)
    faults.failBefore = at < 50 ? 1 : 0
    const isDue = at < 50 && at >= 3
    if (isDue) await assert.rejects(bed.look())
    else await bed.look()
  }
  bed.restart()
  assert.deepEqual(
    await bed.ops('a'),
    Array.from({ length: 60 }, () => 1),
  )
  assert.deepEqual(await bed.ops('a', '1d'), [20, 20, 20])
})

test('a day is rolled up from what was before it, and what is too old is gone', async () => {
  const bed = new Bed()
  await bed.look(0)
  let counted = 0
  for (let minute = 0; minute < 26 * 60; minute++) {
    if (minute % 7 === 0) await bed.read('a', 1)
    if (minute % 7 === 0 && minute < 24 * 60) counted++
    for (let at = 0; at < 4; at++) await bed.look()
  }
  const rowsOf = async (name: Name) => {
    const rows = await bed.rows('a', name)
    assert.ok(
      rows.every(({ status }) => status === 'ok'),
      name,
    )
    return { count: rows.length, first: rows[0]?.timestamp, last: rows.at(-1)?.timestamp, duration: rows[0]?.duration }
  }
  const end = MIDNIGHT + 26 * HOUR
  assert.deepEqual(await rowsOf('1h'), { count: 240, first: end - HOUR + STEP, last: end, duration: 15 })
  assert.deepEqual(await rowsOf('1d'), { count: 288, first: end - DAY + 300_000, last: end, duration: 300 })
  assert.deepEqual(await rowsOf('1w'), { count: 52, first: MIDNIGHT + HOUR / 2, last: end, duration: 1800 })
  assert.deepEqual(await rowsOf('1m'), { count: 13, first: MIDNIGHT + 2 * HOUR, last: end, duration: 7200 })
  assert.deepEqual(await rowsOf('1y'), { count: 1, first: MIDNIGHT + DAY, last: MIDNIGHT + DAY, duration: 86_400 })
  assert.deepEqual(await bed.ops('a', '1y'), [counted])
  for (const { step, block, kept } of INTERVALS) {
    const oldest = Math.floor((end - kept * 1000) / (block * 1000))
    assert.equal(await bed.catalog.lastSamples(step, oldest), undefined, `steps of ${step} seconds before ${oldest}`)
  }
})

test('the status tells of a sample that came late, and of what was not measured', async () => {
  const bed = new Bed()
  await bed.look(0)
  await bed.look()
  await bed.read('a', 60)
  await bed.look(3 * STEP)
  await bed.look()
  const rows = await bed.rows('a', '1h')
  assert.deepEqual(
    rows.map((row) => [(Number(row.timestamp) - MIDNIGHT) / STEP, row.status, row['iops.read']]),
    [
      [1, 'ok', 0],
      [4, 'inconsistent_delta_time', 1],
      [5, 'ok', 0],
    ],
  )
  for (let at = 0; at < 8; at++) await bed.look()
  await bed.look(10 * 60_000)
  for (let at = 0; at < 4; at++) await bed.look()
  const [first] = await bed.rows('a', '1d')
  assert.deepEqual([first?.status, first?.ops], ['partial_no_data', 60])
})

test('after a gap, or when the clock was set back, counting begins anew', async () => {
  const bed = new Bed()
  await bed.look(0)
  await bed.look()
  await bed.read('a', 60)
  await bed.look(HOUR / 2)
  assert.equal(bed.metrics.last('a'), undefined)
  await bed.look()
  assert.deepEqual(await bed.ops('a'), [0, 0])
  await bed.read('a', 5)
  await bed.look(-60_000)
  assert.equal(bed.metrics.last('a'), undefined)
  await bed.read('a', 3)
  await bed.look()
  assert.deepEqual((await bed.ops('a')).at(-1), 3)
})
