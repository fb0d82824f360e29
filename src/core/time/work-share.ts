import type { System } from '../../ports/system.ts'

/** Work that is shorter goes on without a rest, as a timer costs more. */
const WORK_MS_MIN = 5

/**
 * Rests after work, so that all of it takes at most a part of the time: of a core, and of the disks. Where others keep these
 * busy, the work takes longer and so do its rests.
 */
export class WorkShare {
  readonly #system: System
  readonly #restTimes: number
  #fromMs: number

  /** The share is in 0..1. Work begins now. */
  constructor(system: System, share: number) {
    this.#system = system
    this.#restTimes = 1 / share - 1
    this.#fromMs = system.clock.elapsed()
  }

  /** To be called again and again during the work. Ends early with the signal. */
  async rest(signal?: AbortSignal): Promise<void> {
    const { clock } = this.#system
    const workedMs = clock.elapsed() - this.#fromMs
    if (workedMs < WORK_MS_MIN) return
    await clock.sleep(workedMs * this.#restTimes, signal)
    this.#fromMs = clock.elapsed()
  }
}
