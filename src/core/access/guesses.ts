/**
 * Failed logins of the last minute, by address and by account at an address. Never by account alone: a stranger could then
 * keep its user out, from anywhere. An attempt counts from its beginning, so that many at once are no way around.
 */
import { failure } from '../../model/failure.ts'
import { addressGroup } from '../../model/address-group.ts'

const WINDOW_MS = 60_000
/** From one address, for whatever accounts. */
export const FAILURES_OF_ADDRESS_MAX = 60
/** From one address for one account. */
export const FAILURES_OF_ACCOUNT_MAX = 20
/** Addresses, and accounts at addresses, that are remembered; the oldest are forgotten first. */
export const COUNTS_MAX = 10_000
/** Names of accounts are shorter; of longer ones the beginning counts. */
const NAME_CHARACTERS_MAX = 64

interface Count {
  readonly sinceMs: number
  failures: number
}

/** One attempt to log in, which counts as failed until it is taken back. */
export interface Attempt {
  /** Failures of the address in this window, this one included. */
  readonly ofAddress: number
  takeBack(): void
}

export class Guesses {
  readonly #now: () => number
  readonly #addresses = new Map<string, Count>()
  readonly #accounts = new Map<string, Count>()

  constructor(now: () => number) {
    this.#now = now
  }

  get size(): number {
    return this.#addresses.size + this.#accounts.size
  }

  /** Fails with `limited` where the address has guessed too often, altogether or for this account. */
  attempt(from: string, account?: string): Attempt {
    const address = addressGroup(from)
    const counts = [this.#count(this.#addresses, address, FAILURES_OF_ADDRESS_MAX)]
    if (account !== undefined) {
      const name = `${address} ${account.slice(0, NAME_CHARACTERS_MAX)}`
      counts.push(this.#count(this.#accounts, name, FAILURES_OF_ACCOUNT_MAX))
    }
    for (const count of counts) count.failures++
    return {
      ofAddress: counts[0]?.failures ?? 0,
      takeBack() {
        for (const count of counts) count.failures--
      },
    }
  }

  #count(counts: Map<string, Count>, name: string, failuresMax: number): Count {
    const nowMs = this.#now()
    const kept = counts.get(name)
    const passedMs = kept === undefined ? WINDOW_MS : nowMs - kept.sinceMs
    if (kept !== undefined && passedMs >= 0 && passedMs < WINDOW_MS) {
      if (kept.failures < failuresMax) return kept
      throw failure('tooManyFailedLogins', {}, { retryAfterSeconds: Math.ceil((WINDOW_MS - passedMs) / 1000) })
    }
    counts.delete(name)
    if (counts.size >= COUNTS_MAX) counts.delete(counts.keys().next().value ?? '')
    const made = { sinceMs: nowMs, failures: 0 }
    counts.set(name, made)
    return made
  }
}
