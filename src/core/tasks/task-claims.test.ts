import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { SimulatedClock } from '../../engines/simulated/clock.ts'
import { SimulatedRandom } from '../../engines/simulated/random.ts'
import { openSqliteCatalog } from '../../engines/sqlite/catalog.ts'
import { CatalogUnavailable, CommitRefused, type Catalog } from '../../ports/catalog.ts'
import { Background, type Task } from './background.ts'
import { Incarnation } from '../incarnation.ts'
import { CLAIM_MS, RENEWED_MS, TASK_CLAIMS, TaskClaims } from './task-claims.ts'

const EVERY_MS = 1000

interface Node {
  readonly task: Task
  /** When its runs began, in milliseconds of the growing clock. */
  readonly runs: number[]
}

function world(context: TestContext) {
  const clock = new SimulatedClock()
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const random = new SimulatedRandom(1)
  const begun: Task[] = []
  context.after(async () => {
    await clock.until(Promise.all(begun.map((task) => task.stop())))
    await catalog.close()
  })
  const log = { debug() {}, info() {}, warn() {}, error() {} }
  /** A process of a node, whose runs take so long unless they are halted. */
  function start(node: string, runMs = 0, own: Catalog = catalog): Node {
    const claims = new TaskClaims(own, clock, new Incarnation(node, random))
    const runs: number[] = []
    const task = new Background({ clock, log, claims }).task({
      name: 'a-task',
      doc: 'Does something.',
      bound: 'Reads nothing.',
      scope: 'cluster',
      everyMs: EVERY_MS,
      failed: 'Something could not be done.',
      async act({ stopping }) {
        runs.push(clock.elapsed())
        await clock.sleep(runMs, stopping)
      },
    })
    begun.push(task)
    task.start()
    return { task, runs }
  }
  const record = async () => (await catalog.record(TASK_CLAIMS, 'a-task'))?.body
  return { clock, catalog, start, record }
}

/** A node that is gone without a word: it commits nothing, and runs nothing, any more. */
function broken(catalog: Catalog): { readonly catalog: Catalog; gone: boolean } {
  const own = { catalog: Object.create(catalog) as Catalog, gone: false }
  const insist = () => {
    if (own.gone) throw new CatalogUnavailable('The network is gone.')
  }
  own.catalog.commit = async (changes) => {
    insist()
    return catalog.commit(changes)
  }
  own.catalog.record = async (type, key) => {
    insist()
    return catalog.record(type, key)
  }
  return own
}

test('of two nodes one runs a task, and the other says which', async (context) => {
  const { clock, start, record } = world(context)
  const [one, two] = [start('n1'), start('n2')]
  await clock.advance(10 * EVERY_MS)
  assert.deepEqual([one.runs.length, two.runs.length], [11, 0])
  assert.deepEqual([one.task.status.state, two.task.status.state], ['waiting', 'elsewhere'])
  assert.equal(two.task.status.elsewhere, 'n1')
  assert.equal((await record())?.['node'], 'n1')
})

test('two nodes that begin at the same moment do not both run it', async (context) => {
  for (let round = 0; round < 20; round++) {
    await context.test(`round ${round}`, async (part) => {
      const { clock, start } = world(part)
      const nodes = ['n1', 'n2', 'n3'].map((node) => start(node))
      await clock.advance(EVERY_MS * 2)
      assert.equal(nodes.filter(({ runs }) => runs.length > 0).length, 1)
    })
  }
})

test('a claim is renewed at half of its time, not by every run', async (context) => {
  const { clock, catalog, start } = world(context)
  const { runs } = start('n1')
  await clock.advance(EVERY_MS)
  const first = catalog.revision()
  await clock.advance(RENEWED_MS - 3 * EVERY_MS)
  assert.equal(catalog.revision(), first)
  await clock.advance(3 * EVERY_MS)
  assert.equal(catalog.revision(), first + 1)
  assert.ok(runs.length > 200)
})

test('another node takes over when the claim of one that is gone has ended, not before', async (context) => {
  const { clock, catalog, start } = world(context)
  const own = broken(catalog)
  const one = start('n1', 0, own.catalog)
  await clock.advance(EVERY_MS)
  const two = start('n2')
  own.gone = true
  await clock.advance(CLAIM_MS - 3 * EVERY_MS)
  assert.deepEqual(two.runs, [])
  await clock.advance(4 * EVERY_MS)
  assert.ok(two.runs.length > 0)
  // The first stops running it with half of its time left: it could not renew its claim.
  assert.ok((one.runs.at(-1) ?? Infinity) <= CLAIM_MS - RENEWED_MS)
  own.gone = false
  const ranMs = one.runs.length
  await clock.advance(10 * EVERY_MS)
  assert.equal(one.runs.length, ranMs)
  assert.equal(one.task.status.elsewhere, 'n2')
})

test('a node that starts again runs its tasks at once', async (context) => {
  const { clock, start, record } = world(context)
  const one = start('n1')
  await clock.advance(EVERY_MS)
  const before = await record()
  await clock.until(one.task.stop())
  const again = start('n1')
  await clock.advance(1)
  assert.equal(again.runs.length, 1)
  assert.notEqual((await record())?.['incarnation'], before?.['incarnation'])
})

test('a run that is longer than its claim keeps it', async (context) => {
  const { clock, start } = world(context)
  const one = start('n1', 3 * CLAIM_MS)
  await clock.advance(EVERY_MS)
  const two = start('n2')
  await clock.advance(3 * CLAIM_MS - 2 * EVERY_MS)
  assert.equal(one.task.status.state, 'running')
  assert.deepEqual([one.runs.length, two.runs.length], [1, 0])
})

test('a run whose claim cannot be renewed is halted before another node may begin one', async (context) => {
  const { clock, catalog, start } = world(context)
  const own = broken(catalog)
  const one = start('n1', 3 * CLAIM_MS, own.catalog)
  await clock.advance(EVERY_MS)
  const two = start('n2')
  own.gone = true
  await clock.advance(CLAIM_MS + 30 * EVERY_MS)
  assert.notEqual(one.task.status.state, 'running')
  assert.equal(one.task.status.runs, 1)
  const endedMs = (one.task.status.endedMs ?? Infinity) - (clock.now() - clock.elapsed())
  assert.ok(endedMs <= (two.runs[0] ?? 0), `ended at ${endedMs}, the other began at ${two.runs[0]}`)
  assert.match(
    String(one.task.status.lastError?.message),
    /network/,
    'the run was halted; what failed is the next claim',
  )
})

test('a run is halted as well where nobody answers whether its claim was renewed', async (context) => {
  const { clock, catalog, start } = world(context)
  const own = Object.create(catalog) as Catalog
  const hangs = { on: false }
  const never = Promise.withResolvers<never>()
  own.record = catalog.record.bind(catalog)
  own.commit = (changes) => (hangs.on ? never.promise : catalog.commit(changes))
  const one = start('n1', 3 * CLAIM_MS, own)
  await clock.advance(EVERY_MS)
  hangs.on = true
  await clock.advance(CLAIM_MS - 30 * EVERY_MS)
  assert.equal(one.task.status.runs, 1)
  hangs.on = false
  never.reject(new CatalogUnavailable('The writer is gone.'))
})

test('a claim that is refused for another reason than a race fails the run, and is tried again after a rest', async (context) => {
  const { clock, catalog, start } = world(context)
  const own = broken(catalog)
  let asked = 0
  own.catalog.commit = () => {
    asked++
    return Promise.reject(new CommitRefused('no-space', 0))
  }
  const { task, runs } = start('n1', 0, own.catalog)
  await clock.advance(2 * EVERY_MS)
  assert.deepEqual([asked, runs.length, task.status.failures], [3, 0, 3])
  own.catalog.commit = (changes) => catalog.commit(changes)
  await clock.advance(EVERY_MS)
  assert.equal(runs.length, 1)
})
