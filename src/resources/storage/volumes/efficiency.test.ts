/** Runs over real files, in this process. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Housekeeping } from '../../../background/housekeeping.ts'
import { realSystem } from '../../../engines/system.ts'
import { textAt } from '../../../model/value.ts'
import { contents, textOf } from '../../../ports/volumes.suite.ts'
import { CALLER, efficiencyVolume, type EfficiencyVolume } from '../../../../test/support/efficiency.ts'
import { openJobsCluster, type JobsCluster } from '../../../../test/support/jobs-cluster.ts'
import { EfficiencySchedule } from '../../../background/efficiency-schedule.ts'
import { changeNotes } from './efficiency-notes.ts'
import { EFFICIENCY_RUNS } from './efficiency-runs.ts'

type Opened = EfficiencyVolume & {
  readonly open: JobsCluster
  readonly schedule: EfficiencySchedule
  /** Moves the time of day. */
  readonly pass: (ms: number) => void
}

async function withVolume(use: (opened: Opened) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-efficiency-'))
  let aheadMs = 0
  const pass = (ms: number) => void (aheadMs += ms)
  const clock = { ...realSystem.clock, now: () => realSystem.clock.now() + aheadMs }
  const open = openJobsCluster(folder, {}, { system: { ...realSystem, clock } })
  try {
    const schedule = new EfficiencySchedule(open.actions)
    await use({ ...(await efficiencyVolume(open, folder)), open, schedule, pass })
  } finally {
    await open.jobs.drain(60_000)
    await open.close()
    rmSync(folder, { recursive: true })
  }
}

const BOTH = { compression: true, dedupe: true, qos_policy: 'best_effort' }

test('a run compresses what shrinks and stores the same once; the disk and the sums say so', () =>
  withVolume(async ({ engine, volume, put, run, diskBytes, sums, checkFiles }) => {
    const text = textOf(2_000_000)
    const noise = randomBytes(500_000)
    const bodies = [text, noise, text, textOf(300_000), noise, text, textOf(1000), textOf(1000)]
    const blobs = await Promise.all(bodies.map((bytes, n) => put(`k${n}`, bytes)))
    const whole = bodies.reduce((sum, bytes) => sum + bytes.length, 0)
    const before = diskBytes()
    const record = await run(BOTH)
    assert.equal(record['state'], 'success')
    assert.deepEqual([record['examined'], record['examined_size'], record['shared']], [8, whole, 3])
    const { used, compression, dedupe } = await sums()
    assert.equal(used + compression + dedupe, whole)
    assert.equal(dedupe, 2 * text.length + noise.length)
    assert.equal(record['saved'], whole - used)
    assert.ok(compression > 2_300_000 * 0.5)
    assert.ok(Math.abs(before - diskBytes() - (whole - used)) < 100_000, 'the disk has that much more to give')
    for (const [n, blob] of blobs.entries())
      assert.ok((await contents(engine, volume, blob)).equals(bodies[n] ?? noise))

    await checkFiles()

    const again = await run(BOTH)
    assert.deepEqual([again['compressed'], again['shared'], again['saved']], [0, 0, 0])
    assert.deepEqual(await sums(), { used, compression, dedupe })
  }))

test('blobs that share a file already are compressed together', () =>
  withVolume(async ({ engine, volume, put, run, sums, checkFiles }) => {
    const text = textOf(1_000_000)
    const blobs = [await put('a', text), await put('b', text), await put('c', text)]
    await run({ dedupe: true })
    assert.deepEqual(await sums(), { used: text.length, compression: 0, dedupe: 2 * text.length })
    const record = await run({ compression: true })
    assert.equal(record['compressed'], 1)
    const { used, compression, dedupe } = await sums()
    assert.deepEqual([used + compression, dedupe], [text.length, 2 * text.length])
    await checkFiles()
    for (const blob of blobs) assert.ok((await contents(engine, volume, blob)).equals(text))
  }))

test('two files of the same bytes that blobs share become one', () =>
  withVolume(async ({ open, engine, volume, put, run, sums, checkFiles }) => {
    const text = textOf(100_000)
    const blobs: string[] = []
    for (const key of ['a', 'b', 'c', 'd', 'e']) blobs.push(await put(key, text))
    const [a = '', b = '', c = '', d = ''] = blobs
    // As writers do that have not seen each other.
    for (const [blob, twin] of [
      [c, a],
      [d, b],
    ] as const) {
      await engine.share(volume, blob, twin)
      await open.cluster.catalog.commit([{ do: 'share-blob', volume, blob, twin }])
    }
    await run(BOTH)
    await checkFiles()
    const { used, compression, dedupe } = await sums()
    assert.deepEqual([used + compression, dedupe], [text.length, 4 * text.length])
    for (const blob of blobs) assert.ok((await contents(engine, volume, blob)).equals(text))
  }))

test('what is deleted while a run is at it does not come back', () =>
  withVolume(async ({ open, put, remove, run, sums, checkFiles }) => {
    const housekeeping = new Housekeeping(open.cluster, open.jobs)
    const text = textOf(400_000)
    const keys = Array.from({ length: 40 }, (_, n) => `k${n}`)
    for (const [n, key] of keys.entries()) await put(key, n % 2 === 0 ? text : textOf(400_000))
    let removed = 0
    const deleting = (async () => {
      for (const key of keys.slice(5)) {
        await remove(key)
        await housekeeping.round()
        removed++
      }
    })()
    const record = await run(BOTH)
    await deleting
    await housekeeping.round()
    assert.equal(removed, 35)
    assert.equal(record['failed'], 0)
    await checkFiles()
    for (const key of keys.slice(0, 5)) await remove(key)
    assert.deepEqual(await sums(), { used: 0, compression: 0, dedupe: 0 })
  }))

test('what another process unlinks and forgets just before a file takes its place does not come back', () =>
  withVolume(async ({ open, engine, volume, put, remove, run, checkFiles }) => {
    const blob = await put('a', Buffer.from(textOf(200_000)))
    const compress = engine.compress.bind(engine)
    let races = 0
    engine.compress = (tree, name, manner) =>
      compress(tree, name, {
        ...manner,
        async beforePlacing() {
          await manner?.beforePlacing?.()
          races++
          await remove('a')
          await engine.unlink(tree, name)
          await open.cluster.catalog.commit([{ do: 'drop-blobs', volume, blobs: [name] }])
        },
      })
    await run(BOTH)
    assert.equal(races, 1)
    assert.ok(!(await Array.fromAsync(engine.blobs(volume))).includes(blob))
    await checkFiles()
  }))

test('a run ends when it is told to, and the next one goes on with what is left', () =>
  withVolume(async ({ open, volume, put, modify, run, sums }) => {
    const { cluster } = open
    const whole = 60 * 200_000
    for (let n = 0; n < 60; n++) await put(`k${n}`, textOf(200_000))
    await modify({ 'efficiency.compression': 'background' })
    const stop = async () => {
      while ((await sums()).compression === 0) await cluster.system.clock.sleep(1)
      await modify({ 'efficiency.scanner.state': 'idle' })
    }
    const [record] = await Promise.all([run({ qos_policy: 'background' }), stop()])
    assert.equal(record['state'], 'stopped')
    const { compression } = await sums()
    assert.ok(compression > 0 && compression < whole / 2)
    await run({})
    assert.ok((await sums()).compression > whole / 2)
    const notes = await cluster.find('internal/efficiency', volume)
    assert.deepEqual([notes?.['state'], notes?.['sizeBytes'], notes?.['mustStop']], ['success', whole, undefined])
  }))

test('a run is begun by a change of the volume, and by its policy once however much was missed', () =>
  withVolume(async ({ open, volume, schedule, pass, put, modify, sums }) => {
    const { cluster, jobs } = open
    const look = async () => {
      const begun = await schedule.look()
      while (jobs.activeCount > 0) await cluster.system.clock.sleep(1)
      return begun
    }
    const text = textOf(300_000)
    await put('a', text)
    await put('b', text)
    assert.equal(await look(), 0)
    await modify({ 'efficiency.state': 'enabled' })
    const row = await cluster.row('storage/volumes', volume)
    assert.equal(row['efficiency.dedupe'], 'background')
    const policy = await cluster.row('storage/volume-efficiency-policies', textAt(row, 'efficiency.policy.uuid'))
    assert.equal(policy['name'], 'default')
    assert.equal(await look(), 0, 'a policy that is new owes nothing')
    pass(40 * 86_400_000)
    assert.equal(await look(), 1)
    assert.equal(await look(), 0)
    assert.equal((await sums()).dedupe, text.length)
    await modify({ 'efficiency.scanner.state': 'active' })
    assert.equal(await look(), 1)
    assert.equal(await look(), 0)
    await modify({ 'efficiency.state': 'disabled' })
    await assert.rejects(modify({ 'efficiency.scanner.state': 'active' }), /Efficiency is not on/)
  }))

test('a threshold policy begins a run when so much was written since the last', () =>
  withVolume(async ({ open, volume, schedule, put, modify, sums }) => {
    const { cluster, jobs } = open
    const auto = (await cluster.keyOfName('storage/volume-efficiency-policies', 'auto')) ?? ''
    await modify({ 'efficiency.compression': 'background', 'efficiency.policy.uuid': auto })
    await put('a', textOf(300_000))
    assert.equal(await schedule.look(), 0)
    const written = (bytes: number) =>
      cluster.catalog.commit([{ do: 'count', table: 'volume', row: volume, add: { bytes_written: bytes } }])
    await written(50_000)
    assert.equal(await new EfficiencySchedule(open.actions).look(), 0)
    await written(20_000)
    assert.equal(await new EfficiencySchedule(open.actions).look(), 1)
    while (jobs.activeCount > 0) await cluster.system.clock.sleep(1)
    assert.ok((await sums()).compression > 100_000)
    assert.equal(await new EfficiencySchedule(open.actions).look(), 0)
  }))

test('a volume that goes takes its runs and what was noted of them with it', () =>
  withVolume(async ({ open, schedule }) => {
    const { cluster, actions, jobs } = open
    const svm = (await cluster.keyOfName('svm/svms', 'svm1')) ?? ''
    const volumes = cluster.behaviour('storage/volumes')
    const call = { caller: CALLER, path: {}, args: {}, description: 'test' }
    const draft = {
      'svm.uuid': svm,
      name: 'short',
      size: 2 ** 20,
      'guarantee.type': 'none',
      'snapshot_policy.name': 'none',
    }
    const made = await actions.perform(volumes, 'create', { ...call, draft })
    await jobs.wait(textAt(made.job, 'uuid'), 60_000)
    const path = { 'volume.uuid': made.key }
    const run = await actions.perform(cluster.behaviour(EFFICIENCY_RUNS), 'create', { ...call, draft: BOTH, path })
    await jobs.wait(textAt(run.job, 'uuid'), 60_000)
    assert.equal((await cluster.rows(EFFICIENCY_RUNS, made.key)).length, 1)
    const row = await cluster.row('storage/volumes', made.key)
    const gone = await actions.perform(volumes, 'remove', { ...call, draft: {}, row })
    await jobs.wait(textAt(gone.job, 'uuid'), 60_000)
    assert.equal((await cluster.rows(EFFICIENCY_RUNS, made.key)).length, 0)
    assert.equal(await cluster.find('internal/efficiency', made.key), undefined)
    await changeNotes(cluster, made.key, { progress: 'written as it went' })
    await schedule.look()
    assert.equal(await cluster.find('internal/efficiency', made.key), undefined)
  }))
