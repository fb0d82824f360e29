import { malformed } from '../xml/xml.ts'
import type { XmlNode } from '../xml/xml.ts'

/** A configuration document is judged by its schema: an element that nobody knows is malformed, not passed over. */
export function checkElements(node: XmlNode, names: readonly string[]): void {
  for (const { name } of node.children) {
    if (!names.includes(name)) throw malformed(`${node.name} cannot have a ${name}.`)
  }
}

/** A number that may be negative or too large, for the caller to judge; text that is no number is malformed. */
export function findNumber(node: XmlNode, name: string): number | undefined {
  const found = node.children.filter((child) => child.name === name)
  const [first] = found
  if (first === undefined) return undefined
  const text = first.text.trim()
  if (found.length > 1 || !/^[+-]?\d{1,15}$/.test(text)) throw malformed(`${name} must be one whole number.`)
  return Number(text)
}

/**
 * Milliseconds of an ISO 8601 date: `2030-01-01`, `2030-01-01T00:00:00Z`, with a fraction, or with an offset instead of
 * `Z`. Without any of the two it is UTC. Nothing when it is no such date, or none of the calendar, such as 30 February.
 */
export function readIsoDate(text: string): number | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,9}))?(Z|[+-]\d\d:?\d\d)?)?$/.exec(
    text.trim(),
  )
  if (match === null) return undefined
  const [, year, month, day, time = '00:00:00', fraction = '', zone = 'Z'] = match
  const date = `${year}-${month}-${day}`
  const midnight = Date.parse(`${date}T00:00:00Z`)
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return undefined
  const offset = zone.length === 5 ? `${zone.slice(0, 3)}:${zone.slice(3)}` : zone
  const value = Date.parse(
    `${date}T${time.length === 5 ? `${time}:00` : time}.${fraction.slice(0, 3).padEnd(3, '0')}${offset}`,
  )
  return Number.isNaN(value) ? undefined : value
}
