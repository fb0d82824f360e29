/** The body of a command: a draft, with fields of the model in place of its names. */
import { failure } from '../../model/failure.ts'
import { isRecord, type Json } from '../../model/value.ts'
import type { RestRequest } from '../rest/answer.ts'
import { parseJson } from '../rest/json.ts'
import { meaningOf } from './query.ts'
import type { Command } from './tree.ts'

/** What is given of a record, by the paths of fields. Verbs parse the values. */
export type Given = Readonly<Record<string, unknown>>

export function bodyOf({ body }: RestRequest): Readonly<Record<string, unknown>> {
  const given = body.trim() === '' ? {} : parseJson(body)
  if (!isRecord(given)) throw failure('bodyNotObject')
  return given
}

export function givenOf(command: Command, request: RestRequest): Given {
  const given: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(bodyOf(request))) {
    const meaning = meaningOf(command, name)
    if (typeof meaning === 'string') given[meaning] = value
    else if (meaning.read === undefined) throw failure('fieldNotModifiable', { field: name })
    else Object.assign(given, served(command, meaning.read(value)))
  }
  return given
}

/** What takes a part of a record back. */
export function clearing(command: Command): Given {
  const paths = command.part?.clear ?? []
  return served(command, Object.fromEntries(paths.map((path): [string, null] => [path, null])))
}

/** What makes a part of a record. */
export function setting(command: Command, set: Readonly<Record<string, Json>>, given: Given): Given {
  return { ...served(command, set), ...given }
}

/** Without what says no of a field that the release does not have. */
function served({ names }: Command, fields: Given): Given {
  return Object.fromEntries(Object.entries(fields).filter(([path, value]) => Boolean(value) || names.isServed(path)))
}
