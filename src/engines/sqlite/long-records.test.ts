import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openSqliteCatalog } from './catalog.ts'

test('of long records that many ask for at once, one is parsed in each turn of the event loop', async () => {
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const body = { text: 'x'.repeat(100_000) }
  await catalog.commit([{ do: 'put-record', type: 'things', key: 'long', body }])
  let read = 0
  const reading = Array.from({ length: 8 }, async () => {
    assert.deepEqual((await catalog.record('things', 'long'))?.body, body)
    read++
  })
  for (let turns = 0; read < reading.length; turns++) {
    const before = read
    await nextTurn()
    assert.ok(read - before <= 2, `${read - before} in one turn`)
    assert.ok(turns < 100)
  }
  await Promise.all(reading)
  await catalog.close()
})
