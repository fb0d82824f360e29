import type { System } from '../../ports/system.ts'

/** A rest that is shorter than this is put off, as a timer costs more. */
const REST_MS_MIN = 10

/** Rests so that no more bytes are gone through in a second than allowed, and gives others their turn between them. */
export class ByteRate {
  readonly #system: System
  readonly #bytesASecond: number
  /** When as many bytes as were gone through may have been. */
  #dueMs: number

  constructor(system: System, bytesASecond: number) {
    this.#system = system
    this.#bytesASecond = bytesASecond
    this.#dueMs = system.clock.elapsed()
  }

  /** Waits as long as so many bytes take. What was not used before is not made up for. Ends early with the signal. */
  async spend(bytes: number, signal?: AbortSignal): Promise<void> {
    const { clock, turn } = this.#system
    const nowMs = clock.elapsed()
    this.#dueMs = Math.max(nowMs, this.#dueMs) + (bytes / this.#bytesASecond) * 1000
    const restMs = this.#dueMs - nowMs
    await (restMs < REST_MS_MIN ? turn() : clock.sleep(restMs, signal))
  }
}
