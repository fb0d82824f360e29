import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { divideMemory, MEMORY_MIB_DEFAULT, memoryMibMin, workersWithin } from './memory-budget.ts'

const KIB = 1024
const MIB = 2 ** 20

/** All that has a bound in bytes, in all processes. */
function sumMib(memoryMib: number, workers: number): number {
  const { worker, writerCacheKib, main } = divideMemory(memoryMib, workers)
  const { cacheKib, gatheredBytesMax, openBytesMax, piecesBytesMax } = worker
  const ofWorker = cacheKib * KIB + gatheredBytesMax + openBytesMax + piecesBytesMax
  return (workers * ofWorker + (writerCacheKib + main.cacheKib) * KIB) / MIB
}

void describe('how memory is divided', () => {
  void it('the default serves two cores, and four', () => {
    assert.ok(memoryMibMin(4) <= MEMORY_MIB_DEFAULT)
    assert.equal(workersWithin(MEMORY_MIB_DEFAULT, 2), 2)
    assert.equal(workersWithin(MEMORY_MIB_DEFAULT, 4), 4)
  })

  void it('as many workers as fit, one at least, and what fits is not refused', () => {
    for (let memoryMib = memoryMibMin(1); memoryMib < 5000; memoryMib += 97) {
      const workers = workersWithin(memoryMib, 64)
      assert.ok(workers >= 1)
      assert.ok(memoryMibMin(workers) <= memoryMib)
      assert.ok(workers === 64 || memoryMibMin(workers + 1) > memoryMib)
    }
  })

  void it('the shares are within the budget, and more memory is more of everything', () => {
    for (const workers of [1, 2, 4]) {
      let before = divideMemory(memoryMibMin(workers), workers)
      for (let memoryMib = memoryMibMin(workers); memoryMib < 4096; memoryMib += 64) {
        assert.ok(sumMib(memoryMib, workers) < memoryMib, `${memoryMib} MiB, ${workers} workers`)
        const shares = divideMemory(memoryMib, workers)
        for (const name of Object.keys(shares.worker) as (keyof typeof shares.worker)[]) {
          assert.ok(shares.worker[name] >= before.worker[name], `${name} of ${memoryMib} MiB`)
        }
        assert.ok(shares.main.pages.atOnce >= before.main.pages.atOnce)
        assert.ok(shares.main.pages.charactersMax >= before.main.pages.charactersMax)
        before = shares
      }
    }
  })
})
