import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestCluster } from '../../../test/support/cluster.ts'
import { parseFilter } from '../../model/query.ts'
import { textAt, type Row } from '../../model/value.ts'
import { Sieve } from './sieve.ts'

const ROWS = 1000
/** What is derived of rows is derived of so many at a time. */
const PIECE_MAX = 50

test('of many rows those that pass are found, a few at a time, be they many or few', async () => {
  const started = await startTestCluster()
  const { cluster } = started
  const behaviour = cluster.behaviour('storage/volumes')
  const [svm] = await cluster.rows('svm/svms')
  const rows = Array.from({ length: ROWS }, (_, n): Row => {
    const owner = n % 7 === 0 ? 'nobody' : (svm?.['uuid'] ?? '')
    return { uuid: `u${n}`, name: `vol_${n}`, size: n, 'svm.uuid': owner, ...(n % 3 === 0 ? { comment: 'x' } : {}) }
  })
  const found = async (...filters: [string, string][]) => {
    const parsed = filters.map(([path, text]) => parseFilter(behaviour.resource, path, text, cluster.release))
    const sieve = new Sieve(cluster, behaviour, parsed, [])
    const names: unknown[] = []
    for await (const some of sieve.candidates(rows)) {
      assert.ok(some.length <= PIECE_MAX, String(some.length))
      names.push(...(await sieve.sift(some)).map(({ name }) => name))
    }
    return names
  }
  const named = (isFound: (n: number) => boolean) => rows.filter((_, n) => isFound(n)).map(({ name }) => name)
  assert.deepEqual(
    await found(),
    named(() => true),
  )
  assert.deepEqual(
    await found(['size', '>=0']),
    named(() => true),
  )
  assert.deepEqual(
    await found(['name', 'vol_77*']),
    named((n) => String(n).startsWith('77')),
  )
  assert.deepEqual(await found(['size', '<0']), [])
  assert.deepEqual(
    await found(['comment', 'null']),
    named((n) => n % 3 !== 0),
  )
  assert.deepEqual(
    await found(['comment', 'x'], ['size', '>500']),
    named((n) => n % 3 === 0 && n > 500),
  )
  assert.deepEqual(
    await found(['svm.name', textAt(svm, 'name')]),
    named((n) => n % 7 !== 0),
  )
  assert.deepEqual(await found(['svm.name', 'other']), [])
  await started.close()
})
