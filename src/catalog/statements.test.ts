import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

test('no statement has a LIMIT that SQLite plans it anew for whenever it is bound', () => {
  const files = globSync('**/*.ts', { cwd: import.meta.dirname, exclude: (name) => name.endsWith('.test.ts') })
  assert.ok(files.length > 50)
  for (const file of files) {
    const alone = /LIMIT \?\d*(?! \+ 0|\d)[^\n]*/.exec(readFileSync(join(import.meta.dirname, file), 'utf8'))
    if (file !== 'statements.ts') assert.equal(alone?.[0], undefined, file)
  }
})
