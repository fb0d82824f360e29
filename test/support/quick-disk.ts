import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const IN_MEMORY = '/dev/shm'
/** Containers often have 64 MB there, which a few catalogs fill. */
const FREE_BYTES_MIN = 2 ** 30

/**
 * Where tests keep what they wait for often: a disk in memory where there is one with room. A process that is killed
 * loses nothing there either; only a machine would.
 */
export const QUICK_DISK = freeBytes(IN_MEMORY) >= FREE_BYTES_MIN ? IN_MEMORY : tmpdir()

function freeBytes(place: string): number {
  try {
    const { bavail, bsize } = statfsSync(place)
    return bavail * bsize
  } catch {
    return 0
  }
}
