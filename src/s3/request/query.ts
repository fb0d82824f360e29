import { isUtf8 } from 'node:buffer'
import { s3Error } from '../errors.ts'
import { percentDecode } from './percent.ts'

/** A query has at most this many parameters. The most any operation takes is below 20, signature included. */
export const queryParametersMax = 200

export interface QueryParameter {
  readonly name: string
  readonly value: string
}

/**
 * The parameters of a query string in the order they came, decoded once. `+` is a blank: clients that write one sign
 * it as `%20`. A parameter without `=` has the value ''.
 */
export function queryParameters(rawQuery: string): readonly QueryParameter[] {
  if (rawQuery === '') return []
  const parameters: QueryParameter[] = []
  for (const part of rawQuery.split('&')) {
    if (part === '') continue
    if (parameters.length >= queryParametersMax) {
      throw s3Error('InvalidURI', { message: `The query has more than ${queryParametersMax} parameters.` })
    }
    const equals = part.indexOf('=')
    parameters.push({
      name: queryText(equals < 0 ? part : part.slice(0, equals)),
      value: equals < 0 ? '' : queryText(part.slice(equals + 1)),
    })
  }
  return parameters
}

const noParameters: ReadonlyMap<string, string> = new Map()

/** For look-ups by name. Of a parameter that came twice, the first counts. */
export function queryMap(parameters: readonly QueryParameter[]): ReadonlyMap<string, string> {
  if (parameters.length === 0) return noParameters
  const map = new Map<string, string>()
  for (const { name, value } of parameters) if (!map.has(name)) map.set(name, value)
  return map
}

function queryText(raw: string): string {
  const bytes = percentDecode(raw.includes('+') ? raw.replaceAll('+', '%20') : raw)
  if (!isUtf8(bytes)) throw s3Error('InvalidURI', { message: 'The query is not valid UTF-8.' })
  return bytes.toString('utf8')
}
