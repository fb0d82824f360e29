/** How many long pages of collections are made at the same time, and how long each may be. */
import { Gate } from '../jobs/gate.ts'

export interface PageBounds {
  /**
   * A page ends after the row with which what it shows has so many characters, whatever its limit: so the memory that a
   * request takes has a bound. The next page goes on from there.
   */
  readonly charactersMax: number
  /** Of pages with more than `SHORT_PAGE_ROWS`. Other readers wait, in the order in which they asked. */
  readonly atOnce: number
}

/** A page with no more rows than this waits for nobody. */
export const SHORT_PAGE_ROWS = 100

/** For a process that has the machine to itself, as in tests. */
const BOUNDS: PageBounds = { charactersMax: 4 * 2 ** 20, atOnce: 16 }

export class PageRoom {
  readonly charactersMax: number
  readonly #gate: Gate

  constructor({ charactersMax, atOnce }: PageBounds = BOUNDS) {
    this.charactersMax = charactersMax
    this.#gate = new Gate(atOnce)
  }

  /** Makes one page: `hasRows` is to be called with the number of rows so far, and waits where they have become many. */
  async make<Result>(page: (hasRows: (rows: number) => Promise<void>) => Promise<Result>): Promise<Result> {
    let isLong = false
    try {
      return await page(async (rows) => {
        if (isLong || rows <= SHORT_PAGE_ROWS) return
        await this.#gate.enter()
        isLong = true
      })
    } finally {
      if (isLong) this.#gate.leave()
    }
  }
}
