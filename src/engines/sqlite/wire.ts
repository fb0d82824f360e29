/**
 * What goes over the writer's socket, in both directions: frames of
 *
 *     4 bytes: length of the body | 4 bytes: number of the request | body
 *
 * The body of a request is the changes of one commit, that of its answer an `Answer` as JSON. Both ends are the same
 * release on the same machine, and the socket is only for its owner.
 *
 * Nearly all commits put or delete one object. Their one change goes as JSON, the bytes of its key as characters, which
 * takes a third of the time of node:v8. All others go as node:v8 serializes them: those begin with a byte of 0xff, and no
 * JSON does.
 *
 *     {"do":"delete-object","bucket":"0199…","key":"reports/2026.csv","nowMs":1795438800000}
 */
import { deserialize, serialize } from 'node:v8'
import { CatalogUnavailable, CommitRefused } from '../../ports/catalog.ts'
import type { Change, Outcome, RefusalReason } from '../../ports/catalog.ts'
import type { Settled } from './writer.ts'

/** Completing an upload of 10,000 parts takes about 2 MiB. */
export const FRAME_BYTES_MAX = 16 * 1024 * 1024
const HEADER_BYTES = 8
const BRACE = 0x7b

type ObjectChange = Extract<Change, { do: 'put-object' | 'delete-object' }>

export interface Frame {
  readonly id: number
  readonly body: Buffer
}

type Answer =
  | { readonly outcomes: readonly Outcome[] }
  | { readonly refused: RefusalReason; readonly change: number; readonly scope: string }
  | { readonly unavailable: string }
  | { readonly failed: string }

export function frame(id: number, body: Buffer): Buffer {
  if (body.length > FRAME_BYTES_MAX) throw new RangeError(`A commit has at most ${FRAME_BYTES_MAX} bytes.`)
  const bytes = Buffer.allocUnsafe(HEADER_BYTES + body.length)
  bytes.writeUInt32BE(body.length, 0)
  bytes.writeUInt32BE(id, 4)
  body.copy(bytes, HEADER_BYTES)
  return bytes
}

export function writeCommit(changes: readonly Change[]): Buffer {
  const [change] = changes
  if (change === undefined || changes.length > 1) return serialize(changes)
  if (change.do !== 'put-object' && change.do !== 'delete-object') return serialize(changes)
  const { buffer, byteOffset, byteLength } = change.key
  return Buffer.from(JSON.stringify({ ...change, key: Buffer.from(buffer, byteOffset, byteLength).toString('latin1') }))
}

export function readCommit(body: Buffer): readonly Change[] {
  if (body[0] !== BRACE) return deserialize(body) as readonly Change[]
  const change = JSON.parse(body.toString()) as ObjectChange & { readonly key: string }
  return [{ ...change, key: Buffer.from(change.key, 'latin1') }]
}

export function writeAnswer(settled: Settled): Buffer {
  return Buffer.from(JSON.stringify(answer(settled)))
}

function answer(settled: Settled): Answer {
  if (!(settled instanceof Error)) return { outcomes: settled }
  if (settled instanceof CommitRefused) {
    return { refused: settled.reason, change: settled.change, scope: settled.scope }
  }
  return settled instanceof CatalogUnavailable ? { unavailable: settled.message } : { failed: settled.message }
}

export function readAnswer(body: Buffer): Settled {
  const answer = JSON.parse(body.toString()) as Answer
  if ('outcomes' in answer) return answer.outcomes
  if ('refused' in answer) return new CommitRefused(answer.refused, answer.change, answer.scope)
  return 'unavailable' in answer ? new CatalogUnavailable(answer.unavailable) : new Error(answer.failed)
}

/** Puts frames together from what arrives, in whatever pieces. */
export class FrameReader {
  #pieces: Buffer[] = []
  #bytes = 0
  #wanted = HEADER_BYTES

  /** The frames that are complete with this piece. Throws when the other end does not keep to the format. */
  push(piece: Buffer): Frame[] {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    if (this.#bytes < this.#wanted) return []
    const bytes = this.#pieces.length === 1 ? piece : Buffer.concat(this.#pieces)
    const frames: Frame[] = []
    let at = 0
    this.#wanted = HEADER_BYTES
    while (bytes.length - at >= HEADER_BYTES) {
      const length = bytes.readUInt32BE(at)
      if (length > FRAME_BYTES_MAX) throw new RangeError(`A frame of ${length} bytes is not from a catalog.`)
      const end = at + HEADER_BYTES + length
      if (end > bytes.length) {
        this.#wanted = HEADER_BYTES + length
        break
      }
      frames.push({ id: bytes.readUInt32BE(at + 4), body: bytes.subarray(at + HEADER_BYTES, end) })
      at = end
    }
    this.#pieces = at === bytes.length ? [] : [bytes.subarray(at)]
    this.#bytes = bytes.length - at
    return frames
  }
}
