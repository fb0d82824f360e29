/**
 * Very many buckets, volumes and snapshots asked for at once, in one body and in as many requests, by a process that is
 * killed in the middle and again while it goes on. Afterwards every job has ended and nothing is half made; asked for
 * again, all of them are there. `npm test` asks for a few dozen in one of the two ways, and goes on with what a killed
 * process leaves ([until-commit.ts](until-commit.ts)); `HOLDFAST_TEST_WHOLE=1` asks for some hundred in both, and
 * `HOLDFAST_TEST_MANY=5000` for as many as it says.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SimulatedRandom } from '../../src/engines/simulated/random.ts'
import { firstStart } from '../../src/resources/first-start.ts'
import { textAt } from '../../src/model/value.ts'
import { isWhole } from '../clients/tree.ts'
import { runChild } from '../support/child.ts'
import { openJobsCluster } from '../support/jobs-cluster.ts'
import { leftovers } from '../support/leftovers.ts'
import { QUICK_DISK } from '../support/quick-disk.ts'
import { seedOf } from '../support/seed.ts'
import { askForMany, type ManyOrder } from './many.ts'
import { type End, untilCommit } from './until-commit.ts'

const CHILD = fileURLToPath(new URL('run-many.ts', import.meta.url))
const COUNT = Number(process.env['HOLDFAST_TEST_MANY'] ?? (isWhole ? 400 : 40))
/** A volume has no more snapshots than some thousand. */
const SNAPSHOTS = Math.min(COUNT, 1000)
const KILLS = isWhole ? 4 : 2
const LIFE_MS_MAX = 1_200_000

const root = mkdtempSync(join(QUICK_DISK, 'holdfast-many-'))
after(() => rmSync(root, { recursive: true, force: true }))
const begun = join(root, 'begun')
const volume = await prepare()

const WAYS = ['body', 'requests'] as const
const KINDS = {
  volumes: {
    type: 'storage/volumes',
    path: {},
    count: COUNT,
    fields: { 'svm.name': 'svm1', size: '1m', 'guarantee.type': 'none' },
  },
  buckets: { type: 'protocols/s3/buckets', path: {}, count: COUNT, fields: { 'svm.name': 'svm1', size: 2 ** 30 } },
  snapshots: {
    type: 'storage/volumes/{volume.uuid}/snapshots',
    path: { 'volume.uuid': volume },
    count: SNAPSHOTS,
    fields: {},
  },
} as const

for (const [kind, { type, path, count, fields }] of Object.entries(KINDS)) {
  for (const way of isWhole ? WAYS : [kind === 'buckets' ? WAYS[0] : WAYS[1]]) {
    test(`${count} ${kind} of ${way === 'body' ? 'one body' : 'requests of their own'}, with kills in the middle, leave nothing half made`, async (context) => {
      const random = new SimulatedRandom(seedOf(context))
      let folder = join(root, `${kind}-${way}`)
      cpSync(begun, folder, { recursive: true })
      const order = { way, type, path, count, fields } as const
      const goOn = { ...order, way: 'resume', count: 0 } as const
      const end = (): End => ({ commits: 2 + random.below(count), when: 'before' })
      const left = await killed(folder, order, end())
      assert.ok(left !== undefined, 'it is killed')
      folder = left
      for (let kill = 1; kill < KILLS; kill++) folder = (await killed(folder, goOn, end())) ?? folder
      await ask(folder, goOn)
      await check(folder, type, way === 'body' ? 0 : undefined)
      await ask(folder, order)
      await check(folder, type, count)
      rmSync(folder, { recursive: true, force: true })
    })
  }
}

/** The folder that is left when it is killed at a commit, with HOLDFAST_TEST_WHOLE=1 in a process of its own. */
async function killed(folder: string, order: ManyOrder, end: End): Promise<string | undefined> {
  if (!isWhole) return untilCommit(folder, end, (open) => askForMany(open, order))
  const ended = await runChild(CHILD, [folder, JSON.stringify(order), JSON.stringify(end)], LIFE_MS_MAX)
  assert.ok(ended === 0 || ended === 'SIGKILL', String(ended))
  return ended === 0 ? undefined : folder
}

async function ask(folder: string, order: ManyOrder): Promise<void> {
  const open = openJobsCluster(folder)
  try {
    await askForMany(open, order)
  } finally {
    await open.close()
  }
}

/** Nothing is left over, and there are so many. */
async function check(folder: string, type: string, count: number | undefined): Promise<void> {
  const open = openJobsCluster(folder)
  try {
    assert.deepEqual(await leftovers(open.cluster, folder), [])
    const made = (await open.cluster.catalog.records(type)).filter(({ body }) =>
      textAt(body, 'name').startsWith('many'),
    )
    if (count !== undefined) assert.equal(made.length, count)
  } finally {
    await open.close()
  }
}

/** A cluster as it is after its first start. Gives the UUID of its volume. */
async function prepare(): Promise<string> {
  mkdirSync(join(begun, 'aggr1'), { recursive: true })
  const open = openJobsCluster(begun)
  await firstStart(open.actions, {
    adminPassword: 'a password for tests',
    accessKey: undefined,
    secretKey: undefined,
    isBare: false,
    aggregateFolder: 'aggr1',
    dataAddress: '127.0.0.1',
  })
  await open.ended()
  const svm = (await open.cluster.keyOfName('svm/svms', 'svm1')) ?? ''
  const found = (await open.cluster.keyOfName('storage/volumes', 'vol1', svm)) ?? ''
  await open.close()
  return found
}
