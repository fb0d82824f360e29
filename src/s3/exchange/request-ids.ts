import type { Random } from '../../ports/system.ts'

/** Of so many requests at once: to make two texts of a few bytes for each costs more than the bytes. */
const madeAtOnce = 64
const idBytes = 8
const secondIdBytes = 24
/** 24 bytes are 32 characters of Base64 exactly, so that texts can be cut where bytes end. */
const secondIdCharacters = 32

/** What a request is called in its answer and in the log. */
export class RequestIds {
  readonly #random: Random
  #ids = ''
  #secondIds = ''
  #given = madeAtOnce

  constructor(random: Random) {
    this.#random = random
  }

  next(): Readonly<Record<string, string>> {
    if (this.#given === madeAtOnce) this.#make()
    const nth = this.#given++
    return {
      'x-amz-request-id': this.#ids.slice(nth * idBytes * 2, (nth + 1) * idBytes * 2),
      'x-amz-id-2': this.#secondIds.slice(nth * secondIdCharacters, (nth + 1) * secondIdCharacters),
    }
  }

  #make(): void {
    this.#ids = this.#random
      .bytes(madeAtOnce * idBytes)
      .toString('hex')
      .toUpperCase()
    this.#secondIds = this.#random.bytes(madeAtOnce * secondIdBytes).toString('base64')
    this.#given = 0
  }
}
