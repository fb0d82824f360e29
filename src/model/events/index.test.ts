import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EventEntry } from './entry.ts'
import { eventTable } from './index.ts'

const entries = Object.entries<EventEntry>(eventTable)

test('no two events have the same trap number', () => {
  const traps = entries.map(([, { trap }]) => trap)
  assert.deepEqual(
    traps.filter((trap, at) => traps.indexOf(trap) !== at),
    [],
  )
})

test('an event that is cleared by another names one that there is', () => {
  for (const [name, { clearedBy }] of entries) {
    if (clearedBy !== undefined) assert.ok(clearedBy in eventTable, `${name} is cleared by ${clearedBy}`)
  }
})

test('messages and corrective actions of events are sentences', () => {
  for (const [name, { message, action }] of entries) {
    assert.match(message, /^[A-Z].*\.$/, name)
    assert.match(action, /^[A-Z].*\.$/, name)
  }
})
