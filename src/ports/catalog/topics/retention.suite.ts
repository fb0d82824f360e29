import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Catalog, Change, ObjectLock } from '../../catalog.ts'
import { bytes, draft, openBucket, put, reclaimAll, refused, setVersioning, takeSnapshot } from '../fixtures.suite.ts'

export function proveRetention(catalog: () => Catalog): void {
  type Amend = Extract<Change, { do: 'amend-object' }>
  const commit = (...changes: Change[]) => catalog().commit(changes)
  const open = async (bucket: string, lock?: ObjectLock, legalHold?: boolean) => {
    await openBucket(catalog(), bucket)
    await setVersioning(catalog(), bucket, 'enabled')
    const held = { ...(lock === undefined ? {} : { lock }), ...(legalHold === undefined ? {} : { legalHold }) }
    await commit(put(bucket, 'k', { ...draft(`${bucket}:1`, 10, { a: 1, b: 2 }), version: 'v1', ...held }))
  }
  const drop = (bucket: string, more: { nowMs?: number; bypassGovernance?: boolean } = {}) =>
    commit({ do: 'delete-object', bucket, key: bytes('k'), version: 'v1', ...more })
  const amend = (bucket: string, more: Partial<Amend>) =>
    commit({ do: 'amend-object', bucket, key: bytes('k'), nowMs: 5, ...more })
  const row = (bucket: string, epoch?: number) =>
    catalog().object(bucket, bytes('k'), epoch === undefined ? undefined : { epoch }, 'v1')
  const until = (mode: ObjectLock['mode'], untilMs: number): ObjectLock => ({ mode, untilMs })

  void describe('locks and holds', () => {
    void it('a row under compliance stays until its time is over, whoever asks', async () => {
      await open('r1', until('compliance', 10))
      await refused('locked', drop('r1', { nowMs: 9 }))
      await refused('locked', drop('r1', { nowMs: 9, bypassGovernance: true }))
      await refused('locked', drop('r1'))
      assert.deepEqual((await row('r1'))?.lock, until('compliance', 10))
      await drop('r1', { nowMs: 10 })
    })

    void it('a row under governance gives way to a bypass, a legal hold to nothing', async () => {
      await open('r2', until('governance', 10), true)
      await refused('locked', drop('r2', { nowMs: 20, bypassGovernance: true }))
      await amend('r2', { legalHold: false })
      assert.equal((await row('r2'))?.legalHold, false)
      await refused('locked', drop('r2', { nowMs: 9 }))
      await drop('r2', { nowMs: 9, bypassGovernance: true })
    })

    void it('a delete marker and a new version cover what is locked', async () => {
      await open('r3', until('compliance', 10), true)
      const marker = { version: 'v2', modifiedMs: 1 }
      await commit({ do: 'delete-object', bucket: 'r3', key: bytes('k'), marker })
      await commit(put('r3', 'k', { ...draft('r3:3'), version: 'v3' }))
      assert.equal((await row('r3'))?.isCurrent, false)
      await refused('locked', drop('r3', { nowMs: 9 }))
    })

    void it('the row null is not replaced while it is locked', async () => {
      await openBucket(catalog(), 'r4')
      await setVersioning(catalog(), 'r4', 'suspended')
      await commit(put('r4', 'k', { ...draft('r4:1'), lock: until('governance', 10) }))
      const marker = { version: 'm', modifiedMs: 1 }
      await refused('locked', commit(put('r4', 'k', draft('r4:2'), { nowMs: 9 })))
      await refused('locked', commit({ do: 'delete-object', bucket: 'r4', key: bytes('k'), marker, nowMs: 9 }))
      await commit(put('r4', 'k', draft('r4:2'), { nowMs: 10 }))
    })

    void it('compliance may only be extended', async () => {
      await open('r5', until('compliance', 10))
      const bypassGovernance = true
      for (const lock of [null, until('compliance', 9), until('governance', 20)])
        await refused('locked', amend('r5', { lock, bypassGovernance }))
      await amend('r5', { lock: until('compliance', 12) })
      assert.deepEqual((await row('r5'))?.lock, until('compliance', 12))
      await amend('r5', { lock: until('governance', 13), nowMs: 12 })
      await amend('r5', { lock: null, nowMs: 13 })
      assert.equal((await row('r5'))?.lock, undefined)
    })

    void it('governance may be extended, and with a bypass shortened, changed and removed', async () => {
      await open('r6', until('governance', 10))
      for (const lock of [null, until('governance', 9), until('compliance', 20)])
        await refused('locked', amend('r6', { lock }))
      await amend('r6', { lock: until('governance', 11) })
      const bypassGovernance = true
      await amend('r6', { lock: until('governance', 7), bypassGovernance })
      await amend('r6', { lock: null, bypassGovernance })
      await amend('r6', { lock: until('compliance', 7) })
    })
  })

  void describe('amendments', () => {
    void it('details named take the place of those that are there, null removes one, and no version is made', async () => {
      await open('r7', until('compliance', 10), true)
      assert.deepEqual(await amend('r7', { details: { a: null, c: [3] } }), [{ version: 'v1' }])
      const after = await row('r7')
      assert.deepEqual([after?.details, after?.etag], [{ b: 2, c: [3] }, 'r7:1'])
      assert.deepEqual([after?.lock, after?.legalHold], [until('compliance', 10), true])
      const counters = await catalog().bucket('r7')
      assert.deepEqual([counters?.objects, counters?.versions, counters?.usedBytes], [1, 0, 10])
    })

    void it('what is not there, or a marker, is not amended', async () => {
      await open('r8')
      await refused('absent', amend('r8', { version: 'v9', legalHold: true }), { scope: '' })
      await refused('absent', amend('r8', { key: bytes('n'), legalHold: true }))
      await commit({ do: 'delete-object', bucket: 'r8', key: bytes('k'), marker: { version: 'v2', modifiedMs: 1 } })
      await refused('absent', amend('r8', { legalHold: true }), { scope: 'marker' })
      await amend('r8', { version: 'v1', legalHold: true })
    })

    void it('a snapshot shows a row as it was before it was amended, and holds no bytes for that', async () => {
      await open('r9')
      const epoch = await takeSnapshot(catalog(), 'r9-v', 's')
      await amend('r9', { details: { a: 9 }, legalHold: true })
      await amend('r9', { details: { a: 10 } })
      assert.deepEqual(
        [(await row('r9', epoch))?.details, (await row('r9', epoch))?.legalHold],
        [{ a: 1, b: 2 }, undefined],
      )
      assert.deepEqual([(await row('r9'))?.details, (await row('r9'))?.legalHold], [{ a: 10, b: 2 }, true])
      const sums = async () => {
        const counters = await catalog().volume('r9-v')
        return [counters?.usedBytes, counters?.snapshotBytes]
      }
      assert.deepEqual(await sums(), [10, 0])
      await amend('r9', { legalHold: false })
      await drop('r9')
      assert.deepEqual(await sums(), [10, 10])
      await commit({ do: 'drop-snapshot', volume: 'r9-v', snapshot: 's' })
      assert.equal(await reclaimAll(catalog(), 'r9-v'), 1)
      assert.deepEqual(await sums(), [0, 0])
    })
  })
}
