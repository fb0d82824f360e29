import { failure } from '../model/failure.ts'

/**
 * A query argument of a verb that is true or false, and false when it is not given. Python writes `True`. Fails with
 * `malformed` when it is anything else.
 */
export function flagArgument(args: Readonly<Record<string, string>>, name: string): boolean {
  const word = (args[name] ?? 'false').toLowerCase()
  if (word !== 'true' && word !== 'false') throw failure('flagMalformed', { name })
  return word === 'true'
}
