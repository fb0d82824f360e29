import { s3Error } from '../errors.ts'

/** Bytes `start` to `end`, both included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/**
 * Reads a `Range` header against the size of the object (RFC 9110, 14). Nothing means the whole object: no header, another
 * unit, a malformed one (to be ignored, 14.2; with blanks inside it is one to Amazon), or several ranges (which a server may ignore, and Amazon does).
 * One that lies past the end is `InvalidRange`, 416 with `Content-Range: bytes *\/size`.
 */
export function readRange(header: string | undefined, sizeBytes: number): ByteRange | undefined {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header ?? '')
  if (match === null || header === undefined) return undefined
  const [, first = '', last = ''] = match
  if (first === '' && last === '') return undefined
  if (first === '') {
    const length = whole(last)
    if (length === 0 || sizeBytes === 0) throw unsatisfiable(header, sizeBytes)
    return { start: Math.max(0, sizeBytes - length), end: sizeBytes - 1 }
  }
  const start = whole(first)
  if (last !== '' && whole(last) < start) return undefined
  if (start >= sizeBytes) throw unsatisfiable(header, sizeBytes)
  return { start, end: last === '' ? sizeBytes - 1 : Math.min(whole(last), sizeBytes - 1) }
}

/** `x-amz-copy-source-range`: only `bytes=first-last`, both there and within the source (UploadPartCopy). */
export function readCopyRange(header: string | undefined, sizeBytes: number): ByteRange | undefined {
  if (header === undefined) return undefined
  const match = /^bytes=(\d+)-(\d+)$/.exec(header)
  const start = whole(match?.[1] ?? '')
  const end = whole(match?.[2] ?? '')
  if (match === null || end < start) {
    throw s3Error('InvalidArgument', {
      message:
        'The x-amz-copy-source-range value must be of the form bytes=first-last where first and last are the ' +
        'zero-based offsets of the first and last bytes to copy',
      fields: { ArgumentName: 'x-amz-copy-source-range', ArgumentValue: header },
    })
  }
  if (end >= sizeBytes) {
    throw s3Error('InvalidArgument', {
      message: `Range specified is not valid for source object of size: ${sizeBytes}`,
      fields: { ArgumentName: 'x-amz-copy-source-range', ArgumentValue: header },
    })
  }
  return { start, end }
}

export function contentRange({ start, end }: ByteRange, sizeBytes: number): string {
  return `bytes ${start}-${end}/${sizeBytes}`
}

/** A number of any length: beyond what is exact it is as good as endless. */
function whole(digits: string): number {
  return Math.min(Number(digits), Number.MAX_SAFE_INTEGER)
}

function unsatisfiable(header: string, sizeBytes: number): Error {
  return s3Error('InvalidRange', {
    fields: { RangeRequested: header, ActualObjectSize: String(sizeBytes) },
    headers: { 'Content-Range': `bytes */${sizeBytes}` },
  })
}
