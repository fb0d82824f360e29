/** Randomised tests print their seed when they fail, and run again from HOLDFAST_TEST_SEED. */
import { randomInt } from 'node:crypto'
import type { TestContext } from 'node:test'

export function seedOf(test: TestContext): number {
  const given = process.env['HOLDFAST_TEST_SEED']
  const seed = given === undefined ? randomInt(2 ** 31) : Number(given)
  test.diagnostic(`seed ${seed}`)
  return seed
}
