/**
 * What the heaps of the product's processes take. V8 sizes the space of young objects for one process that has the machine
 * to itself: 16 MB twice, which each of ours would fill with the garbage of its requests before it looks for any.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Megabytes of young objects. With 2 in a worker a HEAD costs 8 % more; more than 4 changes nothing that can be measured. */
export const workerHeapFlags: readonly string[] = ['--max-semi-space-size=4']
export const writerHeapFlags: readonly string[] = ['--max-semi-space-size=2']

/**
 * Gives back what it took to load the programs: nothing else would look for garbage while a process is idle. Takes some
 * 50 ms, so it is for before the first request.
 */
export function trimHeap(): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
}
