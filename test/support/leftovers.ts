/** What a cluster holds, as the catalog and the folders have it; and what in it does not belong together. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { aggregateOf } from '../../src/storage/aggregate-of.ts'
import type { Cluster } from '../../src/core/cluster.ts'
import { isActive, JOBS } from '../../src/core/jobs/jobs.ts'
import { LOCK_CLAIMS } from '../../src/core/jobs/lock-claims.ts'
import { REMOVED_TREES } from '../../src/storage/removed-trees.ts'
import { placesOf, treeOf } from '../../src/storage/tree-of.ts'
import { ownedBytes } from '../../src/resources/storage/aggregates/space.ts'
import { EFFICIENCY_NOTES } from '../../src/resources/storage/volumes/efficiency-notes.ts'
import { RECOVERY_QUEUE } from '../../src/resources/storage/volumes/recovery-queue.ts'
import { isRecord, type Row, textAt, type Value } from '../../src/model/value.ts'
import type { QuotaTarget } from '../../src/ports/catalog.ts'
import { QUOTA_RULES, targetOf } from '../../src/resources/storage/quota/limits.ts'

const VOLUMES = 'storage/volumes'
const SNAPSHOTS = 'storage/volumes/{volume.uuid}/snapshots'
const BUCKETS = 'protocols/s3/buckets'
const BUCKET_SNAPSHOTS = 'protocols/s3/services/{svm.uuid}/buckets/{s3_bucket.uuid}/snapshots'

/** Sentences about what is left over or missing; none when all is well. */
export async function leftovers(cluster: Cluster, folder: string): Promise<string[]> {
  const found: string[] = []
  const compare = (what: string, there: Iterable<string>, wanted: Iterable<string>) => {
    const [left, right] = [new Set(there), new Set(wanted)]
    for (const each of left.difference(right)) found.push(`${what} without a record: ${each}`)
    for (const each of right.difference(left)) found.push(`a record without ${what}: ${each}`)
  }
  const keysOf = async (type: string, parent?: string) =>
    (await cluster.catalog.records(type, parent === undefined ? undefined : { parent })).map(({ key }) => key)

  for (const job of await cluster.rows(JOBS)) {
    if (isActive(job))
      found.push(`the job ${textAt(job, 'name')} is ${textAt(job, 'state')}: ${textAt(job, 'message')}`)
    for (const lock of job.$locks) {
      if (cluster.locks.isHeld(lock)) found.push(`the lock ${lock} is held`)
    }
  }

  for (const { key } of await cluster.catalog.records(LOCK_CLAIMS)) found.push(`the lock ${key} is claimed`)

  for (const { key } of await cluster.catalog.records(REMOVED_TREES)) found.push(`the tree ${key} is owed its removal`)

  const volumes = await cluster.rows(VOLUMES)
  const queued = await cluster.rows(RECOVERY_QUEUE)
  const known = [...volumes, ...queued].map((volume) => textAt(volume, 'uuid'))
  const counters = await cluster.catalog.volumes()
  compare(
    'a tree',
    await treesOf(cluster, folder, found),
    [...volumes, ...queued].flatMap((volume) => placesOf(volume).map(({ tree }) => tree)),
  )
  compare('counters of a volume', counters.keys(), known)
  compare('counters of a bucket', (await cluster.catalog.buckets()).keys(), await keysOf(BUCKETS))
  for (const volume of [...volumes, ...queued]) {
    const uuid = textAt(volume, 'uuid')
    compare(
      'a snapshot',
      (await cluster.catalog.snapshots(uuid)).map(({ snapshot }) => snapshot),
      await keysOf(SNAPSHOTS, uuid),
    )
    const buckets = await cluster.rows(BUCKETS, uuid)
    const ofBuckets = await Promise.all(buckets.map((bucket) => keysOf(BUCKET_SNAPSHOTS, textAt(bucket, 'uuid'))))
    compare(
      'a snapshot of a bucket',
      (await cluster.catalog.bucketSnapshots(uuid)).map(({ snapshot }) => snapshot),
      ofBuckets.flat(),
    )
    if (counters.get(uuid)?.sizeBytes !== volume['size']) found.push(`volume ${uuid} has two sizes`)
  }
  // Rules of volumes in the queue are there with them, and their limits go on.
  for (const volume of volumes) {
    const uuid = textAt(volume, 'uuid')
    const limits = (await cluster.catalog.quotas(uuid)).filter(({ isRuled }) => isRuled)
    compare(
      'limits in force',
      limits.map(targetName),
      volume['quota.enabled'] === true ? (await cluster.rows(QUOTA_RULES, uuid)).map(targetOf).map(targetName) : [],
    )
  }
  for (const aggregate of await cluster.rows('storage/aggregates')) {
    const uuid = textAt(aggregate, 'uuid')
    const wanted = { volumes: 0, sizeBytes: 0, usedBytes: 0, promisedBytes: 0 }
    for (const volume of volumes.filter((one) => aggregateOf(one) === uuid)) {
      const counted = counters.get(textAt(volume, 'uuid'))
      const sizeBytes = counted?.sizeBytes ?? 0
      const usedBytes = ownedBytes(counted)
      wanted.volumes++
      wanted.sizeBytes += sizeBytes
      wanted.usedBytes += usedBytes
      if (volume['guarantee.type'] === 'volume') wanted.promisedBytes += Math.max(0, sizeBytes - usedBytes)
    }
    const sums = await cluster.catalog.aggregate(uuid)
    if (!isDeepStrictEqual({ ...sums }, wanted)) {
      found.push(`the sums of the aggregate ${uuid} are ${JSON.stringify(sums)}, not ${JSON.stringify(wanted)}`)
    }
  }
  for (const table of ['volume', 'object_store_server'] as const) {
    const known = new Set(await keysOf(table === 'volume' ? VOLUMES : 'svm/svms'))
    for (const row of (await cluster.catalog.counters(table)).keys()) {
      if (!known.has(row.split(':')[0] ?? row)) found.push(`operation counters of nothing: ${row}`)
    }
  }
  for (const { resource } of cluster.behaviours.values()) {
    if (resource.rowsOf !== resource.type) continue
    for (const { key, body } of await cluster.catalog.records(resource.type)) {
      found.push(...(await unresolved(cluster, resource.type, key, body)))
      const name = body['name']
      if (typeof name !== 'string' || resource.nameWithin === false) continue
      const within = typeof resource.nameWithin === 'string' ? textAt(body, resource.nameWithin) : ''
      if ((await cluster.keyOfName(resource.type, name, within)) !== key)
        found.push(`${resource.type} ${key} lost its name`)
    }
  }
  return found
}

const targetName = ({ type, tree, name }: QuotaTarget) => `${type} ${tree ?? ''} ${name ?? ''}`

async function treesOf(cluster: Cluster, folder: string, found: string[]): Promise<string[]> {
  const trees: string[] = []
  for (const aggregate of await cluster.rows('storage/aggregates')) {
    trees.push(...(await (await cluster.volumesOf(textAt(aggregate, 'uuid'))).list()))
    const removing = join(folder, textAt(aggregate, '$folder'), 'removing')
    // A tree on its way out is cleared away after the next look at the list.
    for (let tries = 0; existsSync(removing) && readdirSync(removing).length > 0; tries++) {
      if (tries === 200) {
        found.push(`half-removed trees: ${readdirSync(removing).join()}`)
        break
      }
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }
  return trees
}

async function unresolved(cluster: Cluster, type: string, key: string, body: Row): Promise<string[]> {
  if (type === JOBS) return []
  const found: string[] = []
  for (const field of cluster.registry.resource(type).fields.values()) {
    const { reference } = field
    if (reference === undefined || reference.part === 'name') continue
    const value = body[field.path]
    const uuids =
      reference.part === 'uuid'
        ? [value]
        : Array.isArray(value)
          ? (value as readonly Row[]).map((one) => one['uuid'])
          : []
    for (const uuid of uuids) {
      if (typeof uuid !== 'string') continue
      const isQueued = type === SNAPSHOTS && (await cluster.find(RECOVERY_QUEUE, uuid)) !== undefined
      if (!isQueued && (await cluster.find(reference.type, uuid)) === undefined)
        found.push(`${type} ${key}: ${field.path} leads nowhere`)
    }
  }
  return found
}

/** Everything but jobs, logs, times and what was made by chance: equal for equal clusters. */
export async function stateOf(cluster: Cluster, chosenKey: string): Promise<unknown> {
  const types = [...cluster.behaviours.values()].filter(
    ({ resource }) => resource.rowsOf === resource.type && resource.type !== JOBS,
  )
  const records: Record<string, unknown> = {}
  // What has a name is called by it, not by its uuid.
  const names = new Map([[chosenKey, 'chosen']])
  for (const { resource } of types) {
    const times = new Set(
      [...resource.fields.values()].filter(({ kind }) => kind.name === 'time').map(({ path }) => path),
    )
    for (const { key, body } of await cluster.catalog.records(resource.type)) {
      const within = names.get(textAt(body, 'svm.uuid'))
      if (typeof body['name'] === 'string' && !names.has(key)) {
        names.set(
          key,
          `${resource.noun} ${body['name']}${isNumber(key) && within !== undefined ? ` of ${within}` : ''}`,
        )
      }
      records[`${resource.type} ${key}`] = Object.fromEntries(Object.entries(body).filter(([path]) => !times.has(path)))
    }
  }
  // What is asked of a volume, and is not in its record.
  for (const { key, body } of await cluster.catalog.records(EFFICIENCY_NOTES)) {
    records[`${EFFICIENCY_NOTES} ${key}`] = { isWanted: body['isWanted'] ?? false }
  }
  // The epoch tells only that there was a snapshot once.
  const volumes = Object.fromEntries(
    [...(await cluster.catalog.volumes())].map(([key, counters]) => [key, { ...counters, epoch: 0 }]),
  )
  const buckets = Object.fromEntries(await cluster.catalog.buckets())
  let text = JSON.stringify({ records, volumes, buckets })
  const keys = [...names.keys()]
  // A key that is a number stands without quotes where it is a field.
  for (const key of keys.filter(isNumber))
    text = text.replaceAll(new RegExp(`:${key}(?=[,}])`, 'g'), `:"${names.get(key)}"`)
  // Of one that is a part of another, the longer first.
  const anyKey = keys
    .toSorted((a, b) => b.length - a.length)
    .map((key) => key.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`))
  text = text.replaceAll(new RegExp(anyKey.join('|'), 'g'), (key) => names.get(key) ?? key)
  // Of a volume that was moved, the tree is made by chance.
  for (const volume of await cluster.rows(VOLUMES))
    text = text.replaceAll(`"$tree":"${treeOf(volume)}"`, '"$tree":"tree"')
  return JSON.parse(text.replaceAll(TIME, 'a time'), (_name, value: unknown) => sorted(value))
}

const isNumber = (key: string): boolean => /^\d+$/.test(key)

/** In the names of the snapshots that clones begin with, and of volumes that are made for buckets. */
const TIME = /\d{4}-\d\d-\d\dT\d{6}(?:\.\d+)?|(?<=fg_oss_)[0-9a-f]{32}/g

function sorted(value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value as Readonly<Record<string, Value>>).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}
