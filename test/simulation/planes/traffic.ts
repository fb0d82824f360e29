/**
 * Clients that write, read and delete objects while others change the volumes below, and what each of them knows: which
 * object may be there under a key. One request at a time is about a key, so that what was answered tells what is there.
 */
import { send } from '../../../src/s3/test-plane.ts'
import { bodyOf, serialOf } from './bodies.ts'

/** What may be there under a key. `any`: any body that was ever sent, or nothing. */
interface Known {
  may: Set<number | 'nothing'>
  readonly sent: Set<number>
  isBusy: boolean
}

/** A bucket, in a volume. */
export interface TrafficBucket {
  readonly name: string
  readonly volume: string
}

export interface TrafficParts {
  readonly random: () => number
  /** Addresses of planes that serve. A plane that is killed is not among them, or not any more. */
  readonly urls: () => readonly string[]
  /** Whether the plane with this address was killed: then nobody knows what became of a request. */
  readonly wasKilled: (url: string) => boolean
}

const KEYS = ['one', 'two', 'three', 'four', 'five', 'six']
/** The cluster says that it cannot do this now, or does not have it. */
const REFUSALS: ReadonlySet<number> = new Set([400, 403, 404, 409, 412, 503, 507])

export class Traffic {
  /** What was seen that may not be. */
  readonly wrong: string[] = []
  counts = { put: 0, get: 0, delete: 0, unanswered: 0 }
  readonly #parts: TrafficParts
  readonly #known = new Map<string, Known>()
  /** Volumes that were restored to a snapshot since the last look: their objects are any that were there. */
  readonly #restored = new Set<string>()
  #serial = 0

  constructor(parts: TrafficParts) {
    this.#parts = parts
  }

  noteRestore(volume: string): void {
    this.#restored.add(volume)
  }

  /** One request after the other until told to end. */
  async client(buckets: () => readonly TrafficBucket[], until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      const bucket = this.#pick(buckets())
      const url = this.#pick(this.#parts.urls())
      if (bucket === undefined || url === undefined) await pause(20)
      else await this.#act(bucket, this.#pick(KEYS) ?? '', url)
      await pause(1)
    }
  }

  async #act(bucket: TrafficBucket, key: string, url: string): Promise<void> {
    const name = `${bucket.name}/${key}`
    const known = this.#knownOf(name)
    if (known.isBusy) return
    known.isBusy = true
    try {
      const dice = this.#parts.random()
      if (dice < 0.5) await this.#put(name, known, url)
      else if (dice < 0.85) await this.#get(bucket, name, known, url)
      else await this.#delete(name, known, url)
    } finally {
      known.isBusy = false
    }
  }

  async #put(name: string, known: Known, url: string): Promise<void> {
    const serial = ++this.#serial
    known.sent.add(serial)
    const answer = await this.#ask(url, 'PUT', name, bodyOf(name, serial))
    if (answer?.status === 200) {
      known.may = new Set([serial])
      this.counts.put++
    } else if (!this.#isRefused('PUT', name, answer)) known.may.add(serial)
  }

  async #delete(name: string, known: Known, url: string): Promise<void> {
    const answer = await this.#ask(url, 'DELETE', name)
    if (answer?.status === 204) {
      known.may = new Set(['nothing'])
      this.counts.delete++
    } else if (!this.#isRefused('DELETE', name, answer)) known.may.add('nothing')
  }

  async #get(bucket: TrafficBucket, name: string, known: Known, url: string): Promise<number | 'nothing' | undefined> {
    const answer = await this.#ask(url, 'GET', name)
    const isMissing = answer?.status === 404 && answer.text.includes('<Code>NoSuchKey</Code>')
    if (answer?.status !== 200 && !isMissing) {
      this.#isRefused('GET', name, answer)
      return undefined
    }
    this.counts.get++
    const found = isMissing ? 'nothing' : serialOf(name, answer.text)
    const isKnown = found !== undefined && (found === 'nothing' || known.sent.has(found))
    if (!isKnown)
      this.wrong.push(`${name} is no body that was sent: ${answer.text.slice(0, 80)}, ${answer.text.length}`)
    else if (!known.may.has(found) && !this.#restored.has(bucket.volume))
      this.wrong.push(`${name} is ${found}, and may be ${[...known.may].join(' or ')}`)
    return found
  }

  /** Reads all that is known of these buckets by each plane. Nobody else writes meanwhile. */
  async check(buckets: readonly TrafficBucket[]): Promise<void> {
    for (const bucket of buckets) {
      for (const key of KEYS) {
        const name = `${bucket.name}/${key}`
        const known = this.#knownOf(name)
        for (const url of this.#parts.urls()) {
          const found = await this.#get(bucket, name, known, url)
          if (found === undefined) this.wrong.push(`${name} cannot be read at ${url}`)
          else if (this.#restored.has(bucket.volume)) known.may = new Set([found])
        }
      }
      this.#restored.delete(bucket.volume)
    }
  }

  /** Deletes all objects of a bucket. */
  async empty(bucket: TrafficBucket): Promise<void> {
    for (const key of KEYS) {
      const url = this.#pick(this.#parts.urls())
      const known = this.#knownOf(`${bucket.name}/${key}`)
      if (url !== undefined && !known.isBusy) await this.#delete(`${bucket.name}/${key}`, known, url)
    }
  }

  async #ask(
    url: string,
    method: string,
    name: string,
    body?: string,
  ): Promise<Awaited<ReturnType<typeof send>> | undefined> {
    try {
      return await send({ url }, method, `/${name}`, body === undefined ? {} : { body })
    } catch (failure) {
      this.counts.unanswered++
      // It is known only now that it was killed.
      await pause(100)
      if (!this.#parts.wasKilled(url)) this.wrong.push(`${method} ${name} broke off: ${String(failure)}`)
      return undefined
    }
  }

  /** Whether nothing was done. An answer that may not be is noted. */
  #isRefused(method: string, name: string, answer: { status: number; text: string } | undefined): boolean {
    if (answer === undefined) return false
    if (REFUSALS.has(answer.status)) return true
    this.wrong.push(`${method} ${name}: ${answer.status} ${answer.text}`)
    return false
  }

  #knownOf(name: string): Known {
    const known = this.#known.get(name) ?? { may: new Set(['nothing' as const]), sent: new Set(), isBusy: false }
    this.#known.set(name, known)
    return known
  }

  #pick<One>(list: readonly One[]): One | undefined {
    return list[Math.floor(this.#parts.random() * list.length)]
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
