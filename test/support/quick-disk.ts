import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'

/**
 * Where tests keep what they wait for often: a disk in memory where there is one. A process that is killed loses nothing
 * there either; only a machine would.
 */
export const QUICK_DISK = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
