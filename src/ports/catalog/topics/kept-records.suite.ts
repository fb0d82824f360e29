/** Records that snapshots of their volume show as they were. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Catalog, Change } from '../../catalog.ts'
import { SEED } from '../model/steps.suite.ts'

const TYPE = 'kept'
const KEYS = ['a', 'b', 'c']

const step = fc.record({
  does: fc.constantFrom('put', 'put', 'put', 'remove', 'take', 'take', 'take of a bucket', 'drop', 'restore'),
  key: fc.constantFrom(...KEYS),
  which: fc.nat(5),
})

let runs = 0

export function proveKeptRecords(catalog: () => Catalog, numRuns: number): void {
  void describe(`records in snapshots (SEED=${SEED})`, () => {
    void it('each snapshot shows records as they were when it was taken, whatever is done to them and to other snapshots', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), async (steps) => {
          const volume = `kept-${++runs}`
          const commit = (...changes: Change[]) => catalog().commit(changes)
          const keyOf = (key: string) => `${volume}/${key}`
          const read = async (snapshot: string) => {
            const found: [string, unknown][] = []
            for (let after = '', page = 2; page === 2;) {
              const rows = await catalog().recordsAt(TYPE, { volume, snapshot }, after, 2)
              found.push(...rows.map(({ key, body }): [string, unknown] => [key, body['n']]))
              after = rows.at(-1)?.key ?? after
              page = rows.length
            }
            return found
          }
          await commit(
            { do: 'open-volume', volume, sizeBytes: 1000 },
            { do: 'open-bucket', bucket: volume, volume, limitBytes: 1000 },
          )
          const now = new Map<string, number>()
          let taken: { name: string; shows: [string, number][] }[] = []
          for (const [n, { does, key, which }] of steps.entries()) {
            const at = taken.length === 0 ? undefined : taken[which % taken.length]
            if (does === 'put') {
              const put = { do: 'put-record', type: TYPE, key: keyOf(key), parent: volume, body: { n } } as const
              await commit({ ...put, isInSnapshots: true })
              now.set(keyOf(key), n)
            } else if (does === 'remove') {
              await commit({ do: 'remove-record', type: TYPE, key: keyOf(key) })
              now.delete(keyOf(key))
            } else if (does === 'take') {
              await commit({ do: 'take-snapshot', volume, snapshot: `s${n}`, nowMs: 1 })
              taken.push({ name: `s${n}`, shows: [...now].toSorted(([a], [b]) => (a < b ? -1 : 1)) })
            } else if (does === 'take of a bucket') {
              await commit({ do: 'take-snapshot', volume, bucket: volume, snapshot: `s${n}`, nowMs: 1 })
            } else if (at !== undefined && does === 'drop') {
              await commit({ do: 'drop-snapshot', volume, snapshot: at.name })
              taken = taken.filter((one) => one !== at)
            } else if (at !== undefined) {
              await commit({ do: 'begin-restore', volume, snapshot: at.name }, { do: 'finish-restore', volume })
              taken = taken.slice(0, taken.indexOf(at) + 1)
            }
            for (const { name, shows } of taken) assert.deepEqual(await read(name), shows)
          }
          assert.deepEqual(await read('none'), [])
          await commit({ do: 'close-volume', volume, withBuckets: true })
        }),
        { seed: SEED, numRuns },
      )
    })

    void it('a record that is put without saying so, or of another type, is in no snapshot', async () => {
      const volume = 'kept-none'
      const put = { do: 'put-record', key: `${volume}/k`, parent: volume, body: {} } as const
      await catalog().commit([
        { do: 'open-volume', volume, sizeBytes: 1000 },
        { ...put, type: TYPE },
        { ...put, type: 'other', isInSnapshots: true },
        { do: 'take-snapshot', volume, snapshot: 's', nowMs: 1 },
        { do: 'remove-record', type: TYPE, key: put.key },
      ])
      assert.deepEqual(await catalog().recordsAt(TYPE, { volume, snapshot: 's' }, '', 10), [])
    })
  })
}
