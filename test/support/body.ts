/** JSON of an answer, to look into: any name leads somewhere, and assertions say whether it is what it should be. */
export interface Body {
  readonly [name: string]: Body
}

export function asText(value: Body | undefined): string {
  const given: unknown = value
  if (typeof given !== 'string') throw new Error(`${JSON.stringify(given)} is not a string.`)
  return given
}

export function asNumber(value: Body | undefined): number {
  const given: unknown = value
  if (typeof given !== 'number') throw new Error(`${JSON.stringify(given)} is not a number.`)
  return given
}

export function asList(value: Body | undefined): readonly Body[] {
  const given: unknown = value
  if (!Array.isArray(given)) throw new Error(`${JSON.stringify(given)} is not a list.`)
  return given as readonly Body[]
}

/** The records of a collection's answer. */
export function recordsOf(body: Body): readonly Body[] {
  return asList(body['records'])
}
