import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PageRoom, SHORT_PAGE_ROWS } from './page-room.ts'

test('long pages wait for each other, short ones for nobody, and a failed one gives its place up', async () => {
  const room = new PageRoom({ charactersMax: 1, atOnce: 1 })
  const first = Promise.withResolvers<string>()
  const begun: string[] = []
  const page = (name: string, rows: number, made: Promise<string>) =>
    room.make(async (hasRows) => {
      await hasRows(1)
      await hasRows(rows)
      await hasRows(rows + 1)
      begun.push(name)
      return made
    })
  const failing = page('failing', SHORT_PAGE_ROWS + 1, first.promise)
  const long = page('long', SHORT_PAGE_ROWS + 1, Promise.resolve('made'))
  assert.equal(await page('short', SHORT_PAGE_ROWS - 1, Promise.resolve('at once')), 'at once')
  assert.deepEqual(begun.toSorted(), ['failing', 'short'])
  first.reject(new Error('for the test'))
  await assert.rejects(failing, /for the test/)
  assert.equal(await long, 'made')
})
