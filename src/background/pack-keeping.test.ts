import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textAt } from '../model/value.ts'
import type { CompactManner, Compacted } from '../ports/volumes.ts'
import { startTestCluster } from '../../test/support/cluster.ts'
import { PackKeeping } from './pack-keeping.ts'

const NOTHING: Compacted = { freedBytes: 0, damaged: [], misread: 0, setAside: 0, waiting: 0 }

async function watched(answer: (tree: string, manner: CompactManner) => Promise<Partial<Compacted>>) {
  const { cluster, clock, volumes } = await startTestCluster()
  const asked: string[] = []
  volumes.compact = async (tree: string, manner: CompactManner) => {
    asked.push(`${tree} ${manner.deadShare}${manner.all === true ? ' all' : ''}`)
    return { ...NOTHING, ...(await answer(tree, manner)) }
  }
  const [aggregate = ''] = (await cluster.rows('storage/aggregates')).map((row) => textAt(row, 'uuid'))
  const placeOf = (tree: string) => ({ aggregate, tree })
  const stop = new AbortController()
  const keeping = new PackKeeping(cluster, stop.signal, { deadShare: 0.25 })
  const round = async (...trees: readonly string[]) => {
    asked.length = 0
    await keeping.round(async () => trees.map(placeOf))
    return [...asked]
  }
  return { keeping, clock, stop, round, note: (tree: string) => keeping.note(placeOf(tree)) }
}

test('the first look is at all packs of all trees, each tree once, and later ones are where something was unlinked', async () => {
  const { round, note } = await watched(async () => ({}))
  assert.deepEqual(await round('a', 'b', 'a'), ['a 0.25 all', 'b 0.25 all'])
  assert.deepEqual(await round('a', 'b'), [])
  note('b')
  note('b')
  assert.deepEqual(await round('a', 'b'), ['b 0.25'])
  assert.deepEqual(await round('a', 'b'), [])
})

test('a tree whose packs are still appended to is looked at again after a while, also without another deletion', async () => {
  let waiting = 1
  const { round, note, clock } = await watched(async () => ({ waiting }))
  await round()
  note('a')
  assert.deepEqual(await round(), ['a 0.25'])
  assert.deepEqual(await round(), [])
  waiting = 0
  clock.aheadMs += 30_001
  assert.deepEqual(await round(), ['a 0.25'])
  clock.aheadMs += 30_001
  assert.deepEqual(await round(), [])
})

test('a disk that fails does not keep others from theirs, and is tried again', async () => {
  const { round, clock } = await watched(async (tree) => {
    if (tree === 'a') throw new Error('broken')
    return {}
  })
  assert.deepEqual(await round('a', 'b'), ['a 0.25 all', 'b 0.25 all'])
  clock.aheadMs += 30_001
  assert.deepEqual(await round(), ['a 0.25 all'])
})

test('what is under way ends when the cluster stops', async () => {
  const { round, stop } = await watched(async (_, { between }) => {
    stop.abort()
    await between?.(2 ** 40)
    throw new Error('It was not ended.')
  })
  assert.deepEqual(await round('a', 'b'), ['a 0.25 all'])
})
