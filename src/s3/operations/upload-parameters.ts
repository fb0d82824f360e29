import type { ObjectCall } from '../exchange/call.ts'
import { invalidArgument } from '../errors.ts'
import { partsMax } from '../objects/limits.ts'

export function uploadIdOf({ query }: ObjectCall): string {
  return query.get('uploadId') ?? ''
}

export function partNumberOf({ query }: ObjectCall): number {
  const text = query.get('partNumber') ?? ''
  const number = Number(text)
  if (/^\d{1,5}$/.test(text) && number >= 1 && number <= partsMax) return number
  throw invalidArgument(`Part number must be an integer between 1 and ${partsMax}, inclusive`, 'partNumber', text)
}
