/** What the compiler refuses, on each line below `@ts-expect-error`: nothing of it runs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { define, type Derivation } from '../src/core/behaviour.ts'
import type { Cluster } from '../src/core/cluster.ts'
import { recordPages } from '../src/core/read/record-pages.ts'
import { job, type Making, type Step, type Work } from '../src/core/verb.ts'
import { ownEvents } from '../src/model/events/index.ts'
import { text } from '../src/model/kinds/index.ts'
import { resource } from '../src/model/resource.ts'
import type { RowOf } from '../src/model/rows.ts'
import type { Change } from '../src/ports/catalog.ts'
import type { Bucket, Snapshot, StoredVolume, Volume } from '../src/records/rows.ts'
import { placeOf } from '../src/storage/tree-of.ts'

type SnapshotPolicy = RowOf<'storage/snapshot-policies'>

export async function records(cluster: Cluster): Promise<unknown> {
  const [volume] = await cluster.rows('storage/volumes')
  for await (const page of recordPages(cluster.catalog, 'application/applications')) {
    for (const { body } of page) {
      body.$components.map(({ volumes }) => volumes)
      // @ts-expect-error a note that no application has
      body.$component.map(String)
    }
  }
  const [queued] = await cluster.records('private/cli/volume/recovery-queue')
  // @ts-expect-error the record of a deleted volume is a volume
  const misspelt = queued?.body.$volume['nam']
  // @ts-expect-error no such type
  await cluster.records('storage/volume')
  // @ts-expect-error no such note
  return [misspelt, volume?.$trees]
}

export function written(cluster: Cluster, policy: SnapshotPolicy, bucket: Bucket): Change[] {
  // @ts-expect-error a copy has no such member
  policy.copies.map(({ prefx }) => prefx)
  return [
    cluster.put('storage/snapshot-policies', { ...policy, copies: [{ schedule: { name: 'daily' }, count: 1 }] }),
    // @ts-expect-error a copy has a schedule
    cluster.put('storage/snapshot-policies', { ...policy, copies: [{ count: 1 }] }),
    // @ts-expect-error a bucket always has a size
    cluster.put('protocols/s3/buckets', { uuid: '', name: '', 'svm.uuid': '' }),
    // @ts-expect-error no field is called so
    cluster.put('protocols/s3/buckets', { ...bucket, coment: '' }),
    // @ts-expect-error no such type
    cluster.put('protocols/s3/bucket', bucket),
  ]
}

export const derived: readonly Derivation<Bucket>[] = [
  { gives: ['size'], from: (_cluster, rows) => rows.map(({ name }) => ({ size: name.length })) },
  // @ts-expect-error no field is called so
  { gives: ['sise'], from: (_cluster, rows) => rows.map(() => ({ size: 0 })) },
  // @ts-expect-error a size is a number
  { gives: ['size'], from: (_cluster, rows) => rows.map(({ name }) => ({ size: name })) },
  // @ts-expect-error such a policy has no name that is a number
  { gives: ['policy'], from: (_cluster, rows) => rows.map(() => ({ 'policy.name': 1 })) },
]

const signs = resource({
  path: '/test/signs',
  noun: 'sign',
  doc: 'Signs.',
  key: ['name'],
  fields: { name: { doc: 'The name of the sign.', kind: text() } },
})

define(signs, {
  readArgs: { among: { doc: 'Where to look for signs.', kind: text() } },
  rows: (_cluster, _path, args) =>
    Promise.resolve([
      { name: args.among ?? '' },
      // @ts-expect-error no such argument
      { name: args['amng'] },
    ]),
})

// @ts-expect-error a name is text
define(signs, { rows: () => Promise.resolve([{ name: 1 }]) })

export function always(volume: Volume, snapshot: Snapshot): (string | number)[] {
  // Always set, as making one sets it; in the path of its resource; the element of a list of references.
  const there = [volume['size'], snapshot['volume.uuid'], volume['aggregates']?.[0]?.uuid ?? '']
  // @ts-expect-error it may have none
  const comment: string = volume['comment']
  return [...there, comment]
}

export function places(stored: StoredVolume, row: { readonly name: string }): void {
  placeOf(stored)
  // @ts-expect-error it says nothing of a place
  placeOf(row)
}

const ownRows = ownEvents({
  'kettle.boiled': {
    severity: 'notice',
    message: 'The kettle boiled.',
    action: 'None.',
    parameters: { kettle: 'text', cups: 'count?' },
    trap: 1,
  },
})

export function logged(cluster: Cluster): Change[] {
  const { 'kettle.boiled': boiled } = ownRows
  return [
    cluster.event(boiled, { kettle: 'one' }),
    cluster.event(boiled, { kettle: 'one', cups: 4 }),
    // @ts-expect-error it has no such parameter
    cluster.event(boiled, { kettle: 'one', cup: 4 }),
    // @ts-expect-error it says which kettle
    cluster.event(boiled, { cups: 4 }),
    // @ts-expect-error no such event in the common table
    cluster.event('kettle.boiled', { kettle: 'one' }),
  ]
}

type Noted = Work<{ readonly name: string }, { readonly after: string; readonly copied: number }>

export async function memo(work: Noted, none: Work): Promise<unknown> {
  work.memo.copied = (work.memo.copied ?? 0) + 1
  await work.commit([], { after: 'x' })
  // @ts-expect-error another kind of value
  work.memo.after = 1
  // @ts-expect-error no such note
  await work.commit([], { afterwards: 'x' })
  // @ts-expect-error a step that declares no notes has none
  return none.memo['after']
}

const shared: Step<{ readonly name: string }> = { name: 'shared', run: () => Promise.resolve() }
const other: Step<{ readonly size: number }> = { name: 'other', run: () => Promise.resolve() }

/** What steps are told is what the plan gives, whatever the steps before them ask for. */
export const verb = job({
  plan: (_cluster, { draft }: Making<'application/applications'>) =>
    Promise.resolve({ key: '', input: { name: draft['name'], $kept: 1 } }),
  steps: [
    shared,
    { name: 'own', run: (_cluster, { input }) => Promise.resolve(void (input.$kept + 1)) },
    // @ts-expect-error the plan gives no misspelt input
    { name: 'misspelt', run: (_cluster, { input }) => Promise.resolve(void input['nam']) },
    // @ts-expect-error the plan gives no size
    other,
  ],
})

test('steps of a typed verb are the steps that it was made of', () => {
  assert.deepEqual(
    verb.steps.map(({ name }) => name),
    ['shared', 'own', 'misspelt', 'other'],
  )
})
