/** What the test that kills moves and its children share. */
import { existsSync, readFileSync } from 'node:fs'

export interface MoveOrder {
  readonly folder: string
  /** Where what is asked for and answered is noted. */
  readonly log: string
  readonly volume: string
  readonly bucket: string
  /** UUID of the aggregate that the volume goes to. */
  readonly to: string
  readonly clients: number
  readonly seed: number
  readonly startedMs: number
  /** Where the process kills itself: at the commit of the move with this number, or at a client's next one behind that. */
  readonly commits: number
  readonly whose: 'move' | 'client'
  readonly when: 'before' | 'after'
}

export const KEYS = Array.from({ length: 40 }, (_, at) => `key${at}`)

/** `key7#31#` over and over. Some are larger than what is written at once. */
export function bodyOf(key: string, value: number): Buffer {
  return Buffer.alloc(100 + ((value * 7919) % 150_000), `${key}#${value}#`)
}

export function linesOf(log: string): string[] {
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : []
}
