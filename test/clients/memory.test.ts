/** The memory of the whole product under many connections and large bodies stays within what it was given. */
import assert from 'node:assert/strict'
import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { MEMORY_MIB_DEFAULT } from '../../src/core/memory-budget.ts'
import { MemoryWatch } from '../support/memory-samples.ts'
import { startProduct } from '../support/product.ts'
import { silentConnections, TransferClient } from '../support/transfer-client.ts'
import { canSeeProcesses } from './processes.ts'
import { reasonUnlessWhole } from './programs.ts'

const CONNECTIONS = 1000
const UPLOADS = 64
const BODY_BYTES = 64 * 2 ** 20

const LARGE_BODIES = 6
const LARGE_BODY_BYTES_MAX = 256 * 2 ** 20
/** Of the disk, for what is stored twice at most. */
const DISK_PART = 4
const MIB = 2 ** 20

const skip = canSeeProcesses ? reasonUnlessWhole('src/s3/memory.test.ts') : 'processes can be found on Linux only'

test('a thousand connections and 64 large uploads stay within the memory', { skip, timeout: 1_800_000 }, async () => {
  // Programs are compiled by the first start, which is not what this is about.
  const environment = { HOLDFAST_WORKERS: '2' }
  const first = await startProduct({ environment })
  await first.stop({ keepFolder: true })
  const product = await startProduct({ environment, folder: first.folder })
  const watch = new MemoryWatch(product.pid)
  const places = [product.s3 ?? '', product.s3Http ?? '', product.management]
  const sockets = await silentConnections(places, CONNECTIONS)
  try {
    const clients = [new TransferClient(product, false), new TransferClient(product, true)]
    const of = (n: number) => clients[n % clients.length] as TransferClient
    const { status } = await of(0).send('PUT', '/memory')
    assert.equal(status, 200)
    const objects = Array.from({ length: UPLOADS }, (_, n) => n)
    const answers = await Promise.all(
      objects.map((n) =>
        n % 4 < 2 ? of(n).put(`/memory/${n}`, n, BODY_BYTES) : of(n).putInParts(`/memory/${n}`, n, BODY_BYTES),
      ),
    )
    assert.deepEqual(
      answers.filter((answer) => answer.status !== 200),
      [],
    )
    const right = await Promise.all(objects.map((n) => of(n + 1).get(`/memory/${n}`, n, BODY_BYTES)))
    assert.deepEqual(
      objects.filter((n) => right[n] !== true),
      [],
    )
    const { totalMib, parts } = watch.stop()
    assert.ok(totalMib <= MEMORY_MIB_DEFAULT, `${Math.round(totalMib)} MiB: ${JSON.stringify(parts)}`)
  } finally {
    watch.stop()
    for (const socket of sockets) socket.destroy()
    await product.stop()
  }
})

/** 256 MiB, or less where the disk is small. */
function largeBodyBytes(): number {
  const { bavail, bsize } = statfsSync(tmpdir())
  return Math.min(LARGE_BODY_BYTES_MAX, Math.floor((bavail * bsize) / LARGE_BODIES / DISK_PART / MIB) * MIB)
}

test('bodies of 256 MiB, several at once, stay within the memory', { skip, timeout: 1_800_000 }, async () => {
  const bytes = largeBodyBytes()
  const product = await startProduct({ environment: { HOLDFAST_WORKERS: '2' } })
  const watch = new MemoryWatch(product.pid)
  try {
    const clients = [new TransferClient(product, false), new TransferClient(product, true)]
    const of = (n: number) => clients[n % clients.length] as TransferClient
    assert.equal((await of(0).send('PUT', '/large')).status, 200)
    const objects = Array.from({ length: LARGE_BODIES }, (_, n) => n)
    const answers = await Promise.all(objects.map((n) => of(n).put(`/large/${n}`, n, bytes)))
    assert.deepEqual(
      answers.map(({ status }) => status),
      objects.map(() => 200),
    )
    // While some are read, others are replaced.
    const both = await Promise.all(
      objects.map(async (n) => {
        if (n % 2 === 0) return of(n + 1).get(`/large/${n}`, n, bytes)
        return (await of(n).put(`/large/${n}`, n + 100, bytes)).status === 200
      }),
    )
    assert.deepEqual(
      both,
      objects.map(() => true),
    )
    const { totalMib, parts } = watch.stop()
    assert.ok(totalMib <= MEMORY_MIB_DEFAULT, `${Math.round(totalMib)} MiB: ${JSON.stringify(parts)}`)
    process.stdout.write(`${LARGE_BODIES} bodies of ${bytes / MIB} MiB at once: ${Math.round(totalMib)} MiB\n`)
  } finally {
    watch.stop()
    await product.stop()
  }
})
