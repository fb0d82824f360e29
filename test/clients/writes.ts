/**
 * Writers that go on while something is killed, and that know for each key what it may hold afterwards: what was
 * acknowledged last, or what a request without an answer may have done. Anything else is a loss or a partial object.
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes, randomInt } from 'node:crypto'
import { DeleteObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3'
import { listAll, sha256OfObject } from './sdk.ts'
import { inLanes } from './tree.ts'

const ABSENT = 'absent'
const WRITERS = 12
const SIZES = [0, 1, 300, 4096, 4096, 20_000, 65_536, 200_000, 2_000_000] as const

export class Writes {
  readonly #client: S3Client
  readonly #bucket: string
  readonly #prefix: string
  /** What a key may hold: digests, or that it is absent. */
  readonly #possible = new Map<string, Set<string>>()
  readonly #running: Promise<void>
  #isOver = false
  #acknowledged = 0
  #unanswered = 0

  constructor(client: S3Client, bucket: string, prefix: string, writers = WRITERS) {
    this.#client = client
    this.#bucket = bucket
    this.#prefix = prefix
    this.#running = Promise.all(Array.from({ length: writers }, (_, writer) => this.#write(writer))).then(
      () => undefined,
    )
  }

  get acknowledged(): number {
    return this.#acknowledged
  }

  /** Requests that ended without an answer that says what happened. */
  get unanswered(): number {
    return this.#unanswered
  }

  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  /** Reads everything back, with a client of the product as it is now. */
  async verify(client: S3Client): Promise<void> {
    const listed = await listAll(client, this.#bucket, this.#prefix)
    for (const key of listed.keys()) assert.ok(this.#possible.has(key), `nobody wrote ${key}`)
    await inLanes([...this.#possible], 16, async ([key, possible]) => {
      const found = (await sha256OfObject(client, this.#bucket, key)) ?? ABSENT
      assert.ok(possible.has(found), `${key} holds ${found}, not ${[...possible].join(' or ')}`)
      assert.equal(listed.has(key), found !== ABSENT, `${key}: the listing and the object agree`)
    })
  }

  async #write(writer: number): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const key = `${this.#prefix}${writer}/${n}`
      this.#possible.set(key, new Set([ABSENT]))
      // A key whose last request has no answer is left alone: it may still be under way.
      if (!(await this.#put(key))) continue
      if (n % 5 === 1) await this.#put(key)
      else if (n % 5 === 3) await this.#delete(key)
    }
  }

  #put(key: string): Promise<boolean> {
    const body = randomBytes(SIZES[randomInt(SIZES.length)] ?? 0)
    const digest = createHash('sha256').update(body).digest('hex')
    return this.#attempt(key, digest, () =>
      this.#client.send(new PutObjectCommand({ Bucket: this.#bucket, Key: key, Body: body })),
    )
  }

  #delete(key: string): Promise<boolean> {
    return this.#attempt(key, ABSENT, () =>
      this.#client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key: key })),
    )
  }

  async #attempt(key: string, result: string, send: () => Promise<unknown>): Promise<boolean> {
    const possible = this.#possible.get(key) ?? new Set()
    possible.add(result)
    try {
      await send()
    } catch {
      this.#unanswered++
      // Without a server a loop of refused connections would only heat the machine.
      await new Promise((resolve) => setTimeout(resolve, 50))
      return false
    }
    possible.clear()
    possible.add(result)
    this.#acknowledged++
    return true
  }
}
