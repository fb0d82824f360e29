/** What no field takes, and how a refusal of it is to look. */
import assert from 'node:assert/strict'
import type { Behaviour } from '../../src/core/behaviour.ts'
import type { Field } from '../../src/model/resource.ts'
import { asText } from '../support/body.ts'
import type { Reply } from '../support/rest-client.ts'

/** The fields that a request for this sets. */
export const settable = (behaviour: Behaviour, purpose: 'create' | 'modify') =>
  [...behaviour.resource.fields.values()].filter(({ set }) => set === 'always' || set === purpose)

/** Values that no field of the kind takes. */
export function wrongFor(field: Field): unknown[] {
  const always: unknown[] = [{ nonsense: 1 }]
  switch (field.kind.name) {
    case 'bytes':
    case 'count':
      return [...always, 'large', -1e300, 1.5, true, [1, 2], '', '9'.repeat(40), Number.MAX_VALUE]
    case 'flag':
      return [...always, 'maybe', 2, []]
    case 'time':
      return [...always, 'yesterday', 1e300]
    case 'duration':
      return [...always, '5 minutes', 5]
    case 'uuid':
      return [...always, 'x', 5, '../..', []]
    case 'oneOf':
      return [...always, 'nonsense', 5, '', 'constructor', []]
    case 'address':
      return [...always, 'x', '1.2.3', 5, '999.1.1.1', []]
    case 'name':
      return [...always, '', ' ', 'a/b', '../x', 'a\0b', 'x'.repeat(5000), []]
    case 'each':
      return [
        ...always,
        // Text is the name of an element, where elements have one.
        ...(field.kind.members?.['name'] === undefined ? ['x'] : []),
        5,
        [[]],
        [null],
        [{ nonsense: 1 }],
        [{ __proto__x: 1 }],
        Array.from({ length: 3000 }, () => ({})),
      ]
    case 'list':
      return [...always, [{}], Array(3000).fill('x')]
    default:
      return [...always, 'a\0b', '\x1b[31m', 'x'.repeat(100_000), [], [['x']]]
  }
}

export function nested(path: string, value: unknown): Record<string, unknown> {
  return { [path]: value }
}

/** It has one of the statuses and a message for people, which tells nothing of the program. */
export function isClear(reply: Reply, statuses: readonly number[], about: string): void {
  assert.ok(statuses.includes(reply.status), `${about}: ${reply.status} ${reply.text.slice(0, 300)}`)
  assert.match(reply.headers['content-type'] ?? '', /json/, about)
  const message = asText(reply.body['error']?.['message'])
  assert.ok(message.length > 5 && message.length < 1000, about)
  assert.doesNotMatch(
    reply.text,
    /node_modules|\.ts:|\bat \S+ \(|TypeError|SyntaxError|RangeError|sqlite|undefined|\[object/i,
    about,
  )
}
