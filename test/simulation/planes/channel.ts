/** Calls between two processes over the channel that Node.js has between a parent and its child. */

import type { EventEmitter } from 'node:events'

/** What a process answers, by name. Arguments and results go through JSON. */
export type Answers = Readonly<Record<string, (...args: never[]) => unknown>>

/** What the other one answers, as it is called from here. */
export type Remote<Other extends Answers> = {
  readonly [Name in keyof Other]: (...args: Parameters<Other[Name]>) => Promise<Awaited<ReturnType<Other[Name]>>>
}

/** A process or a child of it. */
export type Wire = EventEmitter & { readonly send?: ((message: object, sent: () => void) => unknown) | undefined }

/** The other process ended, so nobody knows what became of the call. */
export class PeerGone extends Error {
  constructor() {
    super('The other process ended.')
    this.name = 'PeerGone'
  }
}

interface Message {
  readonly id: number
  readonly name?: string
  readonly args?: readonly unknown[]
  readonly result?: unknown
  readonly failed?: string
}

export class Channel<Other extends Answers> {
  readonly other: Remote<Other>
  readonly #wire: Wire
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(failure: Error): void }>()
  #last = 0
  #isGone = false

  constructor(wire: Wire, answers: Answers) {
    this.#wire = wire
    this.other = new Proxy({} as Remote<Other>, {
      get:
        (_target, name: string) =>
        (...args: readonly unknown[]) =>
          this.#call(name, args),
    })
    wire.on('message', (message: Message) => {
      if (message.name === undefined) this.#settle(message)
      else void this.#answer(answers, message)
    })
  }

  /** What waits for the other process fails with `PeerGone`, now and from now on. */
  end(): void {
    this.#isGone = true
    for (const waiting of this.#waiting.values()) waiting.reject(new PeerGone())
    this.#waiting.clear()
  }

  #call(name: string, args: readonly unknown[]): Promise<unknown> {
    if (this.#isGone) return Promise.reject(new PeerGone())
    const id = ++this.#last
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#send({ id, name, args })
    })
  }

  #settle({ id, result, failed }: Message): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (failed === undefined) waiting?.resolve(result)
    else waiting?.reject(new Error(failed))
  }

  async #answer(answers: Answers, { id, name = '', args = [] }: Message): Promise<void> {
    try {
      const result = await answers[name]?.(...(args as never[]))
      this.#send({ id, result })
    } catch (failure) {
      this.#send({ id, failed: failure instanceof Error ? (failure.stack ?? failure.message) : String(failure) })
    }
  }

  /** Where the other process has just ended, `end` says so. */
  #send(message: Message): void {
    this.#wire.send?.(message, () => undefined)
  }
}
