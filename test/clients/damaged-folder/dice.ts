import { createHash } from 'node:crypto'

/** Gives a number below the one given. */
export type Dice = (below: number) => number

/** The same numbers for the same seed. */
export function diceOf(seed: string): Dice {
  let thrown = 0
  return (below) => createHash('sha256').update(`${seed} ${thrown++}`).digest().readUInt32BE(0) % below
}
