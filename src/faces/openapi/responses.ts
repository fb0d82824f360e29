/** Answers of the OpenAPI document. */
import type { Json } from '../../model/value.ts'
import { schemaOf } from './schemas.ts'

export function answer(description: string, schema: Json): Json {
  return { description, content: content(schema) }
}

/** Answers are HAL with links, or plain JSON where the client asks for no links. */
function content(schema: Json): Json {
  return { 'application/hal+json': { schema }, 'application/json': { schema } }
}

const ANY = {
  400: 'The request is malformed: bad JSON, an unknown field, a filter that cannot be read.',
  401: 'Credentials are missing or wrong.',
  403: 'The role of the caller does not allow the request.',
  429: 'Too many requests. Retry after the seconds of the header `Retry-After`.',
  503: 'The cluster cannot answer now. Retry after a pause.',
} as const
const ONE = { 404: 'No such record.' } as const
const WRITE = {
  409: 'The request conflicts with the state of the object: it exists, is in use or is busy.',
  413: 'The body is larger than 1 MiB.',
  422: 'A value is not allowed.',
} as const

const ALL: Readonly<Record<string, string>> = { ...ANY, ...ONE, ...WRITE }

const nameOf = (status: string) => `error_${status}`

/** The errors that a read or a write may answer. There is no `default`, so that a tool can find one that is missing. */
export function errorsOf(purpose: 'read' | 'write'): Record<string, Json> {
  const statuses = Object.keys(purpose === 'read' ? { ...ANY, ...ONE } : ALL)
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${nameOf(status)}` }] as const),
  )
}

export const ERROR_RESPONSES: Record<string, Json> = Object.fromEntries(
  Object.entries(ALL).map(([status, description]) => [
    nameOf(status),
    { description, content: content(schemaOf('error')) },
  ]),
)
