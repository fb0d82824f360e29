import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { CALLER, efficiencyVolume, type EfficiencyVolume } from '../../../../test/support/efficiency.ts'
import { openJobsCluster, type JobsCluster } from '../../../../test/support/jobs-cluster.ts'
import { aggregateOf } from '../../../storage/aggregate-of.ts'
import { DAMAGE } from '../../../storage/damage.ts'
import { Housekeeping } from '../../../background/housekeeping.ts'
import { RESTORED } from '../../../records/restored.ts'
import { Interrupted } from '../../../core/verb.ts'
import { SAMPLE_CONTENT, sampleOfFormat1, sampleOfFormat2 } from '../../../engines/directory/kept-samples.ts'
import { type Row, textAt, type Value } from '../../../model/value.ts'
import { VolumesFailure } from '../../../ports/volumes.ts'
import { contents } from '../../../ports/volumes.suite.ts'
import { ScrubSchedule } from '../../../background/scrub-schedule.ts'
import { SCRUBS } from './notes.ts'
import { ScrubWalk, type ScrubWork } from './scrub-walk.ts'

let folder: string
let open: JobsCluster
let v: EfficiencyVolume
let aggregate: string

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'scrub-'))
  open = openJobsCluster(folder)
  v = await efficiencyVolume(open, folder)
  aggregate = aggregateOf(await open.cluster.row('storage/volumes', v.volume))
  // The bucket has a record, as rows are looked through by buckets.
  const body = { uuid: 'b', name: 'papers', 'volume.uuid': v.volume }
  await open.cluster.catalog.commit([
    { do: 'put-record', type: 'protocols/s3/buckets', key: 'b', parent: v.volume, body },
  ])
})
after(async () => {
  await open.close()
  rmSync(folder, { recursive: true })
})

async function scrub(): Promise<Row> {
  const call = { caller: CALLER, draft: { 'aggregate.uuid': aggregate, rate: 2 ** 40 }, path: {}, args: {} }
  const behaviour = open.cluster.behaviour(SCRUBS)
  const performed = await open.actions.perform(behaviour, 'create', { ...call, description: 'POST' })
  const job = await open.jobs.wait(textAt(performed.job, 'uuid'), 60_000)
  assert.equal(job['state'], 'success', JSON.stringify(job))
  const rows = await open.cluster.rows(SCRUBS, aggregate)
  return rows.toSorted((a, b) => Number(b['end_time']) - Number(a['end_time']))[0] ?? {}
}

const known = async () =>
  Object.fromEntries((await open.cluster.rows(DAMAGE)).map((row) => [row['blob'], [row['kind'], row['key'] ?? '']]))
const fileOf = (blob: string) => v.engine.fileOf(v.volume, blob)

/** Blobs in lost-and-found. */
const lost = () =>
  readdirSync(join(folder, 'aggr1/lost-and-found/unknown', v.volume)).map((name) => name.replace(/\.\d+$/, ''))

function flip(path: string, at: number): void {
  const file = readFileSync(path)
  file[at] = (file[at] ?? 0) ^ 1
  writeFileSync(path, file)
}

test('a scrub finds everything that is wrong, names the objects, and finds nothing else', async () => {
  const bytes = randomBytes(100_000)
  const put = (key: string) => v.put(key, Buffer.concat([bytes, Buffer.from(key)]))
  const sound = await put('sound')
  const [flipped, truncated, missing, misplaced] = [
    await put('flipped'),
    await put('truncated'),
    await put('missing'),
    await put('misplaced'),
  ]
  const label = await put('label')
  flip(fileOf(flipped), 70_000)
  truncateSync(fileOf(truncated), 70_000)
  unlinkSync(fileOf(missing))
  copyFileSync(fileOf(sound), fileOf(misplaced))
  flip(fileOf(label), readFileSync(fileOf(label)).length - 60)
  const unknown = `000000000001${'a'.repeat(20)}`
  mkdirSync(dirname(fileOf(unknown)), { recursive: true })
  copyFileSync(fileOf(sound), fileOf(unknown))
  const young = Date.now().toString(16).padStart(12, '0') + 'b'.repeat(20)
  mkdirSync(dirname(fileOf(young)), { recursive: true })
  copyFileSync(fileOf(sound), fileOf(young))
  const other = `000000000002${'c'.repeat(20)}`
  const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: '' } as const
  const object = { version: 'null', sizeBytes: 1, etag: 'e', modifiedMs: 1, checksum, parts: null, details: {} }
  const blobs = [{ blob: other, sizeBytes: 1, crc: 1 }]
  const elsewhere = { uuid: 'other', name: 'other', aggregates: [{ uuid: 'elsewhere' }] }
  await open.cluster.catalog.commit([
    { do: 'put-record', type: 'storage/volumes', key: 'other', body: elsewhere },
    { do: 'open-volume', volume: 'other', sizeBytes: 1000 },
    { do: 'open-bucket', bucket: 'other', volume: 'other', limitBytes: 1000 },
    { do: 'put-object', bucket: 'other', key: Buffer.from('k'), object: { ...object, blobs } },
  ])
  mkdirSync(dirname(fileOf(other)), { recursive: true })
  copyFileSync(fileOf(sound), fileOf(other))

  const row = await scrub()
  assert.deepEqual(await known(), {
    [flipped]: ['flipped', 'flipped'],
    [truncated]: ['truncated', 'truncated'],
    [missing]: ['missing', 'missing'],
    [misplaced]: ['misplaced', 'misplaced'],
    [label]: ['flipped', 'label'],
    [other]: ['duplicate', ''],
  })
  assert.deepEqual(
    [row['examined'], row['damaged'], row['unexpected'], row['set_aside'], row['upgraded']],
    [6, 5, 2, 1, 0],
  )
  for (const record of await open.cluster.rows(DAMAGE)) assert.match(textAt(record, 'message'), /^\S.*\.$/)
  const events = (await open.cluster.catalog.log('events', { limit: 20 })).map(({ body }) => body)
  const event = events.find((one) => one['name'] === 'object.damaged' && one['key'] === 'missing')
  assert.deepEqual([event?.['bucket'], event?.['version'], event?.['file']], ['papers', 'null', fileOf(missing)])
  assert.ok(events.some((one) => one['name'] === 'aggregate.scrub.ended' && one['damaged'] === 5))

  // It is moved, so that nothing is lost with it, and no row that is still to come may name it.
  const late = [{ blob: unknown, sizeBytes: 1, crc: 1 }]
  await assert.rejects(
    open.cluster.catalog.commit([
      { do: 'put-object', bucket: 'b', key: Buffer.from('late'), object: { ...object, blobs: late } },
    ]),
    { reason: 'missing' },
  )
  await new Housekeeping(open.cluster, open.jobs).round()
  assert.deepEqual(lost(), [unknown])
  for (const blob of [other, young]) unlinkSync(fileOf(blob))
  for (const key of ['flipped', 'truncated', 'missing', 'misplaced', 'label']) await v.remove(key)
  const again = await scrub()
  assert.deepEqual([again['examined'], again['damaged']], [1, 0])
  assert.equal((await known())[unknown], undefined)
})

test('a scrub leaves files alone that are older than a restored catalog, and those that a row comes to name', async () => {
  const { catalog } = open.cluster
  const [old, named] = [`000000000003${'d'.repeat(20)}`, `000000000004${'e'.repeat(20)}`]
  for (const blob of [old, named]) {
    const writer = await v.engine.write(v.volume, blob)
    await writer.write(Buffer.from('x'))
    await writer.commit(Buffer.alloc(0))
  }
  await catalog.commit([{ do: 'put-record', type: RESTORED[0], key: RESTORED[1], body: { atMs: 4 } }])
  const commit = catalog.commit.bind(catalog)
  // An upload that took very long is committed at the last moment.
  catalog.commit = async (changes) => {
    const object = { version: 'null', sizeBytes: 1, etag: 'e', modifiedMs: 1, parts: null, details: {} }
    const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: '' } as const
    const blobs = [{ blob: named, sizeBytes: 1, crc: crc32('x') }]
    if (changes.some((change) => change.do === 'give-up-blobs')) {
      await commit([
        { do: 'put-object', bucket: 'b', key: Buffer.from('slow'), object: { ...object, checksum, blobs } },
      ])
    }
    return commit(changes)
  }
  try {
    const row = await scrub()
    assert.equal(row['set_aside'], 0)
  } finally {
    catalog.commit = commit
  }
  await new Housekeeping(open.cluster, open.jobs).round()
  assert.equal((await contents(v.engine, v.volume, named)).toString(), 'x')
  assert.equal((await contents(v.engine, v.volume, old)).toString(), 'x')
  assert.deepEqual((await known())[old], ['unknown', ''])
  await catalog.commit([{ do: 'remove-record', type: RESTORED[0], key: RESTORED[1] }])
  await v.remove('slow')
  assert.equal((await scrub())['set_aside'], 1)
  await new Housekeeping(open.cluster, open.jobs).round()
  assert.ok(lost().includes(old))
})

test('a scrub gives files of earlier formats checksums, but for those whose bytes are not those of their label', async () => {
  const { catalog } = open.cluster
  const md5 = createHash('md5').update(SAMPLE_CONTENT).digest('hex')
  const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: '' } as const
  const sizeBytes = SAMPLE_CONTENT.length
  const old = async (name: string, file: Buffer) => {
    const blob = `00000000000f${name.repeat(20)}`
    mkdirSync(dirname(fileOf(blob)), { recursive: true })
    writeFileSync(fileOf(blob), file)
    const object = { version: 'null', sizeBytes, etag: md5, modifiedMs: 1, checksum, parts: null, details: {} }
    const blobs = [{ blob, sizeBytes, storedBytes: file.length < sizeBytes ? storedOf(file) : sizeBytes }]
    await catalog.commit([{ do: 'put-object', bucket: 'b', key: Buffer.from(name), object: { ...object, blobs } }])
    return blob
  }
  const plain = await old('1', sampleOfFormat1())
  const packed = await old('2', sampleOfFormat2())
  const changed = sampleOfFormat1()
  changed[1000] = (changed[1000] ?? 0) ^ 1
  const damaged = await old('3', changed)
  assert.equal(await catalog.unverifiedBlobs(), 3)
  const sums = await v.sums()
  assert.equal(await new ScrubSchedule(open.actions).look(), 0, 'there has been a scrub lately')
  const { upgraded, damaged: found } = await scrub()
  assert.deepEqual([upgraded, found], [2, 1])
  assert.equal(await catalog.unverifiedBlobs(), 1)
  for (const blob of [plain, packed]) {
    const crc = (await catalog.storedBlob(v.volume, blob))?.crc
    assert.ok(crc !== undefined)
    await (await v.engine.open(v.volume, blob, { sizeBytes, crc })).close()
    assert.ok((await contents(v.engine, v.volume, blob)).equals(SAMPLE_CONTENT))
  }
  assert.deepEqual((await known())[damaged]?.[0], 'flipped')
  assert.deepEqual(await v.sums(), sums)
})

/** As the footer of format 2 says. */
function storedOf(file: Buffer): number {
  return Number(file.readBigUInt64BE(file.length - 40))
}

test('a scrub that was interrupted goes on where it was', async () => {
  for (let n = 0; n < 5; n++) await v.put(`more ${n}`, randomBytes(10))
  const stop = new AbortController()
  const memo: Record<string, Value> = {}
  const looked: string[] = []
  const work = (signal: AbortSignal): ScrubWork => ({
    key: 'k',
    input: { uuid: 'k', 'aggregate.uuid': aggregate },
    memo,
    stopping: signal,
    progress: () => Promise.resolve(),
    conclude: () => undefined,
    commit: async (_changes, notes) => {
      Object.assign(memo, notes)
      return []
    },
  })
  const engine = v.engine.open.bind(v.engine)
  v.engine.open = (tree, blob, expected) => {
    looked.push(blob)
    if (looked.length === 4) stop.abort()
    return engine(tree, blob, expected)
  }
  const clock = open.cluster.system.clock
  const elapsed = clock.elapsed.bind(clock)
  // Each look at the clock is later than a note is old.
  let hours = 0
  clock.elapsed = () => (hours += 3_600_000)
  try {
    await assert.rejects(new ScrubWalk(open.cluster, work(stop.signal), aggregate, 2 ** 40).go(), Interrupted)
    const first = looked.splice(0)
    const walk = new ScrubWalk(open.cluster, work(new AbortController().signal), aggregate, 2 ** 40)
    await walk.go()
    assert.ok(first.length >= 4 && !looked.includes(first[0] ?? ''), 'what was read before is not read again')
    const all = (await open.cluster.catalog.storedBlobs(v.volume, '', 100)).blobs.map(({ blob }) => blob)
    assert.deepEqual(new Set([...first, ...looked]), new Set(all))
    assert.equal(walk.counts.examined, all.length)
  } finally {
    clock.elapsed = elapsed
    v.engine.open = engine
  }
})

test('a scrub that a crash ends at any of its notes counts everything once when it goes on there', async () => {
  const found = async (memo: Record<string, Value>, noted: (memo: Record<string, Value>) => void) => {
    const work: ScrubWork = {
      key: 'k',
      input: { uuid: 'k', 'aggregate.uuid': aggregate },
      memo,
      stopping: new AbortController().signal,
      progress: () => Promise.resolve(),
      conclude: () => undefined,
      commit: async (_changes, notes) => {
        Object.assign(memo, notes)
        noted({ ...memo })
        return []
      },
    }
    const walk = new ScrubWalk(open.cluster, work, aggregate, 2 ** 40)
    await walk.go()
    return walk.counts
  }
  const lost = await v.put('lost to a crash', randomBytes(100_000))
  flip(fileOf(lost), 50_000)
  const clock = open.cluster.system.clock
  const elapsed = clock.elapsed.bind(clock)
  let hours = 0
  clock.elapsed = () => (hours += 3_600_000)
  try {
    const memos: Record<string, Value>[] = [{}]
    const whole = await found({}, (memo) => memos.push(memo))
    assert.ok(whole.damaged > 0 && memos.length > 3)
    const records = await known()
    for (const memo of memos) assert.deepEqual(await found(structuredClone(memo), () => undefined), whole)
    assert.deepEqual(await known(), records)
  } finally {
    clock.elapsed = elapsed
  }
  const events = (await open.cluster.catalog.log('events', { limit: 100 })).map(({ body }) => body)
  assert.equal(events.filter((one) => one['key'] === 'lost to a crash').length, 1)
  await v.remove('lost to a crash')
})

test('a scrub is begun when the interval has passed, and at once where an earlier release has written', async () => {
  const { catalog } = open.cluster
  const schedule = new ScrubSchedule(open.actions)
  const note = (begunMs: number | undefined) =>
    catalog.commit([
      begunMs === undefined
        ? { do: 'remove-record', type: 'internal/scrubs', key: aggregate }
        : { do: 'put-record', type: 'internal/scrubs', key: aggregate, body: { aggregate, begunMs } },
    ])
  await note(Date.now() - 167 * 3_600_000)
  assert.equal(await schedule.look(), 0)
  await note(Date.now() - 169 * 3_600_000)
  assert.equal(await schedule.look(), 1)
  await open.ended()
  assert.equal(await schedule.look(), 0)
  await note(undefined)
  assert.equal(await schedule.look(), 1, 'there are blobs without checksums')
  await open.ended()
  await catalog.commit([{ do: 'put-record', type: 'private/scrub-schedule', key: '', body: { enabled: false } }])
  await note(1)
  assert.equal(await schedule.look(), 0)
})

test('two scrubs at once end one after the other, one that is cancelled leaves nothing, and its volume may go meanwhile', async () => {
  const { cluster, jobs, actions } = open
  const behaviour = cluster.behaviour(SCRUBS)
  const begin = async () => {
    const call = { caller: CALLER, draft: { 'aggregate.uuid': aggregate, rate: 2 ** 40 }, path: {}, args: {} }
    return textAt((await actions.perform(behaviour, 'create', { ...call, description: 'POST' })).job, 'uuid')
  }
  const both = await Promise.all([begin(), begin()])
  for (const job of both) assert.equal((await jobs.wait(job, 60_000))['state'], 'success')

  const opens = v.engine.open.bind(v.engine)
  const met = Promise.withResolvers<undefined>()
  const go = Promise.withResolvers<undefined>()
  v.engine.open = async (tree, blob, expected) => {
    met.resolve(undefined)
    await go.promise
    return opens(tree, blob, expected)
  }
  const cancelled = await begin()
  await met.promise
  await cluster.jobOrders.ask(cluster, cancelled, 'cancel')
  go.resolve(undefined)
  v.engine.open = opens
  const ended = await jobs.wait(cancelled, 60_000)
  assert.deepEqual([ended['state'], ended['message']], ['failure', 'The job was cancelled.'])

  // The tree goes while it is listed.
  const blobs = v.engine.blobs.bind(v.engine)
  v.engine.blobs = async function* gone(tree) {
    if (tree !== v.volume) return yield* blobs(tree)
    await cluster.catalog.commit([{ do: 'remove-record', type: 'storage/volumes', key: v.volume }])
    throw new VolumesFailure('missing', 'The tree is gone.')
  }
  const last = await jobs.wait(await begin(), 60_000)
  v.engine.blobs = blobs
  assert.equal(last['state'], 'success', JSON.stringify(last))
})
