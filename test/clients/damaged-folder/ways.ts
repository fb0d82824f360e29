/** The ways in which a file is damaged: by a disk, by a file system after a crash, or by who restores files by hand. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Dice } from './dice.ts'

export const WAYS = ['flipped', 'truncated', 'emptied', 'removed', 'older', 'swapped'] as const
export type Way = (typeof WAYS)[number]

export interface Others {
  /** A copy of the file as it was before. */
  readonly older?: string
  /** What it is swapped with. */
  readonly partner?: string
  /** Only the first so many bytes are flipped: other flips cannot be found. */
  readonly flips?: number
}

/** Damages a file. Tells whether it is another one now: some have no older copy, and some are empty as ever. */
export function damage(way: Way, file: string, dice: Dice, { older, partner, flips = Infinity }: Others = {}): boolean {
  const before = readFileSync(file)
  const put = (bytes: Buffer): boolean => {
    writeFileSync(file, bytes)
    return !bytes.equals(before)
  }
  switch (way) {
    case 'flipped': {
      if (before.length === 0) return false
      const bytes = Buffer.from(before)
      const at = dice(Math.min(bytes.length, flips))
      bytes[at] = (bytes[at] ?? 0) ^ (1 << dice(8))
      return put(bytes)
    }
    case 'truncated':
      if (before.length < 2) return false
      truncateSync(file, 1 + dice(before.length - 1))
      return true
    case 'emptied':
      truncateSync(file, 0)
      return before.length > 0
    case 'removed':
      rmSync(file)
      return true
    case 'older':
      return older !== undefined && existsSync(older) && put(readFileSync(older))
    case 'swapped': {
      if (partner === undefined) return false
      const bytes = existsSync(partner) && statSync(partner).isFile() ? readFileSync(partner) : Buffer.alloc(0)
      mkdirSync(dirname(partner), { recursive: true })
      writeFileSync(partner, before)
      return put(bytes)
    }
  }
}
