import { rmdir } from 'node:fs/promises'
import { codeOf } from './failures.ts'

const STAY: ReadonlySet<string> = new Set(['ENOENT', 'ENOTEMPTY', 'EEXIST', 'EBUSY', 'EACCES', 'EPERM', 'EROFS'])

/** Removes a folder that nothing is in and nobody needs. Tells whether it did. */
export async function removeEmpty(folder: string): Promise<boolean> {
  try {
    await rmdir(folder)
    return true
  } catch (failure) {
    if (STAY.has(codeOf(failure))) return false
    throw failure
  }
}
