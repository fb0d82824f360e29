import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { USAGE } from '../bin/settings.ts'
import { mallocEnvironment } from '../src/engines/heap.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** What `npm run holdfast -- ...` runs. */
function launch(...args: readonly string[]) {
  const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] }
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bin/launch.mjs', ...args], {
    cwd: root,
    env,
    encoding: 'utf8',
  })
  return { status, said: stdout + stderr }
}

test('every command that documents and the help name is one of the product', () => {
  const texts = ['README.md', 'docs/guides/test-your-automation.md'].map((file) =>
    readFileSync(`${root}${file}`, 'utf8'),
  )
  const named = [USAGE, ...texts].flatMap((text) => Array.from(text.matchAll(/(?:holdfast --|^ *holdfast) ([a-z]+)/gm)))
  const commands = new Set(named.map(([, command = '']) => command))
  assert.ok(commands.has('import') && commands.has('replay'), [...commands].join())
  for (const command of commands) {
    const { status, said } = launch(command, '--help')
    assert.deepEqual([status, said], [0, USAGE], command)
  }
})

test('help is given without a command, too', () => {
  for (const args of [['help'], ['--help']]) assert.deepEqual(launch(...args), { status: 0, said: USAGE })
})

test('what is no command is told so, with those that there are', () => {
  const { status, said } = launch('impart')
  assert.equal(status, 2)
  assert.equal(said, `There is no command "impart".\n\n${USAGE}`)
})

test('the launcher, which cannot read TypeScript, gives the main process the settings that its children get', () => {
  const launcher = readFileSync(`${root}bin/launch.mjs`, 'utf8')
  const [, settings = ''] = /const malloc = \{ (.*) \}/.exec(launcher) ?? []
  const expected = Object.entries(mallocEnvironment).map(([name, value]) => `${name}: '${value}'`)
  assert.equal(settings, expected.join(', '))
})
