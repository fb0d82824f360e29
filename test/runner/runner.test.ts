/** The runner of these tests, over files that crash, hang and leave things behind. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { LONGEST, longestFirst } from './order.ts'

const MAIN = fileURLToPath(new URL('main.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'holdfast-runner-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const head = `
import { after, before, beforeEach, test } from 'node:test'
import assert from 'node:assert/strict'
`
const FILES = {
  crash: `test('before the crash', () => {})
    test('crashes', () => process.kill(process.pid, 'SIGKILL'))`,
  exit: `test('leaves', () => process.exit(0))`,
  broken: `throw new Error('not to be loaded')`,
  failing: `test('is wrong', () => assert.equal(1, 2)); test('is right', () => {}); test.skip('is skipped', () => {})`,
  environment: `test('sets', () => { process.env.LEFT_BEHIND = '1' })`,
  global: `test('sets', () => { globalThis.leftBehind = 1 })`,
  clock: `test('sets', () => { globalThis.Date = class extends Date {} })`,
  server: `import { createServer } from 'node:http'
    test('listens', async () => { const server = createServer().listen(0); await new Promise((done) => server.once('listening', done)) })`,
  timer: `test('waits', () => { setInterval(() => {}, 1000) })`,
  child: `import { spawn } from 'node:child_process'
    test('starts', () => { spawn('sleep', ['30'], { stdio: 'ignore' }) })`,
  hooks: `let count = 0; let open = false
    before(() => { open = true }); beforeEach(() => { count++ }); after(() => { open = false; globalThis.hooksOfOne = undefined; delete globalThis.hooksOfOne })
    test('first', () => assert.deepEqual([open, count], [true, 1])); test('second', () => assert.equal(count, 2))`,
  late: `import { setTimeout as wait } from 'node:timers/promises'
    test('throws later', async ({ signal }) => { setTimeout(() => { throw new Error('nobody caught it') }, 1); await wait(10_000, undefined, { signal }) })
    test('rejects', async ({ signal }) => { await wait(1); Promise.reject(new Error('nobody waited')); await wait(10_000, undefined, { signal }) })
    test('is right itself', () => wait(5))`,
  within: `let ended = ''
    test('has an end of its own', async () => { await null; after(() => { ended = 'inner' }) })
    test('sees that end', () => assert.equal(ended, 'inner'))`,
  fine: `test('sees nothing of the other files', () => assert.deepEqual([process.env.LEFT_BEHIND, globalThis.leftBehind, globalThis.hooksOfOne], [undefined, undefined, undefined]))`,
}

let output = ''
let status: number | null = null
before(() => {
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, `${name}.test.ts`), head + text)
  const ran = runTests(['--profile', join(folder, '*.test.ts')])
  output = ran.output
  status = ran.status
})

function runTests(args: readonly string[]): { readonly output: string; readonly status: number | null } {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const ran = spawnSync(process.execPath, [MAIN, ...args], { encoding: 'utf8', env })
  return { output: ran.stdout + ran.stderr, status: ran.status }
}

/** What the list of failures at the end says of a file. */
function failureOf(name: string): string {
  const list = output.slice(output.indexOf('failing tests:'))
  const found = list.split('✖ ').find((part) => part.startsWith(join(folder, `${name}.test.ts`)))
  return found ?? ''
}

test('a file that ends its process is named, and the other files are tested', () => {
  assert.match(failureOf('crash'), /The file ends its process/)
  assert.match(failureOf('exit'), /The file ends its process/)
  assert.match(output, /✔ sees nothing of the other files/)
  assert.equal(status, 1)
})

test('a file that hangs is ended after its time, and named, also where it has signals to handle', () => {
  const path = join(folder, 'hang.ts')
  writeFileSync(path, `${head} process.on('SIGTERM', () => {}); test('loops', () => { for (;;); })`)
  const ran = runTests(['--file-seconds', '1', path])
  assert.match(ran.output, /✖ .*hang\.ts\n.*The file takes longer than 1 s/)
  assert.equal(ran.status, 1)
})

test('a file that cannot be loaded is named with the reason', () => {
  assert.match(failureOf('broken'), /not to be loaded/)
})

test('what a file leaves behind fails it by name', () => {
  assert.match(failureOf('environment'), /the environment variable LEFT_BEHIND/)
  assert.match(failureOf('global'), /the global leftBehind/)
  assert.match(failureOf('clock'), /a replaced Date/)
  assert.match(failureOf('server'), /1 TCPServerWrap/)
  assert.match(failureOf('timer'), /1 Timeout/)
  assert.match(failureOf('child'), /1 ProcessWrap/)
})

test('an error that nobody caught fails the test that it comes from', () => {
  assert.match(output, /✖ throws later/)
  assert.match(output, /✖ rejects/)
  assert.match(output, /✔ is right itself/)
  assert.match(output, /nobody caught it/)
  assert.match(output, /nobody waited/)
})

test('what is to be done after a test is done after that test, and not after its file', () => {
  assert.match(output, /✔ sees that end/)
  assert.equal(failureOf('within'), '')
})

test('the longest files begin first', () => {
  for (const file of LONGEST) assert.ok(existsSync(file), file)
  const files = ['src/a.test.ts', 'src/s3/safety.test.ts', 'test/clients/start.test.ts']
  assert.deepEqual(longestFirst(files), ['src/s3/safety.test.ts', 'test/clients/start.test.ts', 'src/a.test.ts'])
})

test('hooks of a file are for its own tests', () => {
  assert.match(output, /✔ first/)
  assert.match(output, /✔ second/)
  assert.equal(failureOf('hooks'), '')
})

test('the counts are those of all files', () => {
  const count = (name: string) => Number(new RegExp(`^ℹ ${name} (\\d+)`, 'm').exec(output)?.[1])
  // Failed: three tests, and the files that ended badly or left something behind.
  assert.equal(count('fail'), 1 + 9 + 2)
  assert.equal(count('skipped'), 1)
  assert.equal(count('suites'), Object.keys(FILES).length)
})

test('the profile tells the cost of each file', () => {
  const profile = output.slice(output.indexOf('CPU s'))
  for (const name of Object.keys(FILES)) assert.ok(profile.includes(`${name}.test.ts`), name)
  assert.match(profile, /\d+\.\d\d +in all/)
})

test('a run is repeated until it fails, and a pattern without a file is an error', () => {
  const twice = runTests(['--repeat', '2', join(folder, 'hooks.test.ts')])
  assert.equal(twice.output.match(/^Run \d of 2$/gm)?.length, 2)
  assert.equal(twice.status, 0)
  const failing = runTests(['--repeat', '3', join(folder, 'failing.test.ts')])
  assert.equal(failing.output.match(/^Run \d of 3$/gm)?.length, 1)
  assert.equal(failing.status, 1)
  const none = runTests([join(folder, 'absent.test.ts')])
  assert.match(none.output, /No test file matches/)
  assert.equal(none.status, 2)
})
