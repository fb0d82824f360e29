/**
 * What a recorded request is in another cluster: UUIDs that were made there are others here. They are learned from the
 * answers, which have the old and the new one in the same place. Secrets that were left out become made-up ones.
 */
import { isRecord, type Json } from '../../model/value.ts'
import { REDACTED, type TraceEntry } from './trace.ts'

const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
/** What a replay remembers; of longer ones it forgets the first. */
const LEARNED_MAX = 100_000

export interface ReplayRequest {
  readonly method: string
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export class Replay {
  readonly #learned = new Map<string, string>()
  #secrets = 0

  request(entry: TraceEntry): ReplayRequest {
    return {
      method: entry.method,
      target: this.#translated(entry.target),
      headers: entry.headers,
      body: entry.body === undefined ? undefined : this.#translated(JSON.stringify(this.#withSecrets(entry.body))),
    }
  }

  learn(recorded: Json | undefined, now: Json): void {
    if (typeof recorded === 'string' && typeof now === 'string') this.#learnText(recorded, now)
    else if (Array.isArray(recorded) && Array.isArray(now)) {
      for (const [at, one] of (recorded as readonly Json[]).entries())
        this.learn(one, (now as readonly Json[])[at] ?? null)
    } else if (isRecord(recorded) && isRecord(now)) {
      for (const [name, one] of Object.entries(recorded)) {
        this.learn(one, now[name] ?? null)
      }
    }
  }

  #learnText(recorded: string, now: string): void {
    const before = recorded.match(UUIDS) ?? []
    const after = now.match(UUIDS) ?? []
    if (before.length !== after.length) return
    for (const [at, old] of before.entries()) {
      const fresh = after[at] ?? old
      if (old.toLowerCase() === fresh.toLowerCase() || this.#learned.has(old.toLowerCase())) continue
      this.#learned.set(old.toLowerCase(), fresh)
      const [first] = this.#learned.keys()
      if (this.#learned.size > LEARNED_MAX && first !== undefined) this.#learned.delete(first)
    }
  }

  #translated(text: string): string {
    return text.replaceAll(UUIDS, (old) => this.#learned.get(old.toLowerCase()) ?? old)
  }

  #withSecrets(value: Json): Json {
    if (value === REDACTED) return `Replayed-secret-${++this.#secrets}`
    if (Array.isArray(value)) return (value as readonly Json[]).map((one) => this.#withSecrets(one))
    if (!isRecord(value)) return value
    const entries = Object.entries(value as Readonly<Record<string, Json>>)
    return Object.fromEntries(entries.map(([name, one]) => [name, this.#withSecrets(one)]))
  }
}
