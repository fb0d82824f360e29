/**
 * Every job of the product, broken at each of its steps, over the real engines. Nothing is listed here: a new job is
 * covered by being registered, with the example that its verb shows.
 *
 *   1. The process ends before or after a step (and again while the job is taken up).
 *   2. A step fails, and the process ends before or after any step of the undoing.
 *
 * A process that ends is a copy of its folder, taken between two statements: the job never leaves the point where it
 * is, and what another process would find is in the copy. With HOLDFAST_TEST_WHOLE=1, the first end of each verb is that
 * of a real process that is killed.
 *
 * Afterwards the job has ended, the cluster is as if it had never been or had never been disturbed, and no tree, row,
 * name or lock is left over.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Behaviour, VerbName } from '../../src/core/behaviour.ts'
import { JOBS, type JobHooks } from '../../src/core/jobs/jobs.ts'
import { firstStart } from '../../src/resources/first-start.ts'
import { createBucket } from '../../src/resources/protocols/s3/bucket-verbs.ts'
import { behaviours } from '../../src/resources/index.ts'
import type { Verb } from '../../src/core/verb.ts'
import { type Row, textAt, textOf } from '../../src/model/value.ts'
import { runChild } from '../support/child.ts'
import {
  type JobsCluster,
  openJobsCluster,
  performDraft,
  performExample,
  settled,
  verbOf,
} from '../support/jobs-cluster.ts'
import { leftovers, stateOf } from '../support/leftovers.ts'
import { QUICK_DISK } from '../support/quick-disk.ts'
import { seedOf } from '../support/seed.ts'
import { isWhole } from '../support/whole.ts'
import type { Breakage } from './break-job.ts'
import { allowAnyAggregate } from '../support/any-aggregate.ts'
import { leave, never, systemUntil } from './until-commit.ts'

const CHILD = fileURLToPath(new URL('break-job.ts', import.meta.url))
/** A job that neither ends nor reaches the point where it is to be broken. */
const STUCK_MS = 60_000
/** A plain run breaks each job in every sixth way, from one on that the seed says; `.ci/run` in all. */
const PART = isWhole ? 1 : 6
const VERBS: readonly VerbName[] = ['create', 'modify', 'remove']

const root = mkdtempSync(join(QUICK_DISK, 'holdfast-jobs-'))
after(() => rmSync(root, { recursive: true, force: true }))

const begun = join(root, 'begun')
await prepare()

/** What `prepare` makes for actions. */
const PREPARED = 'an aggregate "aggr2"'

/** Two resources may show the same records and have a verb in common. */
const broken = new Set<Verb>()
for (const behaviour of behaviours) {
  // What has to be under way for an action is not to be broken: it is a job of its own.
  const actions = Object.entries(behaviour.actions ?? {}).filter(([, { needs = PREPARED }]) => needs === PREPARED)
  for (const verb of [...VERBS, ...actions.map(([name]) => name)]) {
    const does = verbOf(behaviour, verb)
    if (does?.isJob !== true || broken.has(does)) continue
    broken.add(does)
    for (const way of waysOf(does)) {
      const says = `${verb} of ${behaviour.resource.path}${way.name}, broken at each step, ends and leaves nothing behind`
      test(says, async (context) => {
        await breakEverywhere(behaviour, verb, way, seedOf(context))
      })
    }
  }
}

async function prepare(): Promise<void> {
  mkdirSync(begun)
  const open = openJobsCluster(begun)
  await firstStart(open.actions, {
    adminPassword: 'a password for tests',
    accessKey: undefined,
    secretKey: undefined,
    isBare: false,
    aggregateFolder: 'aggr1',
    dataAddress: '127.0.0.1',
  })
  await allowAnyAggregate(open.cluster)
  await holdObjects(open)
  // Where the example of a move goes.
  const aggregates = open.cluster.behaviour('storage/aggregates')
  await performDraft(open, aggregates, { name: 'aggr2', 'block_storage.path': '/aggr2' })
  await settled(open)
  // What snapshots of groups are of.
  const groups = open.cluster.behaviour('application/consistency-groups')
  const volumes = [{ name: 'vol1', provisioning_options: { action: 'add' } }]
  await performDraft(open, groups, { name: 'group1', 'svm.name': 'svm1', volumes })
  await settled(open)
  await open.close()
}

/** The ways that a verb may go: with its example and each of the arguments it names, and with its further examples. */
interface Way {
  readonly name: string
  readonly example?: string
  readonly args?: Row
}

function waysOf({ exampleArgs = [{}], moreExamples = {} }: Verb): readonly Way[] {
  return [
    ...exampleArgs.map((args) => {
      const query = Object.entries(args)
        .map(([name, value]) => `${name}=${textOf(value)}`)
        .join('&')
      return { name: query === '' ? '' : `?${query}`, args }
    }),
    ...Object.keys(moreExamples).map((example) => ({ name: ` (${example})`, example })),
  ]
}

/** A bucket with a few objects, for verbs that do something with what a volume holds. */
async function holdObjects({ cluster, actions }: JobsCluster): Promise<void> {
  const svm = (await cluster.keyOfName('svm/svms', 'svm1')) ?? ''
  const volume = (await cluster.keyOfName('storage/volumes', 'vol1', svm)) ?? ''
  const caller = { user: 'admin', role: 'admin', from: 'test' }
  const draft = { name: 'bucket1', size: 2 ** 30, 'svm.uuid': svm, 'volume.uuid': volume }
  const called = { caller, draft, path: {}, args: {}, description: 'create' }
  const inVolume = { ...cluster.behaviour('protocols/s3/buckets'), create: createBucket }
  const bucket = await actions.perform(inVolume, 'create', called)
  const engine = await cluster.volumesOf((await cluster.keyOfName('storage/aggregates', 'aggr1')) ?? '')
  for (const [at, key] of ['a', 'b', 'c'].entries()) {
    const blob = `0123456789abcdef0123456789abcde${at}`
    const writer = await engine.write(volume, blob)
    await writer.write(Buffer.from(key))
    await writer.commit(Buffer.from('{}'))
    const checksum = { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: '' } as const
    const blobs = [{ blob, sizeBytes: 1 }]
    const object = {
      version: 'null',
      sizeBytes: 1,
      etag: key,
      modifiedMs: 1,
      checksum,
      blobs,
      parts: null,
      details: {},
    }
    await cluster.catalog.commit([{ do: 'put-object', bucket: bucket.key, key: Buffer.from(key), object }])
  }
}

async function breakEverywhere(
  behaviour: Behaviour,
  verb: string,
  { name: way, ...chosen }: Way,
  seed: number,
): Promise<void> {
  const { type } = behaviour.resource
  const steps = verbOf(behaviour, verb)?.steps ?? []
  for (const needed of new Set(['create', verb === 'remove' ? 'create' : verb])) {
    assert.ok(
      verbOf(behaviour, needed)?.example !== undefined,
      `The ${needed} of ${type} has no example. Give the verb one: this test calls it with that.`,
    )
  }
  // Where every case of this verb begins, and where it ends when nothing disturbs it.
  const from = join(root, `${type}-${verb}-${way}`.replaceAll(/\W/g, '-'))
  cpSync(begun, from, { recursive: true })
  let key: string | undefined
  if (verb !== 'create') {
    const open = openJobsCluster(from)
    const ofAction = behaviour.actions?.[verb]?.exampleOf
    const made = chosen.example === undefined ? ofAction : verbOf(behaviour, verb)?.moreExamples?.[chosen.example]?.of
    key = (await performExample(open, behaviour, 'create', { example: made })).key
    await settled(open)
    await open.close()
  }
  const before = await look(from, key ?? 'nothing yet')
  const undisturbed = await inCopy(from, async (folder) => {
    const open = openJobsCluster(folder)
    const performed = await performExample(open, behaviour, verb, { key, ...chosen })
    await settled(open)
    await open.close()
    return look(folder, performed.key)
  })
  assert.deepEqual(before.leftovers, [])
  assert.deepEqual(undisturbed.leftovers, [])
  assert.equal(undisturbed.job?.['state'], 'success', JSON.stringify(undisturbed.job))
  assert.notDeepEqual(undisturbed.state, before.state, 'The example changes nothing.')

  const points = steps.map((step) => `${type} ${verb}: ${step.name}`)
  const cases: { name: string; failing?: string; kills: string[] }[] = []
  for (const [at, point] of points.entries()) {
    for (const when of ['before', 'after']) {
      cases.push({ name: `killed ${when} "${point}"`, kills: [`${point}: ${when}`] })
    }
    cases.push({ name: `killed twice after "${point}"`, kills: [`${point}: after`, `${point}: after`] })
    cases.push({ name: `"${point}" fails`, failing: point, kills: [] })
    for (const [which, undone] of points.slice(0, at + 1).entries()) {
      if (steps[which]?.undo === undefined) continue
      for (const when of ['undo-before', 'undo-after']) {
        cases.push({
          name: `"${point}" fails, killed at "${undone}: ${when}"`,
          failing: point,
          kills: [`${undone}: ${when}`],
        })
      }
    }
  }

  let isProcessDue = isWhole
  for (const { name, failing, kills } of cases.filter((_, at) => (at + seed) % PART === 0)) {
    const folders: string[] = []
    await inCopy(from, async (first) => {
      let folder = first
      for (const [at, killedAt] of kills.entries()) {
        const breakage: Breakage = { folder, type, verb, key, ...chosen, failing, killedAt, isResumption: at > 0 }
        if (isProcessDue) {
          assert.equal(await runBroken(breakage), 'SIGKILL', `${name}: the point ${killedAt} was not reached`)
        } else {
          folder = await endAt(breakage, name)
          folders.push(folder)
        }
        isProcessDue = false
      }
      const open = openJobsCluster(folder, failingAt(kills.length === 0 ? failing : undefined))
      if (kills.length === 0) await performExample(open, behaviour, verb, { key, ...chosen })
      else assert.equal(await open.jobs.resume(), 1, `${name}: jobs to take up`)
      await settled(open)
      const now = await lookAt(open, folder, key)
      await open.close()
      const wanted = failing === undefined ? ['success'] : ['failure']
      assert.ok(wanted.includes(textAt(now.job, 'state')), `${name}: ${JSON.stringify(now.job)}`)
      assert.deepEqual(now.leftovers, [], name)
      if (failing === undefined) assert.deepEqual(now.state, undisturbed.state, name)
      else if (JSON.stringify(now.state) !== JSON.stringify(undisturbed.state))
        assert.deepEqual(now.state, before.state, name)
      if (failing !== undefined && verb === 'create') await insistOnRepetition(folder, behaviour, name, chosen.example)
    }).finally(() => {
      for (const left of folders) rmSync(left, { recursive: true, force: true })
    })
  }
}

function failingAt(step: string | undefined): JobHooks {
  return {
    beforeStep: (point) =>
      point === step ? Promise.reject(new Error('This step fails on purpose.')) : Promise.resolve(),
  }
}

/**
 * Does what `break-job.ts` does, up to the point, and gives the folder that a process that ends there leaves. The rest of
 * this one's work comes to nothing: the job stays where it is, and nobody looks at its folder again.
 */
async function endAt(breakage: Breakage, name: string): Promise<string> {
  const { folder, type, verb, key, example, args, failing, killedAt } = breakage
  const ended = Promise.withResolvers<string>()
  const late = setTimeout(() => ended.reject(new Error(`${name}: the point ${killedAt} was not reached`)), STUCK_MS)
  const over = new AbortController()
  const hooks: JobHooks = {
    ...failingAt(failing),
    reached(point) {
      if (point !== killedAt) return Promise.resolve()
      ended.resolve(leave(folder))
      return never()
    },
  }
  const open = openJobsCluster(folder, hooks, { system: systemUntil(over.signal) })
  try {
    if (breakage.isResumption === true) await open.jobs.resume()
    else await performExample(open, open.cluster.behaviour(type), verb, { key, example, args })
    return await ended.promise
  } finally {
    clearTimeout(late)
    over.abort()
    await open.close()
  }
}

/** After a create that failed, the same create works: nothing of the first holds its name. */
async function insistOnRepetition(
  folder: string,
  behaviour: Behaviour,
  name: string,
  example: string | undefined,
): Promise<void> {
  const open = openJobsCluster(folder)
  const performed = await performExample(open, behaviour, 'create', { example })
  await settled(open)
  const job = await open.cluster.row(JOBS, textAt(performed.job, 'uuid'))
  await open.close()
  assert.equal(job['state'], 'success', `${name}: repeated: ${JSON.stringify(job)}`)
}

/** What a cluster holds now. The key of what a create made is found in its job. */
async function look(folder: string, key: string | undefined) {
  const open = openJobsCluster(folder)
  const found = await lookAt(open, folder, key)
  await open.close()
  return found
}

async function lookAt(open: JobsCluster, folder: string, key: string | undefined) {
  const jobs = (await open.cluster.rows(JOBS)).toSorted((a, b) => a['start_time'] - b['start_time'])
  const job = jobs.at(-1)
  const found = await leftovers(open.cluster, folder)
  const state = await stateOf(open.cluster, key ?? textAt(job, '$key'))
  return { job, leftovers: found, state }
}

let copies = 0
async function inCopy<Result>(from: string, act: (folder: string) => Promise<Result>): Promise<Result> {
  const folder = join(root, `case-${++copies}`)
  cpSync(from, folder, { recursive: true })
  try {
    return await act(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runBroken(breakage: Breakage): Promise<number | NodeJS.Signals | null> {
  return runChild(CHILD, [JSON.stringify(breakage)])
}
