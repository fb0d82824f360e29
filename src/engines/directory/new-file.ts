/**
 * A file that is being written, by its bare descriptor: a FileHandle of Node's promises takes about twice as much of the
 * processor for each call.
 *
 * What is large and lies at pages, in memory and in the file, is written past the system's cache: the copy into it, and
 * its pages, cost more than all else that is done for a large blob. This takes another descriptor, as the end of a file
 * never fills a page. Both may be used in turns: the system keeps its cache true, and a sync is one of the whole file.
 */
import { close, constants, fdatasync, open, write, writev } from 'node:fs'
import { codeOf } from './failures.ts'

type Flags = 'w' | 'wx'

/** Less costs more to write directly than to copy. */
const DIRECT_BYTES_MIN = 256 * 1024
const PAGE_BYTES = 4096

export class NewFile {
  readonly #path: string
  readonly #descriptor: number
  /** For what goes past the cache. Opened when it is first needed; -1 where that cannot be. */
  #direct: number | undefined
  #bytes = 0

  private constructor(path: string, descriptor: number) {
    this.#path = path
    this.#descriptor = descriptor
  }

  /** Fails as the system does; with `wx` when there is such a file. */
  static async open(path: string, flags: Flags, mode: number): Promise<NewFile> {
    return new NewFile(path, await opened(path, flags, mode))
  }

  /** Writes all of these behind what was written before. One at a time. */
  async append(buffers: readonly Uint8Array[]): Promise<void> {
    let rest = buffers
    while (rest.length > 0) {
      const bytes = await this.#write(rest)
      this.#bytes += bytes
      rest = behind(rest, bytes)
    }
  }

  /** Makes its bytes durable. The entry in its folder is another matter. */
  sync(): Promise<void> {
    return new Promise((resolve, reject) => {
      fdatasync(this.#descriptor, (failure) => (failure ? reject(failure) : resolve()))
    })
  }

  /** To be called once, when nothing is under way. */
  async close(): Promise<void> {
    const direct = this.#direct ?? NONE
    if (direct !== NONE) await closed(direct)
    await closed(this.#descriptor)
  }

  async #write(buffers: readonly Uint8Array[]): Promise<number> {
    const [first] = buffers
    if (first === undefined || buffers.length > 1) {
      return new Promise((resolve, reject) => {
        writev(this.#descriptor, buffers, this.#bytes, (failure, bytes) => (failure ? reject(failure) : resolve(bytes)))
      })
    }
    if (mayBeDirect(first.length, this.#bytes)) {
      this.#direct ??= await opened(this.#path, constants.O_WRONLY | constants.O_DIRECT).catch(() => NONE)
      if (this.#direct !== NONE) {
        try {
          return await written(this.#direct, first, this.#bytes)
        } catch (failure) {
          // The memory is not where this system wants it, or the file system has no such writes.
          if (codeOf(failure) !== 'EINVAL') throw failure
          await closed(this.#direct)
          this.#direct = NONE
        }
      }
    }
    return written(this.#descriptor, first, this.#bytes)
  }
}

const NONE = -1

function mayBeDirect(bytes: number, at: number): boolean {
  // Only some systems have it.
  if ((constants.O_DIRECT as number | undefined) === undefined) return false
  return bytes >= DIRECT_BYTES_MIN && bytes % PAGE_BYTES === 0 && at % PAGE_BYTES === 0
}

function opened(path: string, flags: Flags | number, mode?: number): Promise<number> {
  return new Promise((resolve, reject) => {
    open(path, flags, mode, (failure, descriptor) => (failure ? reject(failure) : resolve(descriptor)))
  })
}

function written(descriptor: number, bytes: Uint8Array, at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(descriptor, bytes, 0, bytes.length, at, (failure, count) => (failure ? reject(failure) : resolve(count)))
  })
}

function closed(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    close(descriptor, (failure) => (failure ? reject(failure) : resolve()))
  })
}

/** What remains of buffers when their first bytes were written: the file system may take fewer than it was given. */
function behind(buffers: readonly Uint8Array[], bytes: number): Uint8Array[] {
  const rest: Uint8Array[] = []
  let skip = bytes
  for (const buffer of buffers) {
    if (skip < buffer.length) rest.push(buffer.subarray(skip))
    skip = Math.max(0, skip - buffer.length)
  }
  return rest
}
