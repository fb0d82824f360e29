import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openSqliteCatalog } from '../engines/sqlite/catalog.ts'
import { realSystem } from '../engines/system.ts'
import type { Change } from '../ports/catalog.ts'
import { VolumeSums } from './volume-sums.ts'

const open = (n: number): Change => ({ do: 'open-volume', volume: `v${n}`, sizeBytes: 1000 })

test('the counters of all volumes are those that the catalog has, after whatever happened since the last look', async () => {
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const sums = new VolumeSums(catalog, realSystem)
  const check = async () => {
    const [all, again] = await Promise.all([sums.all(), sums.all()])
    for (const [volume, counters] of await catalog.volumes()) {
      for (const found of [all, again]) {
        const { volume: named, change, ...rest } = found.get(volume) as unknown as Record<string, unknown>
        assert.deepEqual([named, rest], [volume, { ...counters }])
        assert.ok(Number(change) > 0)
      }
    }
  }
  await check()
  await catalog.commit(Array.from({ length: 1000 }, (_, n) => open(n)))
  await check()
  await catalog.commit([
    { do: 'resize-volume', volume: 'v7', sizeBytes: 2000 },
    { do: 'take-snapshot', volume: 'v8', snapshot: 's1', nowMs: 1 },
    { do: 'take-snapshot', volume: 'v8', snapshot: 's2', nowMs: 1 },
    open(1000),
  ])
  await check()
  await catalog.commit([
    { do: 'drop-snapshot', volume: 'v8', snapshot: 's1' },
    { do: 'close-volume', volume: 'v7' },
  ])
  await check()
  await catalog.commit([open(7)])
  await check()
  await catalog.close()
})

test('volumes that come and go leave no more behind than there is a bound for', async () => {
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const sums = new VolumeSums(catalog, realSystem)
  await catalog.commit([open(0)])
  let most = 0
  for (let n = 1; n < 12_000; n += 100) {
    const some = Array.from({ length: 100 }, (_, at) => n + at)
    await catalog.commit(some.map(open))
    most = Math.max(most, (await sums.all()).size)
    await catalog.commit(some.map((each): Change => ({ do: 'close-volume', volume: `v${each}` })))
  }
  assert.ok(most > 9000 && most <= 10_302, `${most}`)
  assert.ok((await sums.all()).size < 2000)
  await catalog.close()
})
