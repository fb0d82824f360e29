/**
 * What bodies on their way hold in the memory of one process, whatever their number and size.
 *
 * A body that is open costs what its connection has read ahead. How many there are is bounded by bytes; a client beyond
 * them is asked to slow down. To have a piece digested and written costs more, and needs a turn. A turn is held only while
 * there is a piece: nobody who has one waits for a client, only for the disk, so turns always come free, and a client that
 * stalls has none. As long as there are turns enough, nobody notices them.
 */
import { s3Error } from '../errors.ts'

/** What counts of a body that is larger. */
const OPEN_BODY_BYTES = 64 * 1024

export interface TransferBounds {
  readonly turnsMax: number
  readonly openBytesMax: number
}

/** For a process that has the machine to itself, as in tests. */
const BOUNDS: TransferBounds = { turnsMax: 256, openBytesMax: 256 * 2 ** 20 }

export interface Collecting {
  readonly everyBytes: number
  /** Looks for pieces that nobody holds any more. */
  readonly collect: () => void
}

export class Transfers {
  readonly #bounds: TransferBounds
  readonly #collecting: Collecting | undefined
  readonly #waiting: (() => void)[] = []
  #turns = 0
  #openBytes = 0
  #sinceCollected = 0

  constructor(bounds: TransferBounds = BOUNDS, collecting?: Collecting) {
    this.#bounds = bounds
    this.#collecting = collecting
  }

  /** Counts a body until what is returned is called, once. Refused with SlowDown when there are too many. */
  open(sizeBytes: number): () => void {
    const bytes = Math.min(sizeBytes, OPEN_BODY_BYTES)
    if (this.#openBytes + bytes > this.#bounds.openBytesMax) throw s3Error('SlowDown')
    this.#openBytes += bytes
    return () => {
      this.#openBytes -= bytes
    }
  }

  /** Somebody waits for a turn: who has one keeps it no longer than a piece takes. */
  get isShort(): boolean {
    return this.#waiting.length > 0
  }

  /** Takes a turn if one is free and nobody waits. */
  tryTurn(): boolean {
    if (this.#turns >= this.#bounds.turnsMax || this.isShort) return false
    this.#turns++
    return true
  }

  /** Waits for a turn behind those who asked before. */
  turn(): Promise<void> {
    if (this.tryTurn()) return Promise.resolve()
    // Whoever ends a turn hands it over.
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  endTurn(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#turns--
    else next()
  }

  /** So many bytes came. */
  moved(bytes: number): void {
    if (this.#collecting === undefined) return
    this.#sinceCollected += bytes
    if (this.#sinceCollected < this.#collecting.everyBytes) return
    this.#sinceCollected = 0
    this.#collecting.collect()
  }
}
