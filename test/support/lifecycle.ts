/** A cluster in memory with buckets that have lifecycle rules, and a clock that shows what a test says. */
import type { Cluster } from '../../src/core/cluster.ts'
import { JOBS } from '../../src/core/jobs/jobs.ts'
import type { Actions } from '../../src/core/perform.ts'
import { type Row, textAt } from '../../src/model/value.ts'
import type { Change, ObjectDraft } from '../../src/ports/catalog.ts'
import { createBucket } from '../../src/resources/protocols/s3/bucket-verbs.ts'
import { LifecycleSchedule } from '../../src/background/lifecycle-schedule.ts'
import { BUCKETS, LIFECYCLE_RUNS } from '../../src/resources/protocols/s3/types.ts'
import { readLifecycle } from '../../src/s3/config/lifecycle.ts'
import { lifecycleFields } from '../../src/records/lifecycle-rules.ts'
import { startTestCluster, type TestCluster, type TestClusterOptions } from './cluster.ts'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR

export interface LifecycleCluster {
  readonly test: TestCluster
  readonly cluster: Cluster
  readonly schedule: LifecycleSchedule
  nowMs: number
  /** Makes a bucket, or gives the one there is; with the rules in XML, if any. */
  bucket(name: string, ...rules: readonly string[]): Promise<string>
  /** Looks whether a run is needed, and waits for its end. The record of its job, if there was one. */
  look(): Promise<Row | undefined>
  /** A run over all buckets. The record of the run. */
  runAll(): Promise<Row>
  /** `key@version*` of all rows, newest first; `*` the current one, `!` a marker. */
  rows(bucket: string): Promise<string[]>
  close(): Promise<void>
}

export async function startLifecycleCluster(
  nowMs: number,
  options: TestClusterOptions = {},
): Promise<LifecycleCluster> {
  const test = await startTestCluster(options)
  const { cluster } = test
  const open: LifecycleCluster = {
    test,
    cluster,
    schedule: new LifecycleSchedule(test.actions),
    nowMs,
    bucket: (name, ...rules) => giveBucket(test.actions, name, rules),
    async look() {
      const before = new Set((await runs(test)).map((job) => job['uuid']))
      if (!(await open.schedule.look())) return undefined
      const begun = (await runs(test)).find((job) => !before.has(job['uuid']))
      return test.jobs.wait(textAt(begun, 'uuid'), 60_000)
    },
    async runAll() {
      const performed = await test.actions.perform(cluster.behaviour(LIFECYCLE_RUNS), 'create', {
        caller: { user: 'admin', role: 'admin', from: 'test' },
        draft: {},
        path: {},
        args: {},
        description: 'POST /api/protocols/s3/lifecycle-runs',
      })
      const job = await test.jobs.wait(textAt(performed.job, 'uuid'), 600_000)
      if (job['state'] !== 'success') throw new Error(JSON.stringify(job))
      return cluster.row(LIFECYCLE_RUNS, performed.key)
    },
    rows: (bucket) => allRows(cluster, bucket),
    close: () => test.close(),
  }
  test.clock.now = () => open.nowMs
  return open
}

/** `key@version` of all rows, newest first; `*` behind the current one, `!` behind a marker. */
export async function allRows(cluster: Cluster, bucket: string): Promise<string[]> {
  const found: string[] = []
  let after
  do {
    const page = await cluster.catalog.scan(bucket, after, 1000)
    for (const { key, version, isCurrent, isMarker } of page.rows) {
      found.push(`${Buffer.from(key).toString()}@${version}${isCurrent ? '*' : ''}${isMarker ? '!' : ''}`)
    }
    after = page.next
  } while (after !== undefined)
  return found
}

/** Makes a bucket in the first SVM, or finds the one there is, and gives it rules. */
export async function giveBucket(actions: Actions, name: string, rules: readonly string[]): Promise<string> {
  const { cluster } = actions
  const svm = (await cluster.keyOfName('svm/svms', 'svm1')) ?? ''
  const caller = { user: 'demo', role: 'object store user', from: 'test' }
  let key = await cluster.keyOfName(BUCKETS, name, svm)
  const behaviour = { ...cluster.behaviour(BUCKETS), create: createBucket }
  const call = { caller, path: {}, args: {}, description: name }
  if (key === undefined) {
    const draft = { 'svm.uuid': svm, name, size: 2 ** 40, versioning_state: 'disabled', 'policy.name': 'default' }
    key = (await actions.perform(behaviour, 'create', { ...call, draft })).key
  }
  const row = await cluster.row(BUCKETS, key)
  await actions.perform(behaviour, 'modify', { ...call, row, draft: ruleFields(...rules) })
  return key
}

/** The fields of a bucket with these rules; none take them away. */
function ruleFields(...rules: readonly string[]): Row {
  if (rules.length === 0) return lifecycleFields(undefined, undefined)
  const text = rules.map((rule) => `<Rule><Status>Enabled</Status>${rule}</Rule>`).join('')
  let made = 0
  const read = readLifecycle(
    Buffer.from(`<LifecycleConfiguration>${text}</LifecycleConfiguration>`),
    () => `rule-${++made}`,
  )
  return lifecycleFields(read, undefined)
}

async function runs(test: TestCluster): Promise<Row[]> {
  return (await test.cluster.rows(JOBS)).filter((job) => job['$type'] === LIFECYCLE_RUNS)
}

/** An object without bytes, so it needs no blob. */
export function write(
  bucket: string,
  key: string,
  object: { readonly modifiedMs: number; readonly tags?: Readonly<Record<string, string>> } & Partial<ObjectDraft>,
): Change {
  const { tags, ...given } = object
  return {
    do: 'put-object',
    bucket,
    key: Buffer.from(key),
    object: {
      version: 'null',
      sizeBytes: 0,
      etag: 'd41d8cd98f00b204e9800998ecf8427e',
      checksum: { algorithm: 'CRC64NVME', type: 'FULL_OBJECT', value: 'AAAAAAAAAAA=' },
      blobs: [],
      parts: null,
      details: {
        contentType: 'text/plain',
        user: {},
        owner: '',
        ...(tags === undefined ? {} : { tags: Object.entries(tags) }),
      },
      ...given,
    },
  }
}

export function hide(bucket: string, key: string, version: string, modifiedMs: number): Change {
  return { do: 'delete-object', bucket, key: Buffer.from(key), marker: { version, modifiedMs } }
}
