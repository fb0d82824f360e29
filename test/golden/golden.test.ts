/**
 * What clients and administrators rely on, written out from the declarations and compared with the files beside this
 * one. A change that is meant is taken over with `UPDATE_GOLDEN=1 npm test -- test/golden/golden.test.ts`, and read in
 * the difference of the files.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { goldenTexts } from './texts.ts'

for (const [name, text] of Object.entries(goldenTexts())) {
  test(`${name} are as written in test/golden/${name}.txt`, () => {
    const file = fileURLToPath(new URL(`${name}.txt`, import.meta.url))
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, text)
    assert.equal(text, readFileSync(file, 'utf8'), `Read the difference; if it is meant, run with UPDATE_GOLDEN=1.`)
  })
}
