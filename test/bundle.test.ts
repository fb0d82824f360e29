import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const run = promisify(execFile)
const NO_PROC = existsSync('/proc/self/status') ? false : 'there is no /proc to see processes in'
/** Makes the programs and says how many processes it still has, some time later at most. */
const BESIDE = String.raw`import { readdirSync, readFileSync } from 'node:fs'
import { bundle } from './bin/bundle.mjs'
const isChild = (pid) => {
  try {
    return readFileSync('/proc/' + pid + '/status', 'utf8').includes('PPid:\t' + process.pid + '\n')
  } catch {
    return false
  }
}
const children = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isChild(name)).length
await bundle()
for (let tries = 0; children() > 0 && tries < 200; tries++) await new Promise((done) => setTimeout(done, 50))
console.log(children())
`

describe('the programs that are made of the sources', () => {
  const copy = mkdtempSync(join(tmpdir(), 'holdfast-bundle-'))
  const cache = join(copy, 'node_modules/.cache/holdfast')
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    writeFileSync(join(copy, file), text)
  }
  const bundle = async () => (await run(process.execPath, [join(copy, 'bin/bundle.mjs')])).stdout.trim()
  const said = async (folder: string) => (await run(process.execPath, [join(folder, 'holdfast.js')])).stdout

  before(() => {
    mkdirSync(join(copy, 'node_modules'))
    for (const name of ['esbuild', '@esbuild'])
      symlinkSync(join(root, 'node_modules', name), join(copy, 'node_modules', name))
    cpSync(join(root, 'bin/bundle.mjs'), join(copy, 'bin/bundle.mjs'))
    write('package-lock.json', '{}')
    write('src/greeting.ts', `export const greeting: string = 'first'\n`)
    write('src/engines/sqlite/writer-process.ts', '')
    write('bin/worker.ts', '')
    write('bin/holdfast.ts', `import { greeting } from '../src/greeting.ts'\nprocess.stdout.write(greeting)\n`)
  })
  after(() => rmSync(copy, { recursive: true }))

  it('are made once, whole, by however many starts at the same instant', async () => {
    const [folder, ...others] = await Promise.all(Array.from({ length: 4 }, bundle))
    assert.deepEqual(new Set(others), new Set([folder]))
    assert.deepEqual(readdirSync(cache), [folder?.split('/').at(-1)])
    assert.equal(await said(folder ?? ''), 'first')
  })

  it('leave no process of the bundler beside who has made them', { skip: NO_PROC }, async () => {
    write('src/greeting.ts', `export const greeting: string = 'alone'\n`)
    write('beside.mjs', BESIDE)
    assert.equal((await run(process.execPath, [join(copy, 'beside.mjs')])).stdout, '0\n')
  })

  it('stay as they are for those that run when the sources change', async () => {
    const before = await bundle()
    write('src/greeting.ts', `export const greeting: string = 'second'\n`)
    const after = await bundle()
    assert.deepEqual([await said(before), await said(after)], ['alone', 'second'])
  })

  it('are removed when they have not been used for a day and there are ten newer ones', async () => {
    const old = Array.from({ length: 12 }, (_, at) => `programs-${at}`)
    for (const [at, name] of old.entries()) {
      mkdirSync(join(cache, name))
      // Two of them are from a week before, the others of today.
      if (at < 2) utimesSync(join(cache, name), Date.now() / 1000 - 7 * 86_400, Date.now() / 1000 - 7 * 86_400)
    }
    const compiled = join(cache, 'v24.0.0-x64-0-0')
    for (const [name, days] of Object.entries({ recent: 2, long: 8 })) {
      mkdirSync(compiled, { recursive: true })
      writeFileSync(join(compiled, name), '')
      utimesSync(join(compiled, name), Date.now() / 1000 - days * 86_400, Date.now() / 1000 - days * 86_400)
    }
    write('src/greeting.ts', `export const greeting: string = 'third'\n`)
    const made = (await bundle()).split('/').at(-1)
    const left = readdirSync(cache)
    assert.ok(left.includes(made ?? ''))
    assert.deepEqual(
      old.filter((name) => !left.includes(name)),
      ['programs-0', 'programs-1'],
    )
    assert.deepEqual(readdirSync(compiled), ['recent'])
  })

  it('say what is wrong in a source that cannot be read, and leave nothing half made', async () => {
    const names = readdirSync(cache)
    write('src/greeting.ts', 'export const greeting = {\n')
    await assert.rejects(bundle(), /greeting\.ts:2/)
    assert.deepEqual(readdirSync(cache), names)
    assert.equal(readFileSync(join(copy, 'package-lock.json'), 'utf8'), '{}')
  })

  it('have the packages within them, also those that ask for modules of Node.js as CommonJS does', async () => {
    write('node_modules/said/package.json', '{"name":"said"}')
    write('node_modules/said/index.js', `exports.said = () => require('node:path').basename('/a/by a package')`)
    write('bin/holdfast.ts', `import { said } from 'said'\nprocess.stdout.write(said())\n`)
    const folder = await bundle()
    rmSync(join(copy, 'node_modules/said'), { recursive: true })
    assert.equal(await said(folder), 'by a package')
  })
})
