/** Rules of the sources that lint cannot say. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { listFailures } from '../src/core/tables.ts'
import { behaviours } from '../src/resources/index.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const sources = globSync('{bin,src,test,bench}/**/*.{ts,mjs}', { cwd: root }).filter(
  (file) => !file.includes('node_modules'),
)
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')
/** Tests, and what only tests import. */
const isTest = (file: string) => file.endsWith('.test.ts') || basename(file).startsWith('test-')

const SOURCE_LINES_MAX = 500

test('there are sources to look at', () => {
  assert.ok(sources.length > 100)
})

test('every TODO names what is missing', (context) => {
  const bare: string[] = []
  for (const file of sources) {
    if (file === 'test/tidy.test.ts') continue
    for (const [at, line] of textOf(file).split('\n').entries()) {
      const found = /\b(TODO|FIXME|XXX|HACK)\b:?(.*)/.exec(line)
      if (found === null) continue
      context.diagnostic(`${file}:${at + 1}: ${line.trim()}`)
      if (found[1] !== 'TODO' || (found[2]?.trim().split(/\s+/).length ?? 0) < 3)
        bare.push(`${file}:${at + 1}: ${line.trim()}`)
    }
  }
  assert.deepEqual(bare, [], 'Say after TODO what is missing and what happens meanwhile.')
})

test('file names are lower case with hyphens', () => {
  const odd = sources.filter((file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|suite))?\.(ts|mjs)$/.test(basename(file)))
  assert.deepEqual(odd, [])
})

test('a test stands beside the sources that it is about', () => {
  const folders = new Set(sources.filter((file) => !isTest(file)).map((file) => dirname(file)))
  const lost = sources.filter((file) => file.startsWith('src/') && isTest(file) && !folders.has(dirname(file)))
  assert.deepEqual(lost, [])
})

test('no source file is longer than 500 lines', () => {
  const long = sources.filter((file) => !isTest(file) && textOf(file).trimEnd().split('\n').length > SOURCE_LINES_MAX)
  assert.deepEqual(long, [])
})

test('engines are imported where the product is put together, and nowhere else', () => {
  const outside = sources.filter(
    (file) =>
      !/^(bin|test|bench)\//.test(file) &&
      !file.startsWith('src/engines/') &&
      !isTest(file) &&
      !file.endsWith('.suite.ts') &&
      /from '[^']*\/engines\//.test(textOf(file)),
  )
  assert.deepEqual(outside, [])
})

test('the model imports nothing but itself', () => {
  const outside = sources.filter(
    (file) =>
      file.startsWith('src/model/') &&
      !isTest(file) &&
      /from '(?!\.)|\.\.\/(core|faces|resources|s3|engines|ports)\//.test(textOf(file)),
  )
  assert.deepEqual(outside, [])
})

test('every resource file is in the index', () => {
  const index = textOf('src/resources/index.ts')
  const forgotten = sources.filter(
    (file) =>
      file.startsWith('src/resources/') &&
      !isTest(file) &&
      /= define\(/.test(textOf(file)) &&
      !index.includes(`'./${file.slice('src/resources/'.length)}'`),
  )
  assert.deepEqual(forgotten, [])
})

test('no path of a developer is in the sources', () => {
  const personal = sources.filter((file) =>
    /\/(home|Users)\/[a-z]|\/work\/|\/tmp\/scratch/.test(textOf(file).replaceAll(/\/\(home.*$/gm, '')),
  )
  assert.deepEqual(
    personal.filter((file) => file !== 'test/tidy.test.ts'),
    [],
  )
})

test('imports say the extension of the file', () => {
  const bare = sources.filter((file) => /from '\.{1,2}\/[^']*(?<!\.ts|\.mjs|\.json)'/.test(textOf(file)))
  assert.deepEqual(bare, [])
})

test('what only .ci/run runs has a sibling in npm test, and CONTRIBUTING.md names both', () => {
  const rows = textOf('CONTRIBUTING.md')
    .split('\n')
    .filter((line) => line.startsWith('|'))
  let found = 0
  for (const file of sources.filter((each) => each.endsWith('.test.ts'))) {
    const reasons = /reason(?:UnlessWhole\(|WithoutTime\([^,]+,\s*)'([^']+\.test\.ts)'/g
    for (const [, sibling = ''] of textOf(file).matchAll(reasons)) {
      found++
      assert.ok(sources.includes(sibling), `${file} names ${sibling}`)
      const row = rows.find((line) => line.split('|')[1]?.includes(`\`${file}\``))
      const named = row?.split('|')[2] ?? ''
      assert.ok(named.includes(sibling === file ? 'the rest of it' : `\`${sibling}\``), `CONTRIBUTING.md lists ${file}`)
    }
  }
  assert.ok(found > 20)
})

test('only files of tests have hooks at their top: other modules are loaded once for many files', () => {
  const hooked = sources.filter(
    (file) => !file.endsWith('.test.ts') && /^(after|before|afterEach|beforeEach)\(/m.test(textOf(file)),
  )
  assert.deepEqual(hooked, [])
})

/** Rows of failures and events that a file declares for its resource, by the name of the constant. */
const ownRows = (text: string) => [...text.matchAll(/^(?:export )?const (\w+)[^=]*= own(Failures|Events)\(/gm)]

test('failures and events that a file declares are given to its resource', () => {
  const kept = sources
    .filter((file) => /^(src|bin)\//.test(file) && !isTest(file))
    .flatMap((file) =>
      ownRows(textOf(file))
        .filter(([, name = '', what = '']) => {
          const given = new RegExp(`= define\\([^]*^  ${what.toLowerCase()}(: ${name})?,$`, 'm')
          return !given.test(textOf(file))
        })
        .map(([, name]) => `${file}: ${name}`),
    )
  assert.deepEqual(kept, [], 'Give define(…) failures and events, so that everybody sees them.')
})

test('codes of failures are digits in their rows alone', () => {
  const codes = new Set(listFailures(behaviours).map(([, { code }]) => code))
  const outside = sources
    .filter((file) => /^(src|bin)\//.test(file) && !isTest(file) && !file.startsWith('src/model/failures/'))
    .flatMap((file) =>
      [...withoutOwnCodes(textOf(file)).matchAll(/\b\d[\d_]{4,}\b/g)]
        .filter(([digits]) => codes.has(digits.replaceAll('_', '')))
        .map(([digits]) => `${file}: ${digits}`),
    )
  assert.deepEqual(outside, [], 'Throw failure(name), or name its code by codeOf(name).')
})

function withoutOwnCodes(text: string): string {
  return ownRows(text).length === 0 ? text : text.replaceAll(/\bcode: '\d+'/g, '')
}
