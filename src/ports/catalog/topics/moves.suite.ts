import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Catalog, Change } from '../../catalog.ts'
import { bytes, draft, openBucket, part, put, refused } from '../fixtures.suite.ts'

export function proveMoves(catalog: () => Catalog): void {
  const commit = (...changes: Change[]) => catalog().commit(changes)
  const names = (blobs: readonly { readonly blob: string }[]) => blobs.map(({ blob }) => blob)

  void describe('moves', () => {
    void it('all blobs of a volume are given in pages, in the order of their names', async () => {
      await openBucket(catalog(), 'move1')
      await commit(put('move1', 'a', draft('c')), put('move1', 'b', draft('a', 7)), put('move1', 'd', draft('b')))
      await commit({ do: 'delete-object', bucket: 'move1', key: bytes('d') })
      assert.deepEqual(await catalog().blobs('move1-v', '', 2), [
        { blob: 'a', sizeBytes: 7 },
        { blob: 'b', sizeBytes: 10 },
      ])
      assert.deepEqual(names(await catalog().blobs('move1-v', 'b', 2)), ['c'])
      assert.deepEqual(names(await catalog().blobs('move1-v', 'c', 2)), [])
    })

    void it('blobs that come to a volume while it is moved are noted, and no others', async () => {
      await openBucket(catalog(), 'move2')
      const upload = { upload: 'u', key: bytes('p'), startedMs: 1, details: {} }
      await commit(put('move2', 'a', draft('before')), { do: 'open-upload', bucket: 'move2', upload })
      await commit({ do: 'begin-move', volume: 'move2-v' })
      await commit(put('move2', 'b', draft('one')), put('move2', 'c', draft('before')))
      await commit({ do: 'put-part', bucket: 'move2', upload: 'u', part: part(1, 'two'), maxTotalBytes: 1e9 })
      await commit({ do: 'begin-move', volume: 'move2-v' })
      assert.deepEqual(await catalog().arrivals('move2-v', 10), [
        { blob: 'one', sizeBytes: 10 },
        { blob: 'two', sizeBytes: 10 },
      ])
      await commit({ do: 'drop-arrivals', volume: 'move2-v', blobs: ['one', 'never'] })
      assert.deepEqual(names(await catalog().arrivals('move2-v', 10)), ['two'])
      await commit({ do: 'move-volume', volume: 'move2-v', tree: 'move2-new' }, put('move2', 'd', draft('after')))
      assert.deepEqual(names(await catalog().arrivals('move2-v', 10)), ['two'], 'what came before stays to be copied')
      await commit({ do: 'end-move', volume: 'move2-v' }, { do: 'end-move', volume: 'move2-v' })
      assert.deepEqual(await catalog().arrivals('move2-v', 10), [])
      assert.deepEqual(names(await catalog().blobs('move2-v', '', 10)), ['after', 'before', 'one', 'two'])
    })

    void it('a write whose blobs are where the volume was is refused, and changes nothing', async () => {
      await openBucket(catalog(), 'move3')
      const upload = { upload: 'u', key: bytes('p'), startedMs: 1, details: {} }
      await commit({ do: 'open-upload', bucket: 'move3', upload }, put('move3', 'a', draft('a'), { tree: 'move3-v' }))
      await commit({ do: 'move-volume', volume: 'move3-v', tree: 'move3-new' })
      await refused('moved', commit(put('move3', 'a', draft('b'), { tree: 'move3-v' })))
      const putPart = { do: 'put-part', bucket: 'move3', upload: 'u', part: part(1, 'p'), maxTotalBytes: 1e9 } as const
      await refused('moved', commit({ ...putPart, tree: 'move3-v' }))
      assert.deepEqual(names(await catalog().blobs('move3-v', '', 10)), ['a'])
      await commit(put('move3', 'a', draft('b'), { tree: 'move3-new' }), { ...putPart, tree: 'move3-new' })
      await commit(put('move3', 'c', draft('b'), { shares: true }))
      assert.deepEqual(names(await catalog().blobs('move3-v', '', 10)), ['a', 'b', 'p'])
    })

    void it('a clone that moved inherits nothing, and no longer keeps the blobs of its parent', async () => {
      await openBucket(catalog(), 'move4')
      await commit(put('move4', 'a', draft('a')), put('move4', 'b', draft('b')))
      await commit({ do: 'take-snapshot', volume: 'move4-v', snapshot: 'w4-s', nowMs: 1 })
      await commit(
        { do: 'open-volume', volume: 'w4-clone', sizeBytes: 1e9, tree: 'move4-v' },
        { do: 'open-bucket', bucket: 'w4-c', volume: 'w4-clone', limitBytes: 1e9 },
        { do: 'clone-rows', bucket: 'w4-c', from: 'move4', snapshot: 'w4-s', limit: 10 },
      )
      assert.equal((await catalog().volume('w4-clone'))?.inheritedBytes, 20)
      assert.deepEqual(await catalog().volumesIn('move4-v'), ['move4-v', 'w4-clone'])
      await commit({ do: 'move-volume', volume: 'w4-clone', tree: 'move4-new' })
      assert.deepEqual(await catalog().volumesIn('move4-v'), ['move4-v'])
      assert.deepEqual(await catalog().volumesIn('move4-new'), ['w4-clone'])
      await commit({ do: 'delete-object', bucket: 'w4-c', key: bytes('a') })
      const { inheritedBytes, usedBytes } = (await catalog().volume('w4-clone')) ?? {}
      assert.deepEqual({ inheritedBytes, usedBytes }, { inheritedBytes: 0, usedBytes: 10 })
      assert.deepEqual(await catalog().unneededBlobs('w4-clone', 10), ['a'], 'its own copy is not needed any more')
      assert.deepEqual(await catalog().unneededBlobs('move4-v', 10), [])
      await commit({ do: 'drop-blobs', volume: 'w4-clone', blobs: ['a'] })
      assert.deepEqual(await catalog().knownBlobs('w4-clone', ['a', 'b']), new Set(['b']))
      assert.deepEqual(await catalog().knownBlobs('w4-clone', ['a', 'b'], ['move4-v']), new Set(['a', 'b']))
      assert.deepEqual(await catalog().knownBlobs('move4-v', ['a', 'b'], []), new Set(['a', 'b']))
      assert.deepEqual(await catalog().knownBlobs('w4-clone', ['a', 'b'], []), new Set(['b']))
    })

    void it('a volume that is deleted while it is moved leaves no notes', async () => {
      await openBucket(catalog(), 'move5')
      await commit({ do: 'begin-move', volume: 'move5-v' }, put('move5', 'a', draft('a')))
      await commit({ do: 'close-volume', volume: 'move5-v', withBuckets: true })
      assert.deepEqual(await catalog().arrivals('move5-v', 10), [])
      assert.deepEqual(await catalog().volumesIn('move5-v'), [])
      await commit({ do: 'end-move', volume: 'move5-v' })
    })
  })
}
