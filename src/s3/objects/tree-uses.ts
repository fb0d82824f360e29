/** Trees of ended moves that are remembered. Requests learn of a move long before so many more have ended. */
const leftMax = 1000

/**
 * Which trees requests in progress write to, for which volume. Before the tree that a moved volume leaves behind is removed,
 * each process is asked to leave it: from then on no request begins to write there for this volume, and those that have are
 * waited for. Others may share the tree, and go on.
 */
export class TreeUses {
  readonly #counts = new Map<string, number>()
  readonly #left = new Set<string>()

  /** Uses a tree until the returned function is called. Nothing when the volume has left it. */
  enter(volume: string, tree: string): (() => void) | undefined {
    const use = nameOf(volume, tree)
    if (this.#left.has(use)) return undefined
    this.#counts.set(use, (this.#counts.get(use) ?? 0) + 1)
    let isHeld = true
    return () => {
      if (!isHeld) return
      isHeld = false
      const count = this.#counts.get(use) ?? 0
      if (count > 1) this.#counts.set(use, count - 1)
      else this.#counts.delete(use)
    }
  }

  /** Lets no request of a volume begin to write to a tree any more. Tells whether one still does. */
  leave(volume: string, tree: string): boolean {
    const use = nameOf(volume, tree)
    this.#left.add(use)
    for (const oldest of this.#left) {
      if (this.#left.size <= leftMax) break
      this.#left.delete(oldest)
    }
    return this.#counts.has(use)
  }
}

function nameOf(volume: string, tree: string): string {
  return `${volume}/${tree}`
}
