/** What a cluster holds, as the catalog and the folders have it; and what in it does not belong together. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Cluster } from '../../src/core/cluster.ts'
import { isActive, JOBS } from '../../src/core/jobs.ts'
import { placesOf, treeOf } from '../../src/core/tree-of.ts'
import { isRecord, type Row, textAt, type Value } from '../../src/model/value.ts'

const VOLUMES = 'storage/volumes'
const SNAPSHOTS = 'storage/volumes/{volume.uuid}/snapshots'
const BUCKETS = 'protocols/s3/buckets'

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
    for (const lock of (job['$locks'] ?? []) as readonly string[]) {
      if (cluster.locks.isHeld(lock)) found.push(`the lock ${lock} is held`)
    }
  }

  const volumes = await cluster.rows(VOLUMES)
  const counters = await cluster.catalog.volumes()
  compare(
    'a tree',
    await treesOf(cluster, folder, found),
    volumes.flatMap((volume) => placesOf(volume).map(({ tree }) => tree)),
  )
  compare('counters of a volume', counters.keys(), await keysOf(VOLUMES))
  compare('counters of a bucket', (await cluster.catalog.buckets()).keys(), await keysOf(BUCKETS))
  for (const volume of volumes) {
    const uuid = textAt(volume, 'uuid')
    compare(
      'a snapshot',
      (await cluster.catalog.snapshots(uuid)).map(({ snapshot }) => snapshot),
      await keysOf(SNAPSHOTS, uuid),
    )
    if (counters.get(uuid)?.sizeBytes !== volume['size']) found.push(`volume ${uuid} has two sizes`)
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
      if ((await cluster.find(reference.type, uuid)) === undefined)
        found.push(`${type} ${key}: ${field.path} leads nowhere`)
    }
  }
  return found
}

/** Everything but jobs, logs, times and the names of things made by chance: equal for equal clusters. */
export async function stateOf(cluster: Cluster, chosenKey: string): Promise<unknown> {
  const types = [...cluster.behaviours.values()].filter(
    ({ resource }) => resource.rowsOf === resource.type && resource.type !== JOBS,
  )
  const records: Record<string, unknown> = {}
  for (const { resource } of types) {
    const times = new Set(
      [...resource.fields.values()].filter(({ kind }) => kind.name === 'time').map(({ path }) => path),
    )
    for (const { key, body } of await cluster.catalog.records(resource.type)) {
      records[`${resource.type} ${key}`] = Object.fromEntries(Object.entries(body).filter(([path]) => !times.has(path)))
    }
  }
  const volumes = Object.fromEntries(await cluster.catalog.volumes())
  const buckets = Object.fromEntries(await cluster.catalog.buckets())
  let text = JSON.stringify({ records, volumes, buckets }, sorted).replaceAll(chosenKey, 'chosen')
  // Of a volume that was moved, the tree is made by chance.
  for (const volume of await cluster.rows(VOLUMES)) text = text.replaceAll(treeOf(volume), 'tree')
  return JSON.parse(text)
}

function sorted(_name: string, value: unknown): unknown {
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value as Readonly<Record<string, Value>>).toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
}
