/** What a client in a language with static types makes of JSON: values of exactly the types that its structures declare. */
import assert from 'node:assert/strict'
import type { Body } from './body.ts'

/** The types of a structure: what is not there is zero, what is there has to fit. */
export type Shape = 'string' | 'int' | 'float' | 'bool' | readonly [Shape] | { readonly [name: string]: Shape }

/** A decoded structure, to look into. */
export type Decoded = Body

type Given = Readonly<Record<string, unknown>>

/** What is not there or null is the zero of its type; what does not fit ends it. Names that a shape lacks are passed over. */
export function decode(shape: Shape, value: unknown, at: string): Decoded {
  return decoded(shape, value, at) as Decoded
}

function decoded(shape: Shape, value: unknown, at: string): unknown {
  if (typeof shape === 'string') {
    if (value === undefined || value === null) return ZERO[shape]
    assert.ok(FITS[shape](value), `${at}: ${JSON.stringify(value)} is no ${shape}`)
    return value
  }
  if (Array.isArray(shape)) {
    if (value === undefined || value === null) return []
    assert.ok(Array.isArray(value), `${at}: ${JSON.stringify(value)} is no list`)
    return (value as readonly unknown[]).map((one, index) => decoded(shape[0] as Shape, one, `${at}[${index}]`))
  }
  const given = value ?? {}
  assert.ok(typeof given === 'object' && !Array.isArray(given), `${at}: ${JSON.stringify(value)} is no object`)
  const members = Object.entries(shape as { readonly [name: string]: Shape })
  return Object.fromEntries(
    members.map(([name, member]) => [name, decoded(member, (given as Given)[name], `${at}.${name}`)]),
  )
}

const ZERO = { string: '', int: 0, float: 0, bool: false } as const
const FITS = {
  string: (value: unknown) => typeof value === 'string',
  int: (value: unknown) => Number.isSafeInteger(value),
  float: (value: unknown) => typeof value === 'number',
  bool: (value: unknown) => typeof value === 'boolean',
} as const
