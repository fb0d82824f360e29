/** Time and chance, handed to everything that needs them, so that a simulated run replays from its seed. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number
  /** Milliseconds that only grow, for measuring. */
  elapsed(): number
  /** Waits; ends early, without an error, when the signal aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export interface Random {
  bytes(count: number): Buffer
  uuid(): string
}

export interface System {
  readonly clock: Clock
  readonly random: Random
  /**
   * Settles in a later turn of the event loop, for one caller in each turn, in the order of asking: what is long is done
   * in pieces, and everything else goes on between them.
   */
  readonly turn: () => Promise<void>
}
