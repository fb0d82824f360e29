import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { Clock, Random, System } from '../ports/system.ts'
import { turnstile } from '../ports/turnstile.ts'

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

/** Asked of the operating system at once: a call for a few bytes costs as much as one for all of these. */
const POOL_BYTES = 4096
/** What is taken from the pool. Every request needs so many for its identifiers. */
const POOLED_BYTES_MAX = 32
let pool = Buffer.alloc(0)

/** Chance from the operating system, fit for keys and secrets. No byte is given twice. */
export const realRandom: Random = {
  bytes(count) {
    if (count > POOLED_BYTES_MAX) return randomBytes(count)
    if (pool.length < count) pool = randomBytes(POOL_BYTES)
    const taken = Buffer.from(pool.subarray(0, count))
    pool.fill(0, 0, count)
    pool = pool.subarray(count)
    return taken
  },
  uuid: () => randomUUID(),
}

export const realSystem: System = { clock: realClock, random: realRandom, turn: turnstile() }
