/**
 * Whether a page costs the same however large the bucket is: buckets of a thousand keys and of very many, all pages of
 * which are listed alike, and the ratio of the times. In a process and a catalog of its own, straight at the port.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { startScale } from './helpers.ts'
import type { Load } from './order.ts'

export async function measureScale(bench: Bench): Promise<void> {
  const { scaleKeys } = bench.settings
  bench.title(`Pages by the catalog's port, of buckets of ${scaleKeys.map(counted).join(', ')} keys`)
  const lister = startScale()
  const folder = join(bench.parts.folder, 'scale')
  try {
    const { fills, pages, residentMegabytes, fileMegabytes } = await lister.run({ folder, keys: scaleKeys })
    for (const { keys, seconds } of fills) bench.say(`(${counted(keys)} rows written in ${seconds.toFixed(1)} s)`)
    for (const { what, each } of pages) {
      const [smallest = []] = each
      for (const [at, milliseconds] of each.entries()) {
        const ratio = quick(milliseconds) / quick(smallest)
        const note = at === 0 ? undefined : `${ratio.toFixed(2)} of ${counted(scaleKeys[0] ?? 0)} keys`
        bench.add(`${counted(scaleKeys[at] ?? 0)}: ${what}`, 1, new Map([['product', [loadOf(milliseconds)]]]), {
          note,
        })
      }
    }
    bench.say(
      `The catalog's file has ${fileMegabytes} MB; the process that filled and read it had at most ${residentMegabytes}.`,
    )
  } finally {
    lister.end()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

const counted = (n: number) => n.toLocaleString('en')

/** The quickest tenth takes less than this. Slower ones tell more of what else the machine did. */
function quick(milliseconds: readonly number[]): number {
  return milliseconds.toSorted((a, b) => a - b)[Math.floor(milliseconds.length / 10)] ?? Number.NaN
}

function loadOf(milliseconds: readonly number[]): Load {
  const seconds = milliseconds.reduce((sum, ms) => sum + ms, 0) / 1000
  const none = { bytes: 0, failures: {}, firstFailure: '', next: 0 }
  return { seconds, milliseconds: Float64Array.from(milliseconds), ...none }
}
