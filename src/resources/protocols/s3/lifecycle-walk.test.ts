/** What meets a run: clients, administrators, failures and the end of the process. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DAY,
  hide,
  HOUR,
  startLifecycleCluster,
  write,
  type LifecycleCluster,
} from '../../../../test/support/lifecycle.ts'
import { until } from '../../../../test/support/until.ts'
import { isActive, Jobs, JOBS } from '../../../core/jobs/jobs.ts'
import { textAt } from '../../../model/value.ts'
import { CatalogUnavailable, type Change } from '../../../ports/catalog.ts'
import { PAGE_ROWS } from './lifecycle-walk.ts'
import { BUCKETS, LIFECYCLE_RUNS } from './types.ts'

const OLD = Date.parse('2026-01-15T10:30:00Z')
const NOW = Date.parse('2026-02-01T12:00:00Z')
const oneDay = '<Filter/><Expiration><Days>1</Days></Expiration>'
const hiddenGo =
  '<Filter/><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays></NoncurrentVersionExpiration>'
const markersGo = '<Filter/><Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>'

async function opened(act: (open: LifecycleCluster) => Promise<void>): Promise<void> {
  const open = await startLifecycleCluster(NOW)
  try {
    await act(open)
  } finally {
    await open.close()
  }
}

/** Does something once, after a page was read and before what is to go of it is committed. */
function betweenLookAndCommit({ cluster: { catalog } }: LifecycleCluster, act: () => Promise<unknown>): void {
  const scan = catalog.scan.bind(catalog)
  catalog.scan = async (...query) => {
    const page = await scan(...query)
    catalog.scan = scan
    await act()
    return page
  }
}

interface Race {
  readonly name: string
  readonly versioning?: 'enabled' | 'suspended'
  readonly rule: string
  readonly before: (bucket: string) => readonly Change[]
  readonly meanwhile: (bucket: string) => readonly Change[]
  readonly rows: readonly string[]
  readonly kept: number
}

const drop = (bucket: string, key: string, version: string): Change => ({
  do: 'delete-object',
  bucket,
  key: Buffer.from(key),
  version,
})

const races: readonly Race[] = [
  {
    name: 'an object that is replaced',
    rule: oneDay,
    before: (bucket) => [write(bucket, 'k', { modifiedMs: OLD }), write(bucket, 'l', { modifiedMs: OLD })],
    meanwhile: (bucket) => [write(bucket, 'k', { modifiedMs: NOW })],
    rows: ['k@null*'],
    kept: 1,
  },
  {
    name: 'an object that is replaced by other bytes of the same second',
    rule: oneDay,
    before: (bucket) => [write(bucket, 'k', { modifiedMs: OLD })],
    meanwhile: (bucket) => [write(bucket, 'k', { modifiedMs: OLD, etag: 'other' })],
    rows: ['k@null*'],
    kept: 1,
  },
  {
    name: 'an object that gets a newer version',
    versioning: 'enabled',
    rule: oneDay,
    before: (bucket) => [write(bucket, 'k', { version: 'v1', modifiedMs: OLD })],
    meanwhile: (bucket) => [write(bucket, 'k', { version: 'v2', modifiedMs: NOW })],
    rows: ['k@v2*', 'k@v1'],
    kept: 1,
  },
  {
    name: 'a version that is current again, because its marker was removed',
    versioning: 'enabled',
    rule: hiddenGo,
    before: (bucket) => [write(bucket, 'k', { version: 'v1', modifiedMs: OLD }), hide(bucket, 'k', 'm1', OLD)],
    meanwhile: (bucket) => [drop(bucket, 'k', 'm1')],
    rows: ['k@v1*'],
    kept: 1,
  },
  {
    name: 'the version null that is another row by now',
    versioning: 'suspended',
    rule: hiddenGo,
    before: (bucket) => [
      { do: 'version-bucket', bucket, state: 'suspended' },
      write(bucket, 'k', { modifiedMs: OLD }),
      { do: 'version-bucket', bucket, state: 'enabled' },
      write(bucket, 'k', { version: 'v1', modifiedMs: OLD }),
      { do: 'version-bucket', bucket, state: 'suspended' },
    ],
    meanwhile: (bucket) => [write(bucket, 'k', { modifiedMs: NOW })],
    rows: ['k@null*', 'k@v1'],
    kept: 1,
  },
  {
    name: 'a marker null that is an object by now',
    versioning: 'suspended',
    rule: markersGo,
    before: (bucket) => [hide(bucket, 'k', 'null', OLD)],
    meanwhile: (bucket) => [write(bucket, 'k', { modifiedMs: NOW })],
    rows: ['k@null*'],
    kept: 1,
  },
  {
    name: 'a version that is locked',
    versioning: 'enabled',
    rule: hiddenGo,
    before: (bucket) => [
      write(bucket, 'k', { version: 'v1', modifiedMs: OLD }),
      write(bucket, 'k', { version: 'v2', modifiedMs: OLD }),
      write(bucket, 'k', { version: 'v3', modifiedMs: OLD }),
    ],
    meanwhile: (bucket) => [
      {
        do: 'amend-object',
        bucket,
        key: Buffer.from('k'),
        version: 'v2',
        nowMs: NOW,
        lock: { mode: 'compliance', untilMs: NOW + DAY },
      },
    ],
    rows: ['k@v3*', 'k@v2'],
    kept: 1,
  },
  {
    name: 'a version that somebody else has removed',
    versioning: 'enabled',
    rule: hiddenGo,
    before: (bucket) => [
      write(bucket, 'k', { version: 'v1', modifiedMs: OLD }),
      write(bucket, 'k', { version: 'v2', modifiedMs: OLD }),
    ],
    meanwhile: (bucket) => [drop(bucket, 'k', 'v1')],
    rows: ['k@v2*'],
    kept: 1,
  },
]

for (const { name, versioning, rule, before, meanwhile, rows, kept } of races) {
  test(`${name} between the look and the commit stays as it is`, () =>
    opened(async (open) => {
      const bucket = await open.bucket('b', rule)
      const { catalog } = open.cluster
      if (versioning !== undefined) await catalog.commit([{ do: 'version-bucket', bucket, state: 'enabled' }])
      if (versioning === 'suspended') await catalog.commit([{ do: 'version-bucket', bucket, state: versioning }])
      await catalog.commit(before(bucket))
      betweenLookAndCommit(open, () => catalog.commit(meanwhile(bucket)))
      const run = await open.runAll()
      assert.deepEqual(await open.rows(bucket), rows)
      assert.equal(Number(run['kept_changed']) + Number(run['kept_locked']), kept)
    }))
}

test('rules that are taken back remove nothing any more, not even what was read before', () =>
  opened(async (open) => {
    const bucket = await open.bucket('b', oneDay)
    await open.cluster.catalog.commit([write(bucket, 'k', { modifiedMs: OLD })])
    betweenLookAndCommit(open, () => open.bucket('b'))
    const run = await open.runAll()
    assert.deepEqual(await open.rows(bucket), ['k@null*'])
    assert.equal(run['expired_objects'], 0)
  }))

test('rules that change during a run are applied instead, from the first key on', () =>
  opened(async (open) => {
    const bucket = await open.bucket('b', '<Filter><Prefix>k</Prefix></Filter><Expiration><Days>1</Days></Expiration>')
    await open.cluster.catalog.commit(['a', 'k'].map((key) => write(bucket, key, { modifiedMs: OLD })))
    betweenLookAndCommit(open, () =>
      open.bucket('b', '<Filter><Prefix>a</Prefix></Filter><Expiration><Days>1</Days></Expiration>'),
    )
    assert.equal((await open.look())?.['state'], 'success')
    assert.deepEqual(await open.rows(bucket), ['k@null*'])
    assert.equal(await open.look(), undefined)
  }))

test('other changes to a bucket do not disturb the run', () =>
  opened(async (open) => {
    const bucket = await open.bucket('b', oneDay)
    const { cluster } = open
    await cluster.catalog.commit([write(bucket, 'k', { modifiedMs: OLD })])
    betweenLookAndCommit(open, async () => {
      await cluster.commit([cluster.put(BUCKETS, { ...(await cluster.row(BUCKETS, bucket)), comment: 'new' })])
    })
    const run = await open.runAll()
    assert.deepEqual(await open.rows(bucket), [])
    assert.deepEqual([run['expired_objects'], run['buckets']], [1, 1])
  }))

test('a bucket that is deleted, and a volume that goes offline during a run, are left', () =>
  opened(async (open) => {
    const gone = await open.bucket('gone', oneDay)
    const { catalog } = open.cluster
    betweenLookAndCommit(open, () =>
      catalog.commit([
        { do: 'close-bucket', bucket: gone },
        { do: 'remove-record', type: BUCKETS, key: gone },
      ]),
    )
    await open.runAll()
    const bucket = await open.bucket('b', oneDay)
    await catalog.commit([write(bucket, 'k', { modifiedMs: OLD })])
    const volume = await open.test.uuidOf('/api/storage/volumes', 'vol1')
    betweenLookAndCommit(open, async () => {
      const path = `/api/storage/volumes/${volume}?return_timeout=30`
      assert.equal((await open.test.call('PATCH', path, { state: 'offline' })).status, 200)
    })
    const run = await open.runAll()
    assert.deepEqual(await open.rows(bucket), ['k@null*'])
    assert.deepEqual([run['expired_objects'], run['buckets']], [0, 0])
    assert.deepEqual(
      (await catalog.records('internal/lifecycle')).map(({ key }) => key),
      [],
      'nothing is kept of what is gone or was not done',
    )
  }))

test('a bucket that fails does not keep the others, is told of, and is tried again in an hour', () =>
  opened(async (open) => {
    const [first = '', second = ''] = [await open.bucket('a', oneDay), await open.bucket('b', oneDay)].toSorted()
    const { catalog } = open.cluster
    await catalog.commit([first, second].map((bucket) => write(bucket, 'k', { modifiedMs: OLD })))
    const scan = catalog.scan.bind(catalog)
    catalog.scan = (bucket, ...rest) => {
      if (bucket === first) throw new Error('The page cannot be read.')
      return scan(bucket, ...rest)
    }
    const job = await open.look()
    assert.equal(job?.['state'], 'failure')
    assert.match(textAt(job, 'message'), /^The lifecycle rules of 1 bucket/)
    catalog.scan = scan
    assert.deepEqual([await open.rows(first), await open.rows(second)], [['k@null*'], []])
    const events = await catalog.log('events', { limit: 10 })
    const failed = events.find((event) => event.body['name'] === 's3.lifecycle.failed')
    assert.equal(failed?.body['bucket'], first)
    assert.equal(await open.look(), undefined)
    open.nowMs += HOUR
    assert.equal((await open.look())?.['state'], 'success')
    assert.deepEqual(await open.rows(first), [])
  }))

test('a writer that is away for a while holds a run up and no more', () =>
  opened(async (open) => {
    const bucket = await open.bucket('b', oneDay)
    const { catalog } = open.cluster
    const keys = Array.from({ length: 3 * PAGE_ROWS }, (_, at) => `k${String(at).padStart(4, '0')}`)
    await catalog.commit(keys.map((key) => write(bucket, key, { modifiedMs: OLD })))
    const sleep = open.test.clock.sleep.bind(open.test.clock)
    open.test.clock.sleep = (ms, signal) => sleep(ms === 1000 ? 1 : ms, signal)
    const commit = catalog.commit.bind(catalog)
    let pages = 0
    catalog.commit = async (changes) => {
      if (!changes.some((change) => change.do === 'delete-object')) return commit(changes)
      pages++
      if (pages === 1) throw new CatalogUnavailable('Not done.')
      const outcomes = await commit(changes)
      if (pages === 3) throw new CatalogUnavailable('Done, and the answer was lost.')
      return outcomes
    }
    const run = await open.runAll()
    assert.deepEqual(await open.rows(bucket), [])
    assert.equal(run['buckets'], 1)
    assert.ok(pages > 3)
  }))

test('when the cluster stops, a run ends at the next page, and goes on there at the next start', () =>
  opened(async (open) => {
    const { cluster, test: running } = open
    const bucket = await open.bucket('b', oneDay)
    const keys = Array.from({ length: 5 * PAGE_ROWS }, (_, at) => `k${String(at).padStart(5, '0')}`)
    for (let at = 0; at < keys.length; at += PAGE_ROWS) {
      const some = keys.slice(at, at + PAGE_ROWS)
      // Every other object is too young: what is left tells whether anything was looked at twice.
      await cluster.catalog.commit(some.map((key, i) => write(bucket, key, { modifiedMs: i % 2 === 0 ? OLD : NOW })))
    }
    const drained = Promise.withResolvers<void>()
    betweenLookAndCommit(open, () => {
      drained.resolve(running.jobs.drain(60_000))
      return Promise.resolve()
    })
    await open.schedule.look()
    await drained.promise
    assert.equal((await open.rows(bucket)).length, 4.5 * PAGE_ROWS)
    const left = (await cluster.rows(JOBS)).find(isActive)
    assert.equal(left?.['$type'], LIFECYCLE_RUNS)

    const next = new Jobs(cluster)
    assert.equal(await next.resume(), 1)
    const ended = await next.wait(textAt(left, 'uuid'), 60_000)
    assert.equal(ended['state'], 'success')
    assert.equal((await open.rows(bucket)).length, 2.5 * PAGE_ROWS)
    const run = await cluster.row(LIFECYCLE_RUNS, textAt(left, '$key'))
    assert.deepEqual([run['examined'], run['expired_objects'], run['buckets']], [5 * PAGE_ROWS, 2.5 * PAGE_ROWS, 1])
  }))

test('runs wait for one another, and the schedule starts none while one is on', () =>
  opened(async (open) => {
    const bucket = await open.bucket('b', oneDay)
    await open.cluster.catalog.commit([write(bucket, 'k', { modifiedMs: OLD })])
    const seen: (boolean | number)[] = []
    let second: Promise<unknown> | undefined
    betweenLookAndCommit(open, async () => {
      seen.push(await open.schedule.look())
      second = open.runAll()
    })
    assert.equal((await open.look())?.['state'], 'success')
    await second
    const runs = await open.cluster.rows(LIFECYCLE_RUNS)
    assert.deepEqual(seen, [false])
    const expired = Object.fromEntries(runs.map((run) => [textAt(run, 'scope'), run['expired_objects']]))
    assert.deepEqual(expired, { all: 0, due: 1 })
  }))

test('the schedule looks by itself until it is stopped', () =>
  opened(async (open) => {
    const bucket = await open.bucket('b', oneDay)
    await open.cluster.catalog.commit([write(bucket, 'k', { modifiedMs: OLD })])
    const pauses: number[] = []
    const sleep = open.test.clock.sleep.bind(open.test.clock)
    open.test.clock.sleep = (ms, signal) => {
      if (ms > 0) pauses.push(ms)
      return sleep(Math.min(ms, 5), signal)
    }
    open.schedule.start()
    await until('the object has expired', async () => (await open.rows(bucket)).length === 0)
    await open.schedule.stop()
    open.test.clock.sleep = sleep
    assert.ok(pauses.includes(10_000))
  }))

test('only the newest hundred runs stay on record', () =>
  opened(async (open) => {
    for (let made = 0; made < 103; made++) {
      open.nowMs += 1000
      await open.runAll()
    }
    const begun = (await open.cluster.rows(LIFECYCLE_RUNS)).map((run) => Number(run['start_time']))
    assert.equal(begun.length, 100)
    assert.equal(Math.max(...begun), open.nowMs)
    assert.equal(Math.min(...begun), open.nowMs - 99_000)
  }))
