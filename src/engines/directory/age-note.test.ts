import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readAgeNote, writeAgeNote } from './age-note.ts'

const AGGREGATE = '7f4f3a52-0c5c-4f0c-9a30-6d2f1b0c9f11'
const NOTE = { line: '0123456789abcdef', changes: 4711, timeMs: 1_795_400_000_000 }

test('a note of the age of the catalog with a flipped bit is none, or says the same', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-age-'))
  writeFileSync(join(folder, 'aggregate.json'), JSON.stringify({ aggregate: AGGREGATE, made: null }))
  await writeAgeNote(folder, AGGREGATE, NOTE)
  assert.deepEqual(await readAgeNote(folder, AGGREGATE), NOTE)
  const file = join(folder, 'catalog-age.json')
  const whole = readFileSync(file)
  for (let bit = 0; bit < whole.length * 8; bit++) {
    const damaged = Buffer.from(whole)
    damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    writeFileSync(file, damaged)
    const read = await readAgeNote(folder, AGGREGATE)
    if (read !== undefined) assert.deepEqual(read, NOTE, damaged.toString())
  }
  const { line, changes, timeMs } = NOTE
  writeFileSync(file, JSON.stringify({ line, changes, timeMs }))
  assert.deepEqual(await readAgeNote(folder, AGGREGATE), NOTE, 'of the release before')
  rmSync(folder, { recursive: true })
})
