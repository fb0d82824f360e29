import { crc32 } from 'node:zlib'
import { joinedCrc } from './crc.ts'
import { BLOCK_BYTES, CRC_BYTES } from './footer.ts'

/** The checksums of bytes that come in pieces of any size: one for each block, and one of all of them. */
export class BlockSums {
  /** Of whole blocks. */
  readonly #crcs: number[] = []
  /** Of all whole blocks. */
  #wholeCrc = 0
  #crc = 0
  #filledBytes = 0

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const piece = bytes.subarray(at, at + BLOCK_BYTES - this.#filledBytes)
      this.#crc = crc32(piece, this.#crc)
      this.#filledBytes += piece.length
      at += piece.length
      if (this.#filledBytes === BLOCK_BYTES) this.#endBlock()
    }
  }

  #endBlock(): void {
    this.#wholeCrc = joinedCrc(this.#wholeCrc, this.#crc, this.#filledBytes)
    this.#crcs.push(this.#crc)
    this.#crc = 0
    this.#filledBytes = 0
  }

  /** Of all bytes so far. */
  get crc(): number {
    return this.#filledBytes === 0 ? this.#wholeCrc : joinedCrc(this.#wholeCrc, this.#crc, this.#filledBytes)
  }

  get bytes(): number {
    return this.#crcs.length * BLOCK_BYTES + this.#filledBytes
  }

  /** A number for each block, the last one as long as it is. */
  table(): Buffer {
    const crcs = this.#filledBytes === 0 ? this.#crcs : [...this.#crcs, this.#crc]
    const table = Buffer.allocUnsafe(crcs.length * CRC_BYTES)
    for (const [n, crc] of crcs.entries()) table.writeUInt32BE(crc, n * CRC_BYTES)
    return table
  }
}
