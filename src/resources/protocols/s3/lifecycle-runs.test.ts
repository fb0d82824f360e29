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
import { textAt } from '../../../model/value.ts'
import type { Change } from '../../../ports/catalog.ts'
import { PAGE_ROWS } from './lifecycle-walk.ts'

const WRITTEN = Date.parse('2026-01-15T10:30:00Z')
const DUE = Date.parse('2026-01-19T00:00:00Z')
const threeDays = '<Filter/><Expiration><Days>3</Days></Expiration>'
const noncurrent = (more = '') =>
  `<Filter/><NoncurrentVersionExpiration><NoncurrentDays>1</NoncurrentDays>${more}</NoncurrentVersionExpiration>`
const newer = (count: number) => `<NewerNoncurrentVersions>${count}</NewerNoncurrentVersions>`

async function within(nowMs: number, act: (open: LifecycleCluster) => Promise<void>): Promise<void> {
  const open = await startLifecycleCluster(nowMs)
  try {
    await act(open)
  } finally {
    await open.close()
  }
}

async function commitAll({ cluster }: LifecycleCluster, changes: readonly Change[]): Promise<void> {
  for (let at = 0; at < changes.length; at += 500) await cluster.catalog.commit(changes.slice(at, at + 500))
}

async function version(open: LifecycleCluster, bucket: string, state: 'enabled' | 'suspended'): Promise<void> {
  await open.cluster.catalog.commit([{ do: 'version-bucket', bucket, state }])
}

test('an object goes at the midnight after its days, and not a millisecond sooner', () =>
  within(WRITTEN, async (open) => {
    const bucket = await open.bucket('b', threeDays)
    await open.cluster.catalog.commit([write(bucket, 'k', { modifiedMs: WRITTEN })])
    for (const nowMs of [WRITTEN + 1, DUE - DAY, DUE - 1]) {
      open.nowMs = nowMs
      await open.look()
      assert.deepEqual(await open.rows(bucket), ['k@null*'], new Date(nowMs).toISOString())
    }
    open.nowMs = DUE
    const job = await open.look()
    assert.equal(job?.['state'], 'success')
    assert.deepEqual(await open.rows(bucket), [])
  }))

test('a bucket is looked through once a day, and again when its rules change', () =>
  within(WRITTEN, async (open) => {
    await open.bucket('b', threeDays)
    assert.ok(await open.look(), 'new rules')
    assert.equal(await open.look(), undefined)
    open.nowMs = Date.parse('2026-01-15T23:59:59.999Z')
    assert.equal(await open.look(), undefined)
    open.nowMs += 1
    assert.ok(await open.look(), 'midnight')
    open.nowMs += DAY - 1
    assert.equal(await open.look(), undefined)
    await open.bucket('b', '<Filter/><Expiration><Days>4</Days></Expiration>')
    assert.ok(await open.look(), 'changed rules')
    await open.bucket('b')
    open.nowMs += DAY
    assert.equal(await open.look(), undefined, 'no rules')
    await open.bucket('b', '<Filter/><Expiration><Date>2026-01-01T00:00:00Z</Date></Expiration>')
    assert.ok(await open.look())
  }))

test('many missed midnights and clocks that jump make one run, or none', () =>
  within(WRITTEN, async (open) => {
    await open.bucket('b', threeDays)
    const runs = async () => {
      let count = 0
      while ((await open.look()) !== undefined) count++
      return count
    }
    assert.equal(await runs(), 1)
    open.nowMs += 400 * DAY
    assert.equal(await runs(), 1, 'after a long time')
    open.nowMs -= 3 * HOUR
    assert.equal(await runs(), 0, 'a little back')
    open.nowMs -= 20 * HOUR
    assert.equal(await runs(), 0, 'to the day before')
    open.nowMs += 23 * HOUR
    assert.equal(await runs(), 0, 'and forth again')
    open.nowMs -= 400 * DAY
    assert.equal(await runs(), 1, 'a clock that was wrong')
    open.nowMs += 1000
    assert.equal(await runs(), 0)
  }))

test('where versions are kept, the current one is hidden by a marker, and the hidden go later', () =>
  within(WRITTEN, async (open) => {
    const bucket = await open.bucket(
      'b',
      threeDays,
      `${noncurrent()}<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>`,
    )
    await version(open, bucket, 'enabled')
    await open.cluster.catalog.commit([write(bucket, 'k', { version: 'v1', modifiedMs: WRITTEN })])
    open.nowMs = DUE
    await open.look()
    const [marker, ...older] = await open.rows(bucket)
    assert.match(marker ?? '', /^k@[0-9a-f]{32}\*!$/)
    assert.deepEqual(older, ['k@v1'])
    open.nowMs = DUE + 2 * DAY - 1
    await open.look()
    assert.deepEqual(await open.rows(bucket), [marker, 'k@v1'])
    open.nowMs = DUE + 2 * DAY
    await open.look()
    assert.deepEqual(await open.rows(bucket), [marker])
    open.nowMs = DUE + 3 * DAY
    await open.look()
    assert.deepEqual(await open.rows(bucket), [])
  }))

test('where versioning is suspended, the marker is the version null and takes the place of the one that was', () =>
  within(WRITTEN, async (open) => {
    const bucket = await open.bucket('b', threeDays, noncurrent())
    const { catalog } = open.cluster
    await catalog.commit([write(bucket, 'k', { modifiedMs: WRITTEN }), write(bucket, 'l', { modifiedMs: WRITTEN })])
    await version(open, bucket, 'enabled')
    await catalog.commit([write(bucket, 'l', { version: 'v1', modifiedMs: WRITTEN })])
    await version(open, bucket, 'suspended')
    open.nowMs = DUE
    const run = await open.runAll()
    assert.deepEqual(await open.rows(bucket), ['k@null*!', 'l@null*!', 'l@v1'])
    assert.deepEqual([run['expired_objects'], run['deleted_versions'], run['kept_changed']], [2, 1, 0])
  }))

test('so many newer versions are kept, also when a key has more versions than a page', () =>
  within(WRITTEN, async (open) => {
    const bucket = await open.bucket('b', noncurrent(newer(100)))
    await version(open, bucket, 'enabled')
    const count = 2 * PAGE_ROWS + 50
    const versions = Array.from({ length: count }, (_, at) => `v${String(at).padStart(4, '0')}`)
    await commitAll(open, [
      write(bucket, 'a', { version: 'v1', modifiedMs: WRITTEN }),
      write(bucket, 'a', { version: 'v2', modifiedMs: WRITTEN }),
      ...versions.map((id) => write(bucket, 'k', { version: id, modifiedMs: WRITTEN })),
      ...versions.map((id) => write(bucket, 'l', { version: id, modifiedMs: WRITTEN })),
    ])
    open.nowMs = DUE
    await open.look()
    const kept = versions.toReversed().slice(0, 101)
    const wanted = ['k', 'l'].flatMap((key) => kept.map((id, at) => `${key}@${id}${at === 0 ? '*' : ''}`))
    assert.deepEqual(await open.rows(bucket), ['a@v2*', 'a@v1', ...wanted])
  }))

test('a version counts from when it was replaced, also when the newer one is on the page before', () =>
  within(WRITTEN, async (open) => {
    const bucket = await open.bucket('b', noncurrent())
    await version(open, bucket, 'enabled')
    const fillers = Array.from({ length: PAGE_ROWS - 1 }, (_, at) => `a${String(at).padStart(4, '0')}`)
    await commitAll(open, [
      ...fillers.map((key) => write(bucket, key, { version: 'v1', modifiedMs: WRITTEN })),
      write(bucket, 'k', { version: 'old', modifiedMs: WRITTEN - 100 * DAY }),
      write(bucket, 'k', { version: 'new', modifiedMs: WRITTEN }),
    ])
    open.nowMs = Date.parse('2026-01-16T23:59:59.999Z')
    await open.look()
    assert.deepEqual((await open.rows(bucket)).slice(PAGE_ROWS - 1), ['k@new*', 'k@old'])
    open.nowMs += 1
    await open.look()
    assert.deepEqual((await open.rows(bucket)).slice(PAGE_ROWS - 1), ['k@new*'])
  }))

test('a marker goes when nothing is behind it, also where a page ends', () =>
  within(WRITTEN, async (open) => {
    const rule = '<Filter/><Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>'
    for (const [name, isHiding] of [
      ['alone', false],
      ['hiding', true],
    ] as const) {
      const bucket = await open.bucket(name, rule)
      await version(open, bucket, 'enabled')
      const fillers = Array.from({ length: PAGE_ROWS - 1 }, (_, at) => `a${String(at).padStart(4, '0')}`)
      await commitAll(open, [
        ...fillers.map((key) => write(bucket, key, { version: 'v1', modifiedMs: WRITTEN })),
        ...(isHiding ? [write(bucket, 'k', { version: 'v1', modifiedMs: WRITTEN })] : []),
        hide(bucket, 'k', 'm1', WRITTEN),
        write(bucket, 'l', { version: 'v1', modifiedMs: WRITTEN }),
        hide(bucket, 'm', 'm1', WRITTEN),
      ])
      await open.look()
      const rest = (await open.rows(bucket)).slice(PAGE_ROWS - 1)
      assert.deepEqual(rest, isHiding ? ['k@m1*!', 'k@v1', 'l@v1*'] : ['l@v1*'], name)
    }
  }))

test('a locked version stays and is counted, until its lock has ended', () =>
  within(DUE, async (open) => {
    const bucket = await open.bucket('b', noncurrent())
    await version(open, bucket, 'enabled')
    const lock = { mode: 'governance', untilMs: DUE + HOUR } as const
    await open.cluster.catalog.commit([
      write(bucket, 'k', { version: 'v1', modifiedMs: WRITTEN, lock }),
      write(bucket, 'k', { version: 'v2', modifiedMs: WRITTEN, legalHold: true }),
      write(bucket, 'k', { version: 'v3', modifiedMs: WRITTEN, legalHold: false }),
      write(bucket, 'k', { version: 'v4', modifiedMs: WRITTEN }),
    ])
    const first = await open.runAll()
    assert.deepEqual(await open.rows(bucket), ['k@v4*', 'k@v2', 'k@v1'])
    assert.deepEqual([first['deleted_versions'], first['kept_locked']], [1, 2])
    open.nowMs += HOUR
    const second = await open.runAll()
    assert.deepEqual(await open.rows(bucket), ['k@v4*', 'k@v2'])
    assert.deepEqual([second['deleted_versions'], second['kept_locked']], [1, 1])
  }))

test('prefix, tags and size choose, and keys that no rule is about are not read', () =>
  within(DUE, async (open) => {
    const { catalog } = open.cluster
    const days = '<Expiration><Days>1</Days></Expiration>'
    const bucket = await open.bucket(
      'b',
      `<Filter><Prefix>logs/</Prefix></Filter>${days}`,
      `<Filter><And><Prefix>tmp/</Prefix><Tag><Key>keep</Key><Value>no</Value></Tag></And></Filter>${days}`,
    )
    const keys = ['a', 'logs', 'logs/', 'logs/1', 'logs/\u{ffff}', 'logs0', 'tmp/1', 'tmp/2', 'z']
    const others = Array.from({ length: 5 * PAGE_ROWS }, (_, at) => `m${String(at).padStart(5, '0')}`)
    await commitAll(open, [
      ...[...keys, ...others].map((key) => write(bucket, key, { modifiedMs: WRITTEN })),
      write(bucket, 'tmp/3', { modifiedMs: WRITTEN, tags: { keep: 'no' } }),
      write(bucket, 'tmp/4', { modifiedMs: WRITTEN, tags: { keep: 'yes' } }),
    ])
    let read = 0
    const scan = catalog.scan.bind(catalog)
    catalog.scan = async (...query) => {
      const page = await scan(...query)
      read += page.rows.length
      return page
    }
    const run = await open.runAll()
    catalog.scan = scan
    const left = ['a', 'logs', 'logs0', ...others, 'tmp/1', 'tmp/2', 'tmp/4', 'z'].map((key) => `${key}@null*`)
    assert.deepEqual(await open.rows(bucket), left)
    assert.deepEqual([run['examined'], run['expired_objects']], [7, 4])
    assert.ok(read <= 2 * PAGE_ROWS, `${read} rows were read`)
  }))

test('unfinished uploads are aborted at the midnight after their days', () =>
  within(DUE, async (open) => {
    const abort =
      '<AbortIncompleteMultipartUpload><DaysAfterInitiation>2</DaysAfterInitiation></AbortIncompleteMultipartUpload>'
    const bucket = await open.bucket('b', `<Filter><Prefix>p/</Prefix></Filter>${abort}`)
    const upload = (key: string, id: string, startedMs: number): Change => ({
      do: 'open-upload',
      bucket,
      upload: { upload: id, key: Buffer.from(key), startedMs, details: {} },
    })
    const many = Array.from({ length: PAGE_ROWS + 5 }, (_, at) => upload('p/many', `u${at}`, DUE - 3 * DAY))
    await commitAll(open, [...many, upload('other', 'x', DUE - 9 * DAY), upload('p/new', 'y', DUE - 2 * DAY)])
    const run = await open.runAll()
    const left = await open.cluster.catalog.uploads(bucket, undefined, 1000)
    assert.deepEqual(
      left.map((one) => one.upload),
      ['x', 'y'],
    )
    assert.equal(run['aborted_uploads'], PAGE_ROWS + 5)
  }))

test('buckets of an offline volume wait until it is online', () =>
  within(WRITTEN, async (open) => {
    const bucket = await open.bucket('b', threeDays)
    await open.look()
    await open.cluster.catalog.commit([write(bucket, 'k', { modifiedMs: WRITTEN })])
    open.nowMs = DUE
    const volume = await open.test.uuidOf('/api/storage/volumes', 'vol1')
    const set = (state: string) =>
      open.test.call('PATCH', `/api/storage/volumes/${volume}?return_timeout=30`, { state })
    assert.equal((await set('offline')).status, 200)
    assert.equal(await open.look(), undefined)
    await open.runAll()
    assert.deepEqual(await open.rows(bucket), ['k@null*'])
    assert.equal((await set('online')).status, 200)
    assert.ok(await open.look())
    assert.deepEqual(await open.rows(bucket), [])
  }))

test('a run is a job with its counts on record, in the event log and in the audit trail', () =>
  within(DUE, async (open) => {
    const bucket = await open.bucket('b', threeDays)
    await open.bucket('without')
    await open.cluster.catalog.commit([write(bucket, 'k', { modifiedMs: WRITTEN })])
    const job = await open.look()
    const { body } = await open.test.call('GET', `/api/cluster/jobs/${textAt(job, 'uuid')}?fields=*`)
    assert.deepEqual([body['state'], body['description'], body['progress']], ['success', 'Apply lifecycle rules', 100])
    const runs = await open.test.call('GET', '/api/protocols/s3/lifecycle-runs?fields=*')
    const [run] = runs.body['records'] as unknown as readonly Record<string, unknown>[]
    const { buckets, examined, expired_objects: expired, scope, start_time: begun } = run ?? {}
    assert.deepEqual([buckets, examined, expired, scope, begun], [1, 1, 1, 'due', '2026-01-19T00:00:00Z'])
    const events = await open.cluster.catalog.log('events', { limit: 2 })
    assert.deepEqual(
      events.map((event) => event.body['name']),
      ['s3.lifecycle.ended', 's3.lifecycle.removed'],
    )
    assert.deepEqual([events[1]?.body['bucket_name'], events[1]?.body['expired_objects']], ['b', 1])
    const [audit] = await open.cluster.catalog.log('audit', { limit: 1 })
    assert.deepEqual(
      [audit?.body['user'], audit?.body['location'], audit?.body['input'], audit?.body['state']],
      ['cluster', 'lifecycle schedule', 'Apply lifecycle rules', 'success'],
    )
  }))

test('an administrator starts a run over all buckets with one request', () =>
  within(DUE, async (open) => {
    const bucket = await open.bucket('b', threeDays)
    await open.look()
    await open.cluster.catalog.commit([write(bucket, 'k', { modifiedMs: WRITTEN })])
    const made = await open.test.call(
      'POST',
      '/api/protocols/s3/lifecycle-runs?return_timeout=30&return_records=true',
      {},
    )
    assert.equal(made.status, 201)
    assert.deepEqual(await open.rows(bucket), [])
  }))
