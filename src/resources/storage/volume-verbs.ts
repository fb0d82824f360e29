import { aggregateOf } from '../../core/aggregate-of.ts'
import type { Cluster } from '../../core/cluster.ts'
import { job, type Work } from '../../core/verb.ts'
import { failures } from '../../model/failure.ts'
import { printSize } from '../../model/kinds/index.ts'
import { isRecord, type Row, textAt } from '../../model/value.ts'
import { CommitRefused, type Change } from '../../ports/catalog.ts'
import { plannedRestore, restoreArgs, restoreVolume } from './volume-restore.ts'
import { AGGREGATES_LOCK, availableIn } from './aggregate-space.ts'
import { FULLNESS } from './volume-watch.ts'
import { withAutosize } from './volumes/autosize.ts'
import { isEfficiencyOn, withEfficiency } from './volumes/efficiency.ts'
import { askForRun, EFFICIENCY_NOTES } from './volumes/efficiency-notes.ts'
import { EFFICIENCY_RUNS, notOn } from './volumes/efficiency-runs.ts'
import { NOTES } from './volumes/owed-snapshots.ts'

const MB = 2 ** 20
export const VOLUME_BYTES_MIN = MB
export const VOLUME_BYTES_MAX = 300 * 2 ** 40

export const createVolume = job({
  example: {
    name: 'vol_example',
    'svm.name': 'svm1',
    aggregates: [{ name: 'aggr1' }],
    size: '64m',
    type: 'rw',
    'guarantee.type': 'volume',
    'snapshot_policy.name': 'none',
  },
  async plan(cluster, { draft }) {
    const name = textAt(draft, 'name')
    const svm = textAt(draft, 'svm.uuid')
    if ((await cluster.keyOfName('storage/volumes', name, svm)) !== undefined) {
      throw failures.duplicate(`A volume named "${name}"`, 'name', 917526)
    }
    const lock = `volume-name:${svm}/${name}`
    if (cluster.locks.isHeld(lock))
      throw failures.duplicate(`A volume named "${name}", still being made,`, 'name', 13107405)
    const aggregate = await chooseAggregate(cluster, draft)
    const key = cluster.system.random.uuid()
    const complete = await withEfficiency(cluster, withAutosize(draft, draft, VOLUME_BYTES_MAX), draft)
    const input = { ...complete, uuid: key, aggregates: [{ uuid: aggregate }], create_time: cluster.now() }
    await insistOnSpace(cluster, aggregate, input)
    return { key, input, locks: [lock] }
  },
  steps: [
    {
      name: 'make tree',
      async run(cluster, { key, input }) {
        // An aggregate that is deleted meanwhile has the tree, and stays; or has gone before it.
        await cluster.locks.with([AGGREGATES_LOCK], async () => {
          await (await cluster.volumesOf(aggregateOf(input))).create(key)
        })
      },
      undo: removeTree,
    },
    {
      name: 'write record',
      async run(cluster, { key, input }) {
        if ((await cluster.find('storage/volumes', key)) !== undefined) return
        const aggregate = aggregateOf(input)
        // Between the look at the space and the commit nobody else may promise it away.
        await cluster.locks.with([AGGREGATES_LOCK], async () => {
          await insistOnSpace(cluster, aggregate, input)
          const svm = await cluster.catalog.record('svm/svms', textAt(input, 'svm.uuid'))
          if (svm === undefined) throw failures.notFound('SVM', 'svm.uuid')
          await cluster.commit([
            { do: 'check-record', type: svm.type, key: svm.key, expect: svm.revision },
            cluster.put('storage/volumes', input, { expect: 'absent' }),
            { do: 'open-volume', volume: key, sizeBytes: Number(input['size']) },
            cluster.event('volume.created', { volume: input['name'] ?? '' }),
          ])
        })
      },
    },
  ],
})

export const modifyVolume = job({
  args: restoreArgs,
  example: { size: '96m', comment: 'grown' },
  async plan(cluster, { row = {}, draft, args }) {
    const key = textAt(row, 'uuid')
    const restore = await plannedRestore(cluster, row, args)
    const after = await withEfficiency(cluster, { ...row, ...draft }, draft)
    if (draft['efficiency.scanner.state'] === 'active' && !isEfficiencyOn(after)) throw notOn()
    return {
      key,
      input: {
        'svm.uuid': row['svm.uuid'] ?? '',
        name: row['name'] ?? '',
        $change: { ...draft },
        ...(restore === undefined ? {} : { $restore: restore }),
      },
      locks: [`volume:${key}`],
    }
  },
  steps: [
    {
      name: 'apply',
      async run(cluster, { key, input }) {
        const change = input['$change']
        if (isRecord(change) && Object.keys(change).length === 0) return
        await cluster.locks.with([AGGREGATES_LOCK], async () => {
          const record = await cluster.catalog.record('storage/volumes', key)
          if (record === undefined) throw failures.notFound('volume', 'uuid')
          const before = record.body as Row
          const given: Row = isRecord(change) ? change : {}
          const sized = withAutosize({ ...before, ...given }, given, VOLUME_BYTES_MAX)
          const after = await withEfficiency(cluster, sized, given)
          const aggregate = aggregateOf(before)
          if (after['size'] !== before['size'] || after['guarantee.type'] !== before['guarantee.type']) {
            await insistOnSpace(cluster, aggregate, after)
          }
          await insistOnName(cluster, after)
          await commitSize(cluster, key, after, [
            { do: 'resize-volume', volume: key, sizeBytes: Number(after['size']) },
            cluster.put('storage/volumes', after, { expect: record.revision }),
            cluster.event('volume.modified', { volume: after['name'] ?? '' }),
          ])
          await askForRun(cluster, key, given)
        })
      },
    },
    { name: 'restore', run: restoreVolume },
  ],
})

export const removeVolume = job({
  args: { force: 'Taken for tools that send it: a volume is deleted at once in any case.' },
  async plan(cluster, { row }) {
    const key = textAt(row, 'uuid')
    await insistOnUnused(cluster, key)
    const aggregate = row === undefined ? '' : aggregateOf(row)
    return {
      key,
      input: { 'svm.uuid': row?.['svm.uuid'] ?? '', name: row?.['name'] ?? '', aggregates: [{ uuid: aggregate }] },
      locks: [`volume:${key}`],
    }
  },
  steps: [
    {
      name: 'remove records',
      async run(cluster, { key, input }) {
        if ((await cluster.find('storage/volumes', key)) === undefined) return
        // No server may take the volume between the look and the commit.
        await cluster.locks.with([`servers:${textAt(input, 'svm.uuid')}`], async () => {
          await insistOnUnused(cluster, key)
          const snapshots = await cluster.catalog.records(SNAPSHOTS, { parent: key })
          const runs = await cluster.catalog.records(EFFICIENCY_RUNS, { parent: key })
          await cluster.commit([
            { do: 'check-childless', type: 'protocols/s3/buckets', parent: key },
            { do: 'close-volume', volume: key },
            ...snapshots.map((record) => ({ do: 'remove-record', type: SNAPSHOTS, key: record.key }) as const),
            { do: 'remove-record', type: 'storage/volumes', key },
            { do: 'remove-record', type: NOTES, key },
            { do: 'remove-record', type: EFFICIENCY_NOTES, key },
            ...runs.map((record) => ({ do: 'remove-record', type: EFFICIENCY_RUNS, key: record.key }) as const),
            { do: 'remove-record', type: FULLNESS, key },
            { do: 'drop-counters', table: 'volume', row: key },
            cluster.event('volume.deleted', { volume: input['name'] ?? '' }),
          ])
        })
      },
    },
    {
      name: 'remove tree',
      run: removeTree,
      // The records are gone, so there is no way back: what is left is cleared away, now or at the next start.
      undo: removeTree,
    },
  ],
})

/** An aggregate that has gone has taken nothing with it: it goes only when it has no trees. */
async function removeTree(cluster: Cluster, { key, input }: Work): Promise<void> {
  const aggregate = await cluster.find('storage/aggregates', aggregateOf(input))
  if (aggregate !== undefined) await cluster.engineOf(aggregate).remove(key)
}

const SNAPSHOTS = 'storage/volumes/{volume.uuid}/snapshots'

async function chooseAggregate(cluster: Cluster, draft: Row): Promise<string> {
  const given = draft['aggregates'] as readonly Row[] | undefined
  if (given !== undefined && given.length > 1) {
    throw failures.invalid('aggregates', 'A volume lies in one aggregate; name only one.', 918242)
  }
  const named = given?.[0]?.['uuid']
  const svm = await cluster.find('svm/svms', textAt(draft, 'svm.uuid'))
  const allowed = ((svm?.['aggregates'] ?? []) as readonly Row[]).map((row) => row['uuid'])
  const isAllowed = (uuid: string) => allowed.length === 0 || allowed.includes(uuid)
  if (typeof named === 'string') {
    if (isAllowed(named)) return named
    throw failures.invalid('aggregates', `The SVM "${textAt(svm, 'name')}" may not have volumes in it.`, 787140)
  }
  let best: { uuid: string; availableBytes: number } | undefined
  for (const aggregate of await cluster.rows('storage/aggregates')) {
    const uuid = textAt(aggregate, 'uuid')
    if (!isAllowed(uuid)) continue
    const availableBytes = await availableIn(cluster, uuid)
    if (best === undefined || availableBytes > best.availableBytes) best = { uuid, availableBytes }
  }
  if (best === undefined)
    throw failures.invalid('aggregates', 'The cluster has no aggregate that it could lie in.', 787140)
  return best.uuid
}

/** A guarantee is given only when the aggregate has what the volume does not hold yet. */
async function insistOnSpace(cluster: Cluster, aggregate: string, volume: Row): Promise<void> {
  if (volume['guarantee.type'] !== 'volume') return
  const [availableBytes, counters, before] = await Promise.all([
    availableIn(cluster, aggregate),
    cluster.catalog.volume(textAt(volume, 'uuid')),
    cluster.find('storage/volumes', textAt(volume, 'uuid')),
  ])
  const used = counters?.usedBytes ?? 0
  const promisedNow = before?.['guarantee.type'] === 'volume' ? Math.max(0, Number(before['size']) - used) : 0
  const wanted = Math.max(0, Number(volume['size']) - used) - promisedNow
  if (wanted > availableBytes) {
    throw failures.invalid(
      'size',
      `The aggregate has ${printSize(availableBytes)} to give, the volume's guarantee needs ${printSize(wanted)}. ` +
        'Choose a smaller size, or guarantee.type none.',
      1245212,
    )
  }
}

async function insistOnName(cluster: Cluster, volume: Row): Promise<void> {
  const holder = await cluster.keyOfName('storage/volumes', textAt(volume, 'name'), textAt(volume, 'svm.uuid'))
  if (holder !== undefined && holder !== volume['uuid']) {
    throw failures.duplicate(`A volume named "${textAt(volume, 'name')}"`, 'name', 917526)
  }
}

async function commitSize(cluster: Cluster, key: string, volume: Row, changes: readonly Change[]): Promise<void> {
  try {
    await cluster.catalog.commit(changes)
  } catch (failure) {
    if (!(failure instanceof CommitRefused)) throw failure
    if (failure.reason === 'full') {
      const used = (await cluster.catalog.volume(key))?.usedBytes ?? 0
      throw failures.invalid(
        'size',
        `Size is below what the volume holds (${printSize(used)}). Delete objects or snapshots first.`,
        917534,
      )
    }
    if (failure.reason === 'taken')
      throw failures.duplicate(`A volume named "${textAt(volume, 'name')}"`, 'name', 917526)
    throw failures.inUse('The volume was changed by another request. Repeat the request.', undefined, 524486)
  }
}

async function insistOnUnused(cluster: Cluster, key: string): Promise<void> {
  if ((await cluster.rows('protocols/s3/buckets', key)).length > 0) {
    throw failures.inUse('The volume holds buckets. Delete them first.', undefined, 524486)
  }
  for (const server of await cluster.rows('protocols/s3/services')) {
    if (server['root_volume.uuid'] === key) {
      throw failures.inUse(
        `The volume is the root volume of the object store server "${textAt(server, 'name')}". Delete the server first.`,
        undefined,
        524486,
      )
    }
    const data = (server['data_volumes'] ?? []) as readonly Row[]
    if (data.some((volume) => volume['uuid'] === key)) {
      throw failures.inUse(
        `The volume is a data volume of the object store server "${textAt(server, 'name')}". Take it off the server first.`,
        undefined,
        524486,
      )
    }
  }
}
