import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readBytes } from './limits.ts'
import { PieceBuffers, smallBytes } from './piece-buffers.ts'

void describe('buffers for pieces', () => {
  void it('a buffer is lent again when it was given back, whole, and not before', () => {
    const buffers = new PieceBuffers()
    const first = buffers.take()
    const second = buffers.take()
    assert.notEqual(first.buffer, second.buffer)
    buffers.giveBack(first.subarray(10, 20))
    const third = buffers.take()
    assert.equal(third.buffer, first.buffer)
    assert.equal(third.length, first.length)
  })

  void it('a buffer that is given back twice, or is from elsewhere, is lent to nobody', () => {
    const buffers = new PieceBuffers()
    const lent = buffers.take()
    buffers.giveBack(lent)
    buffers.giveBack(lent)
    buffers.giveBack(Buffer.alloc(10))
    assert.equal(buffers.take().buffer, lent.buffer)
    assert.notEqual(buffers.take().buffer, lent.buffer)
  })

  void it('when all large ones are lent, small ones are, and whoever asks waits for nobody', () => {
    const buffers = new PieceBuffers(2 * readBytes)
    const [first, second] = [buffers.take(), buffers.take()]
    assert.equal(second.length, readBytes)
    assert.ok(buffers.isShort)
    const small = buffers.take()
    assert.equal(small.length, smallBytes)
    buffers.giveBack(small)
    assert.equal(buffers.take().length, smallBytes)
    buffers.giveBack(first)
    assert.equal(buffers.take().buffer, first.buffer)
  })
})
