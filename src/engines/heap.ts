/**
 * What the heaps of the product's processes take. V8 sizes the space of young objects for one process that has the machine
 * to itself: 16 MB twice, which each of ours would fill with the garbage of its requests before it looks for any. And it
 * lets the old space grow up to fourfold before it looks there, and never looks while a process is idle.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Megabytes of young objects. With 2 in a worker a HEAD costs 8 % more; more than 4 changes nothing that can be measured. */
export const workerHeapFlags: readonly string[] = ['--max-semi-space-size=4']
export const writerHeapFlags: readonly string[] = ['--max-semi-space-size=2']

/**
 * For the allocator of glibc, which others do not read. Buffers of requests are freed in another order than they were made:
 * with more than two arenas, and with thresholds that grow, most of what is freed stays with the process.
 */
export const mallocEnvironment: Readonly<Record<string, string>> = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_TRIM_THRESHOLD_: '131072',
  MALLOC_MMAP_THRESHOLD_: '65536',
}

/** So much more than was left by the last look the old space gets before V8 looks again. */
const GROWING_PERCENT = 30
/** A process that took so much more since it last was idle looks for garbage when it is idle again. */
const GROWN_BYTES = 8 * 2 ** 20
const IDLE_LOOK_MS = 3000
/** A process that was on a processor for less than this part of the time is idle. */
const IDLE_SHARE = 0.05

type Collect = (how?: { readonly type: 'minor' | 'major' }) => void

let collect: Collect | undefined

function collector(): Collect {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as Collect
  }
  return collect
}

/**
 * Gives back what it took to load the programs: nothing else would look for garbage while a process is idle. Takes some
 * 50 ms, so it is for before the first request.
 */
export function trimHeap(): void {
  collector()()
}

/**
 * Makes what gives back the buffers that nobody holds any more: V8 does not count what they take before there are 64 MB of
 * them. The young ones take a millisecond or two; those that were held for longer take some 30 ms, so these are looked
 * for only when there is too much in buffers, and not again before as many more came.
 */
export function bufferTrimmer(buffersBytesMax: number): () => void {
  const inBuffers = (): number => process.memoryUsage().arrayBuffers
  let enough = buffersBytesMax
  return () => {
    collector()({ type: 'minor' })
    if (inBuffers() <= enough) return
    collector()()
    enough = Math.max(buffersBytesMax, inBuffers() + buffersBytesMax / 2)
  }
}

/** Lets the heap grow in small steps, and looks for garbage whenever the process has become idle after work. */
export function keepHeapSmall(onIdle: () => void = () => undefined): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`)
  const taken = (): number => {
    const { heapTotal, external } = process.memoryUsage()
    return heapTotal + external
  }
  let settled = taken()
  let [sinceMs, cpu] = [performance.now(), process.cpuUsage()]
  setInterval(() => {
    const used = process.cpuUsage(cpu)
    const share = (used.user + used.system) / 1000 / (performance.now() - sinceMs)
    ;[sinceMs, cpu] = [performance.now(), process.cpuUsage()]
    if (share > IDLE_SHARE || taken() < settled + GROWN_BYTES) return
    onIdle()
    trimHeap()
    settled = taken()
  }, IDLE_LOOK_MS).unref()
}
