/** Trees of ended moves that are remembered. Requests learn of a move long before so many more have ended. */
const leftMax = 1000

/**
 * Which trees requests in progress write to. Before the tree that a moved volume leaves behind is removed, each process is
 * asked to leave it: from then on no request begins to write there, and those that have are waited for.
 */
export class TreeUses {
  readonly #counts = new Map<string, number>()
  readonly #left = new Set<string>()

  /** Uses a tree until the returned function is called. Nothing when it is being left: the volume is elsewhere. */
  enter(tree: string): (() => void) | undefined {
    if (this.#left.has(tree)) return undefined
    this.#counts.set(tree, (this.#counts.get(tree) ?? 0) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const count = this.#counts.get(tree) ?? 0
      if (count > 1) this.#counts.set(tree, count - 1)
      else this.#counts.delete(tree)
    }
  }

  /** Lets nobody begin to write to a tree any more. Tells whether somebody still does. */
  leave(tree: string): boolean {
    this.#left.add(tree)
    for (const oldest of this.#left) {
      if (this.#left.size <= leftMax) break
      this.#left.delete(oldest)
    }
    return this.#counts.has(tree)
  }
}
