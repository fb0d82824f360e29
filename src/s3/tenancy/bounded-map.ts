/** Longer keys are not remembered: what is asked for by such a name is not there. */
export const keyCharactersMax = 1024

/**
 * Remembers what was made, at most so much of it: the oldest go first. A failure is not remembered, and neither is that
 * there was nothing: strangers could ask for anything, and push out what others need.
 */
export class BoundedMap<Value> {
  readonly #values = new Map<string, Promise<Value>>()
  readonly #entriesMax: number

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax
  }

  get size(): number {
    return this.#values.size
  }

  get(key: string, make: () => Promise<Value>): Promise<Value> {
    const kept = this.#values.get(key)
    if (kept !== undefined) return kept
    const made = make()
    if (key.length > keyCharactersMax) return made
    this.#values.set(key, made)
    const forget = () => {
      if (this.#values.get(key) === made) this.#values.delete(key)
    }
    made.then((value) => value ?? forget(), forget)
    if (this.#values.size > this.#entriesMax) {
      const [oldest] = this.#values.keys()
      if (oldest !== undefined) this.#values.delete(oldest)
    }
    return made
  }
}
