/**
 * Blobs that answers in progress have yet to open. When an object of many parts is replaced while it is being sent, its
 * blobs are needed by no row any more; those that are pinned are left until the answer has ended. Whoever pins must look at
 * the row again afterwards: before, the blobs may have been given up already.
 */
export class Pins {
  readonly #counts = new Map<string, number>()

  /** Pins them until the returned function is called. Calling it again does nothing. */
  take(blobs: readonly string[]): () => void {
    for (const blob of blobs) this.#counts.set(blob, (this.#counts.get(blob) ?? 0) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      for (const blob of blobs) {
        const count = this.#counts.get(blob) ?? 0
        if (count > 1) this.#counts.set(blob, count - 1)
        else this.#counts.delete(blob)
      }
    }
  }

  /** Those of the blobs that are pinned. */
  among(blobs: readonly string[]): string[] {
    return blobs.filter((blob) => this.#counts.has(blob))
  }
}
