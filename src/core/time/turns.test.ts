import assert from 'node:assert/strict'
import { test } from 'node:test'
import { realSystem } from '../../engines/system.ts'
import { inTurns } from './turns.ts'

function system() {
  let nowMs = 0
  let turns = 0
  return {
    ...realSystem,
    clock: { ...realSystem.clock, elapsed: () => nowMs },
    turn: () => {
      turns++
      return Promise.resolve()
    },
    pass: (ms: number) => {
      nowMs += ms
    },
    turns: () => turns,
  }
}

async function each(of: ReturnType<typeof system>, items: number, msEach: number): Promise<number[]> {
  const met: number[] = []
  for await (const some of inTurns(
    of,
    Array.from({ length: items }, (_, n) => n),
  )) {
    met.push(...some)
    of.pass(some.length * msEach)
  }
  return met
}

test('every item comes once, in order', async () => {
  for (const items of [0, 1, 49, 50, 51, 1234]) {
    assert.deepEqual(
      await each(system(), items, 0.1),
      Array.from({ length: items }, (_, n) => n),
    )
  }
})

test('a few are done at once; many let others go on before they begin, and after each few milliseconds', async () => {
  const few = system()
  await each(few, 50, 1)
  assert.equal(few.turns(), 0)
  const quick = system()
  await each(quick, 1000, 0.001)
  assert.equal(quick.turns(), 1)
  const slow = system()
  await each(slow, 1000, 1)
  assert.equal(slow.turns(), 20)
})
