import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Transfers } from './transfers.ts'

const KIB = 1024

void describe('what bodies on their way may hold', () => {
  void it('turns are taken in the order in which they were asked for, and no more than there are', async () => {
    const transfers = new Transfers({ turnsMax: 2, openBytesMax: 1 })
    const begun: number[] = []
    assert.ok(transfers.tryTurn())
    await transfers.turn()
    const others = [1, 2, 3].map((n) => transfers.turn().then(() => begun.push(n)))
    assert.ok(transfers.isShort)
    assert.equal(transfers.tryTurn(), false)
    transfers.endTurn()
    await others[0]
    transfers.endTurn()
    await others[1]
    assert.deepEqual(begun, [1, 2])
    transfers.endTurn()
    await others[2]
    assert.deepEqual(begun, [1, 2, 3])
    assert.equal(transfers.isShort, false)
  })

  void it('nobody overtakes who waits, and all turns come back', async () => {
    const transfers = new Transfers({ turnsMax: 1, openBytesMax: 1 })
    assert.ok(transfers.tryTurn())
    const waiting = transfers.turn()
    transfers.endTurn()
    assert.equal(transfers.tryTurn(), false)
    await waiting
    transfers.endTurn()
    assert.ok(transfers.tryTurn())
  })

  void it('a body counts with its size, a large one with 64 KiB; beyond the bound clients are to slow down', () => {
    const transfers = new Transfers({ turnsMax: 1, openBytesMax: 128 * KIB })
    const close = transfers.open(2 ** 40)
    transfers.open(Infinity)
    assert.throws(() => transfers.open(1), { code: 'SlowDown' })
    transfers.open(0)
    close()
    transfers.open(64 * KIB)
    assert.throws(() => transfers.open(1), { code: 'SlowDown' })
  })

  void it('what nobody holds is looked for after so many bytes', () => {
    let collected = 0
    const transfers = new Transfers(undefined, { everyBytes: 100, collect: () => collected++ })
    for (let n = 0; n < 25; n++) transfers.moved(10)
    assert.equal(collected, 2)
  })
})
