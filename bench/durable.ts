/**
 * What the disk allows: new files of some bytes, each written and made durable with fdatasync, so many in flight, in
 * plain Node without any server. A PUT that is durable cannot be faster than this. In a process of its own, because the
 * number of threads for file work is set at its start.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Load } from './order.ts'

export interface DurableOrder {
  readonly folder: string
  readonly bytes: number
  readonly clients: number
  readonly seconds: number
}

process.on('disconnect', () => process.exit(0))
process.on('message', (order: DurableOrder) => {
  writeFiles(order).then(
    (load) => process.send?.({ load }),
    (failure: unknown) => process.send?.({ failure: String(failure) }),
  )
})

async function writeFiles({ folder, bytes, clients, seconds }: DurableOrder): Promise<Load> {
  const within = join(folder, 'durable')
  await mkdir(within, { recursive: true })
  const body = randomBytes(bytes)
  const milliseconds: number[] = []
  let n = 0
  const startMs = performance.now()
  const client = async () => {
    do {
      const sentMs = performance.now()
      const file = await open(join(within, `${n++}`), 'wx')
      await file.write(body)
      await file.datasync()
      await file.close()
      milliseconds.push(performance.now() - sentMs)
    } while (performance.now() - startMs < seconds * 1000)
  }
  await Promise.all(Array.from({ length: clients }, client))
  const took = (performance.now() - startMs) / 1000
  await rm(within, { recursive: true })
  return {
    seconds: took,
    milliseconds: Float64Array.from(milliseconds),
    bytes: milliseconds.length * bytes,
    failures: {},
    firstFailure: '',
    next: 0,
  }
}
