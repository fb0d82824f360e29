import { isUtf8 } from 'node:buffer'
import { invalidArgument, s3Error } from '../errors.ts'
import type { S3Error } from '../errors.ts'
import { headerValue } from '../request/headers.ts'
import type { RequestHeaders } from '../request/headers.ts'

/** All that comes before the file, headers of the parts and boundaries too. */
export const formFieldsBytesMax = 20 * 1024
export const formFieldsMax = 100
/** The header lines of one part. */
export const formPartHeaderBytesMax = 2 * 1024
export const formFieldNameBytesMax = 200
/** What may follow the file: fields that came too late, and an epilogue. */
export const formTailBytesMax = 20 * 1024
/** At most so many bytes of a form are not those of its file, the boundary behind it included. */
export const formOverheadBytesMax = formFieldsBytesMax + formTailBytesMax + 128

/**
 * A form that a browser uploads a file with (RFC 7578). Fields come first, the file last:
 *
 *     --b\r\n
 *     Content-Disposition: form-data; name="key"\r\n
 *     \r\n
 *     photos/${filename}\r\n
 *     --b\r\n
 *     Content-Disposition: form-data; name="file"; filename="cat.jpg"\r\n
 *     Content-Type: image/jpeg\r\n
 *     \r\n
 *     <bytes>\r\n
 *     --b--\r\n
 *
 * Fields are read into memory, within bounds, until the file begins, so that the request can be judged; the bytes of the
 * file are handed on as they arrive. Only the bytes that might be the beginning of a boundary are held back, at most 75.
 * Fields behind the file are passed over, as Amazon documents, but a second file is refused.
 */
export interface Form {
  /** By name in lower case. */
  readonly fields: ReadonlyMap<string, string>
  /** Names as they were written, for messages. */
  readonly names: ReadonlyMap<string, string>
  /** The last part of the path, whichever way its slashes lean. May be empty. */
  readonly fileName: string
  readonly fileType: string | undefined
  /** Once. It counts only when it has ended without an error. */
  readonly file: AsyncGenerator<Buffer>
}

/** The boundary that the request's Content-Type names. */
export function formBoundary(headers: RequestHeaders): string {
  const type = headerValue(headers, 'content-type') ?? ''
  if (!/^multipart\/form-data\s*(?:;|$)/i.test(type)) {
    throw s3Error('PreconditionFailed', {
      fields: { Condition: 'Bucket POST must be of the enclosure-type multipart/form-data' },
    })
  }
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]*)"|([^\s;"]+))/i.exec(type) ?? []
  const boundary = quoted ?? bare ?? ''
  if (!/^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/.test(boundary))
    throw malformed('The boundary is missing or not valid.')
  return boundary
}

/** Reads up to the first byte of the file. */
export async function readForm(source: AsyncIterable<Buffer>, boundary: string): Promise<Form> {
  const reader = new PartReader(source, boundary)
  const fields = new Map<string, string>()
  const names = new Map<string, string>()
  await reader.begin()
  for (;;) {
    const part = await reader.nextPart()
    if (part === undefined) throw wrongFiles(0)
    const name = part.name.toLowerCase()
    if (name === 'file') {
      return {
        fields,
        names,
        fileName: part.fileName?.replace(/^.*[/\\]/s, '') ?? '',
        fileType: part.type,
        file: fileOf(reader),
      }
    }
    if (fields.has(name)) throw malformed(`The field ${part.name} is there twice.`)
    if (fields.size >= formFieldsMax) throw tooMuchBefore()
    fields.set(name, await reader.fieldText())
    names.set(name, part.name)
  }
}

async function* fileOf(reader: PartReader): AsyncGenerator<Buffer> {
  reader.endOfFields()
  yield* reader.content()
  reader.beginTail()
  for (;;) {
    const part = await reader.nextPart()
    if (part === undefined) break
    if (part.name.toLowerCase() === 'file') throw wrongFiles(2)
    for await (const _ of reader.content());
  }
  await reader.drain()
}

interface Part {
  readonly name: string
  readonly fileName: string | undefined
  readonly type: string | undefined
}

class PartReader {
  readonly #source: AsyncIterator<Buffer>
  readonly #delimiter: Buffer
  /** Read from the source and not used yet. */
  #held: Buffer = Buffer.from('\r\n')
  #hasEnded = false
  /** How much more may be read; without a limit while the file is. */
  #bytesLeft = formFieldsBytesMax
  #limit: 'fields' | 'file' | 'tail' = 'fields'

  constructor(source: AsyncIterable<Buffer>, boundary: string) {
    this.#source = source[Symbol.asyncIterator]()
    // The line end before a boundary belongs to it. The first has none, so one is put before the body.
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
  }

  /** What stands before the first boundary is not for anybody. */
  async begin(): Promise<void> {
    for await (const _ of this.content());
  }

  /** The file has no limit here. What of it was read along with the fields was within theirs. */
  endOfFields(): void {
    this.#limit = 'file'
  }

  beginTail(): void {
    this.#limit = 'tail'
    this.#bytesLeft = formTailBytesMax
  }

  /** The part behind the boundary that was just passed, or nothing when it was the last. */
  async nextPart(): Promise<Part | undefined> {
    while (this.#held.length < 2) await this.#more()
    if (this.#held[0] === dash && this.#held[1] === dash) {
      this.#held = this.#held.subarray(2)
      return undefined
    }
    // Blanks may stand between a boundary and the end of its line (RFC 2046, 5.1.1).
    const lineEnd = await this.#find('\r\n')
    if (!/^[ \t]*$/.test(this.#held.toString('latin1', 0, lineEnd))) throw malformed('A boundary is followed by text.')
    this.#spend(lineEnd)
    const end = await this.#find('\r\n\r\n')
    const lines = this.#held.subarray(2, Math.max(2, end))
    if (!isUtf8(lines)) throw malformed('The headers of a part are not valid UTF-8.')
    const part = readPartHeaders(lines.toString('utf8'))
    this.#spend(end + 4)
    return part
  }

  async fieldText(): Promise<string> {
    const pieces: Buffer[] = []
    for await (const piece of this.content()) pieces.push(piece)
    const bytes = Buffer.concat(pieces)
    if (!isUtf8(bytes)) throw malformed('A field is not valid UTF-8.')
    return bytes.toString('utf8')
  }

  /** Bytes up to the next boundary, which is passed. */
  async *content(): AsyncGenerator<Buffer> {
    for (;;) {
      const found = this.#held.indexOf(this.#delimiter)
      // All but what may be the beginning of a boundary is sure to be content.
      const sure = found < 0 ? this.#held.length - this.#begunBytes() : found
      const piece = this.#held.subarray(0, sure)
      if (this.#limit !== 'file') this.#count(piece.length + (found < 0 ? 0 : this.#delimiter.length))
      this.#held = this.#held.subarray(found < 0 ? sure : found + this.#delimiter.length)
      if (piece.length > 0) yield piece
      if (found >= 0) return
      await this.#more()
    }
  }

  /** What stands behind the last boundary. */
  async drain(): Promise<void> {
    while (!this.#hasEnded) {
      this.#spend(this.#held.length)
      const next = await this.#source.next()
      if (next.done === true) this.#hasEnded = true
      else this.#held = next.value
    }
  }

  /** How many of the last bytes are how the delimiter begins. Mostly none, so that nothing has to be joined. */
  #begunBytes(): number {
    const held = this.#held
    let at = held.indexOf(carriageReturn, Math.max(0, held.length - this.#delimiter.length + 1))
    while (at >= 0) {
      const bytes = held.length - at
      if (held.compare(this.#delimiter, 0, bytes, at) === 0) return bytes
      at = held.indexOf(carriageReturn, at + 1)
    }
    return 0
  }

  async #find(text: string): Promise<number> {
    for (;;) {
      const found = this.#held.indexOf(text, 0, 'latin1')
      if (found > formPartHeaderBytesMax || (found < 0 && this.#held.length > formPartHeaderBytesMax + text.length)) {
        throw malformed(`The headers of a part are longer than ${formPartHeaderBytesMax} bytes.`)
      }
      if (found >= 0) return found
      await this.#more()
    }
  }

  #spend(bytes: number): void {
    this.#count(bytes)
    this.#held = this.#held.subarray(bytes)
  }

  #count(bytes: number): void {
    this.#bytesLeft -= bytes
    if (this.#bytesLeft >= 0 || this.#limit === 'file') return
    if (this.#limit === 'fields') throw tooMuchBefore()
    throw malformed('Too much follows the file.')
  }

  async #more(): Promise<void> {
    const next = await this.#source.next()
    if (next.done === true) throw s3Error('IncompleteBody', { message: 'The form ends before its last boundary.' })
    this.#held = this.#held.length === 0 ? next.value : Buffer.concat([this.#held, next.value])
  }
}

const dash = 0x2d
const carriageReturn = 0x0d

function readPartHeaders(text: string): Part {
  let disposition: string | undefined
  let type: string | undefined
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon <= 0) throw malformed('A part has a line that is no header.')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (name === 'content-disposition') disposition = value
    else if (name === 'content-type') type = value
  }
  if (disposition === undefined || !/^form-data\s*;/i.test(disposition)) {
    throw malformed('A part is not form-data.')
  }
  const name = parameterOf(disposition, 'name')
  if (name === undefined || name === '') throw malformed('A part has no name.')
  if (Buffer.byteLength(name) > formFieldNameBytesMax) {
    throw malformed(`The name of a part is longer than ${formFieldNameBytesMax} bytes.`)
  }
  return { name, fileName: parameterOf(disposition, 'filename'), type }
}

/** Browsers write a quote as %22, other clients as `\"`. A backslash before anything else is one of a Windows path. */
function parameterOf(disposition: string, name: string): string | undefined {
  for (const match of disposition.matchAll(/;\s*([\w*]+)\s*=\s*(?:"((?:\\"|[^"])*)"|([^\s;"]*))/g)) {
    const [, found = '', quoted, bare = ''] = match
    if (found.toLowerCase() !== name) continue
    return quoted === undefined ? bare : quoted.replaceAll('\\"', '"').replaceAll('%22', '"')
  }
  return undefined
}

/** Amazon's table has `IncorrectNumberOfFilesInPostRequest`; what Amazon answers is this (seen in many reports). */
function wrongFiles(count: number): S3Error {
  return invalidArgument('POST requires exactly one file upload per request.', 'file', String(count))
}

function tooMuchBefore(): S3Error {
  return s3Error('MaxPostPreDataLengthExceededError', {
    fields: { MaxPostPreDataLengthBytes: String(formFieldsBytesMax) },
  })
}

function malformed(message: string): S3Error {
  return s3Error('MalformedPOSTRequest', {
    message: `The body of your POST request is not well-formed multipart/form-data. ${message}`,
  })
}
