/** Bytes that all who share it may hold together. Nobody waits for them: who gets none does with less. */
export class Tally {
  readonly #bytesMax: number
  #bytes = 0

  constructor(bytesMax = Infinity) {
    this.#bytesMax = bytesMax
  }

  /** Counts the bytes in any case, and tells whether there is room for them. */
  add(bytes: number): boolean {
    this.#bytes += bytes
    return this.#bytes <= this.#bytesMax
  }

  subtract(bytes: number): void {
    this.#bytes -= bytes
  }
}
