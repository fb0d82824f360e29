import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const SOURCES = join(import.meta.dirname, '..')

test('no statement has a LIMIT that SQLite plans it anew for whenever it is bound', () => {
  const files = globSync(['catalog/**/*.ts', 'engines/sqlite/**/*.ts'], {
    cwd: SOURCES,
    exclude: (name) => name.endsWith('.test.ts'),
  })
  assert.ok(files.length > 50)
  for (const file of files) {
    const alone = /LIMIT \?\d*(?! \+ 0|\d)[^\n]*/.exec(readFileSync(join(SOURCES, file), 'utf8'))
    if (file !== join('catalog', 'statements.ts')) assert.equal(alone?.[0], undefined, file)
  }
})
