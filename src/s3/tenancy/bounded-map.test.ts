import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BoundedMap, keyCharactersMax } from './bounded-map.ts'

test('what is there is made once, and forgotten beyond the bound', async () => {
  const map = new BoundedMap<number>(2)
  let made = 0
  const make = () => Promise.resolve(++made)
  assert.deepEqual(await Promise.all([map.get('a', make), map.get('a', make)]), [1, 1])
  await map.get('b', make)
  await map.get('c', make)
  assert.equal(map.size, 2)
  assert.equal(await map.get('a', make), 4)
})

test('nothing is kept for what is not there, what failed, and names that nothing has', async () => {
  const map = new BoundedMap<number | undefined>(10_000)
  for (let at = 0; at < 100; at++) {
    assert.equal(await map.get(`absent-${at}`, () => Promise.resolve(undefined)), undefined)
    await assert.rejects(map.get(`failed-${at}`, () => Promise.reject(new Error('no'))))
    await map.get('x'.repeat(keyCharactersMax + 1 + at), () => Promise.resolve(1))
  }
  assert.equal(map.size, 0)
})

test('what is asked for again while it is made is made once, also when it is not there', async () => {
  const map = new BoundedMap<number | undefined>(10)
  let made = 0
  const make = () => Promise.resolve((made++, undefined))
  await Promise.all([map.get('a', make), map.get('a', make)])
  assert.equal(made, 1)
})
