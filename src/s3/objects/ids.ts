import type { System } from '../../ports/system.ts'

/**
 * Names of blobs and uploads: 12 hex digits of milliseconds, 20 of chance. Names made later sort later, so a name tells
 * its age: whoever collects rubbish can leave alone what is being written.
 *
 *     019aa4c1b2d0 5e1c0f9a7b3d2244aa01
 */
export function newId({ clock, random }: System): string {
  return clock.now().toString(16).padStart(12, '0') + random.bytes(10).toString('hex')
}

/** Whether this could be such a name. */
export function isId(text: string): boolean {
  return /^[0-9a-f]{32}$/.test(text)
}
