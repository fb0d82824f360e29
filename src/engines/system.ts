import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock, Random, System } from '../ports/system.ts'
import { turnstile } from './turnstile.ts'

/** The time of this machine. */
export const realClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  async sleep(ms, signal) {
    try {
      await wait(ms, undefined, signal === undefined ? {} : { signal })
    } catch (failure) {
      // Ending early is what the signal asks for.
      if (signal?.aborted !== true) throw failure
    }
  },
}

/** Chance from the operating system, fit for keys and secrets. */
export const realRandom: Random = {
  bytes: (count) => randomBytes(count),
  uuid: () => randomUUID(),
}

export const realSystem: System = { clock: realClock, random: realRandom, turn: turnstile() }
