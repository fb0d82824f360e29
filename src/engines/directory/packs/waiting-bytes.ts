/** Bytes that wait to be written. With more than their bound, whoever brings others waits until there are fewer. */
export class WaitingBytes {
  readonly #max: number
  #bytes = 0
  #queue: (() => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  add(bytes: number): void {
    this.#bytes += bytes
  }

  remove(bytes: number): void {
    this.#bytes -= bytes
    if (this.#bytes > this.#max || this.#queue.length === 0) return
    const queue = this.#queue
    this.#queue = []
    for (const wake of queue) wake()
  }

  /** Waits until there is room for more. Those that are woken together may bring more than the bound together. */
  async room(): Promise<void> {
    while (this.#bytes > this.#max) await new Promise<void>((resolve) => this.#queue.push(resolve))
  }
}
