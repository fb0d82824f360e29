import type { Random } from '../ports/system.ts'

/** Who claims work: a node, and which of its processes. An earlier process of the same node has ended. */
export class Incarnation {
  readonly node: string
  readonly #random: Random
  #id: string | undefined

  constructor(node: string, random: Random) {
    this.node = node
    this.#random = random
  }

  get id(): string {
    return (this.#id ??= this.#random.uuid())
  }
}
