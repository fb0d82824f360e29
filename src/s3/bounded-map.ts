/** Remembers what was made, at most so much of it: the oldest go first. A failure is not remembered. */
export class BoundedMap<Value> {
  readonly #values = new Map<string, Promise<Value>>()
  readonly #entriesMax: number

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  get(key: string, make: () => Promise<Value>): Promise<Value> {
    const kept = this.#values.get(key)
    if (kept !== undefined) return kept
    const made = make()
    this.#values.set(key, made)
    made.catch(() => this.#values.delete(key))
    if (this.#values.size > this.#entriesMax) {
      const [oldest] = this.#values.keys()
      if (oldest !== undefined) this.#values.delete(oldest)
    }
    return made
  }
}
