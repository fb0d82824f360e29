import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keepWriter } from '../../bin/writer.ts'
import type { Log } from '../../src/core/cluster.ts'
import type { WriterProcess } from '../../src/engines/sqlite/start-writer.ts'

test('a writer that ends again and again is started again after pauses that grow, also when a start fails', async () => {
  const pauses: unknown[] = []
  const note = (_message: string, details?: Readonly<Record<string, unknown>>) => pauses.push(details?.['pauseMs'])
  const ignored = () => undefined
  const log: Log = { debug: ignored, info: ignored, warn: ignored, error: note }
  const lasting = Promise.withResolvers<number>()
  const process = (ended: Promise<number>): WriterProcess => ({
    pid: 1,
    isProven: true,
    hasLost: false,
    ended,
    stop: () => Promise.resolve(lasting.resolve(0)),
  })
  const settled = Promise.withResolvers<void>()
  let starts = 0
  const kept = await keepWriter((isFirst) => {
    assert.equal(isFirst, starts === 0)
    starts++
    if (starts === 3) return Promise.reject(new Error('The catalog has a writer already.'))
    if (starts < 5) return Promise.resolve(process(Promise.resolve(1)))
    settled.resolve()
    return Promise.resolve(process(lasting.promise))
  }, log)
  await settled.promise
  assert.deepEqual(pauses, [50, 100, 400])
  await kept.stop()
})
