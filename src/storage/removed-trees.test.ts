import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, renameSync, rmSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openJobsCluster, type JobsCluster } from '../../test/support/jobs-cluster.ts'
import { leftovers } from '../../test/support/leftovers.ts'
import { allowAnyAggregate } from '../../test/support/any-aggregate.ts'
import type { VerbName } from '../core/behaviour.ts'
import type { JobHooks } from '../core/jobs/jobs.ts'
import type { RecordType } from '../model/rows.ts'
import { textAt, type Row } from '../model/value.ts'
import { firstStart } from '../resources/first-start.ts'
import { Housekeeping } from '../background/housekeeping.ts'
import { REMOVED_TREES } from './removed-trees.ts'

const VOLUMES = 'storage/volumes'
const AGGREGATES = 'storage/aggregates'

/** A cluster over real folders, with an aggregate on a disk of its own. */
async function begin(hooks: JobHooks = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-trees-'))
  const disk = join(folder, 'disk')
  let open = openJobsCluster(folder, hooks)
  await firstStart(open.actions, {
    adminPassword: 'a password for tests',
    accessKey: undefined,
    secretKey: undefined,
    isBare: false,
    aggregateFolder: 'aggr1',
    dataAddress: '127.0.0.1',
  })
  await allowAnyAggregate(open.cluster)
  const aggregate = await perform(open, AGGREGATES, 'create', { name: 'aggr2', 'block_storage.path': '/disk' })
  return {
    disk,
    aggregate,
    get open() {
      return open
    },
    makeVolume: async (name: string, state = 'success') => {
      const svm = await open.cluster.keyOfName('svm/svms', 'svm1')
      const draft = { name, 'svm.uuid': svm ?? '', aggregates: [{ uuid: aggregate }], size: 2 ** 20 }
      return perform(open, VOLUMES, 'create', { ...draft, 'guarantee.type': 'none' }, { state })
    },
    deleteVolume: (key: string) => perform(open, VOLUMES, 'remove', {}, { key }),
    takeAway: () => {
      renameSync(disk, `${disk}.away`)
      mkdirSync(disk)
    },
    bringBack: () => {
      rmSync(disk, { recursive: true })
      renameSync(`${disk}.away`, disk)
    },
    restart: async () => {
      await open.close()
      open = openJobsCluster(folder)
      await open.jobs.resume()
    },
    tidy: () => new Housekeeping(open.cluster, open.jobs).removeTrees(),
    left: () => leftovers(open.cluster, folder),
    end: async () => {
      await open.close()
      rmSync(folder, { recursive: true })
    },
  }
}

async function perform(
  open: JobsCluster,
  type: RecordType,
  verb: VerbName,
  draft: Row,
  { key, state = 'success' }: { readonly key?: string; readonly state?: string } = {},
): Promise<string> {
  const { actions, cluster, jobs } = open
  const performed = await actions.perform(cluster.behaviour(type), verb, {
    caller: { user: 'admin', role: 'admin', from: 'test' },
    draft,
    ...(key === undefined ? {} : { row: await cluster.row(type, key) }),
    path: {},
    args: verb === 'remove' && type === VOLUMES ? { force: 'true' } : {},
    description: `${verb} ${type}`,
  })
  const ended = await jobs.wait(textAt(performed.job, 'uuid'), 60_000)
  assert.equal(ended['state'], state, JSON.stringify(ended))
  return performed.key
}

test('a volume that is deleted while its disk is away loses its tree when the disk is back', async () => {
  const here = await begin()
  const [kept, gone] = [await here.makeVolume('kept'), await here.makeVolume('gone')]
  here.takeAway()
  await here.deleteVolume(gone)
  await here.tidy()
  here.bringBack()
  assert.ok(existsSync(join(here.disk, 'volumes', gone)))
  await here.tidy()
  assert.ok(!existsSync(join(here.disk, 'volumes', gone)))
  assert.ok(existsSync(join(here.disk, 'volumes', kept)))
  assert.deepEqual(await here.left(), [])
  await here.end()
})

test('that holds over a restart, whenever the disk comes back', async () => {
  const here = await begin()
  const gone = await here.makeVolume('gone')
  here.takeAway()
  await here.deleteVolume(gone)
  await here.restart()
  await here.tidy()
  await here.restart()
  here.bringBack()
  await here.tidy()
  assert.ok(!existsSync(join(here.disk, 'volumes', gone)))
  assert.deepEqual(await here.left(), [])
  await here.end()
})

test('the tree of a volume that was not made in the end goes too, also when its disk has gone meanwhile', async () => {
  let isDoomed = false
  const here = await begin({
    beforeStep(point) {
      if (!isDoomed || point !== `${VOLUMES} create: write record`) return Promise.resolve()
      here.takeAway()
      return Promise.reject(new Error('The disk has gone.'))
    },
  })
  isDoomed = true
  const never = await here.makeVolume('never', 'failure')
  here.bringBack()
  assert.ok(existsSync(join(here.disk, 'volumes', never)))
  await here.tidy()
  assert.deepEqual(await here.left(), [])
  await here.end()
})

test('the trees that one disk keeps waiting do not keep those of another', async () => {
  const here = await begin()
  const { cluster } = here.open
  const first = await cluster.keyOfName(AGGREGATES, 'aggr1')
  const [away, there] = [await here.makeVolume('away'), crypto.randomUUID()]
  await (await cluster.volumesOf(first ?? '')).create(there)
  here.takeAway()
  await here.deleteVolume(away)
  const body = { aggregate: first ?? '', bytes: 0 }
  await cluster.commit([{ do: 'put-record', type: REMOVED_TREES, key: there, body }])
  await here.tidy()
  assert.deepEqual(
    (await cluster.catalog.records(REMOVED_TREES)).map(({ key }) => key),
    [away],
  )
  here.bringBack()
  await here.tidy()
  assert.deepEqual(await here.left(), [])
  await here.end()
})

test('nothing is owed any more when the aggregate has gone with its trees', async () => {
  const here = await begin()
  const gone = await here.makeVolume('gone')
  here.takeAway()
  await here.deleteVolume(gone)
  here.bringBack()
  await perform(here.open, AGGREGATES, 'remove', {}, { key: here.aggregate })
  await here.tidy()
  assert.deepEqual(await here.open.cluster.catalog.records(REMOVED_TREES), [])
  assert.ok(!existsSync(here.disk))
  await here.end()
})
