/** The guide for people who test automation is followed: its files are run as they stand, at ports that are free. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, afterEach, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { SeedError, readSeed } from '../src/core/seed/document.ts'
import { release } from '../src/model/release.ts'
import { behaviours } from '../src/resources/index.ts'
import { codeBlocks, consoles, shape } from './support/documents.ts'
import { killAll, startWith } from './support/started.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const guide = readFileSync(join(root, 'docs/guides/test-your-automation.md'), 'utf8')
const [lab = ''] = codeBlocks(guide, 'yaml')
const [ci = '', tests = ''] = codeBlocks(guide, 'sh')
const missing = ['curl', 'sh'].filter((name) => spawnSync('which', [name]).status !== 0)
const skip = missing.length === 0 ? false : `${missing.join(', ')} not installed`

describe('the guide to testing automation', () => {
  let work: string
  before(async () => {
    work = await mkdtemp(join(tmpdir(), 'holdfast-guide-'))
    await writeFile(join(work, 'lab.yaml'), lab)
  })
  afterEach(killAll)
  after(() => rm(work, { recursive: true, force: true }))

  it('its CI script starts a cluster, runs the tests, and leaves nothing but a log and a trace', { skip }, async () => {
    const port = await freePort()
    const here = (text: string) => text.replaceAll('127.0.0.1:8443', `127.0.0.1:${port}`)
    await writeFile(join(work, 'ci.sh'), here(ci))
    await writeFile(join(work, 'tests.sh'), here(tests))
    await symlink(root, join(work, 'holdfast'))
    const ran = await runScript(join(work, 'ci.sh'), {
      HOLDFAST_MANAGEMENT: `127.0.0.1:${port}`,
      HOLDFAST_S3: '',
      HOLDFAST_S3_HTTP: '127.0.0.1:0',
      HOLDFAST_WORKERS: '1',
    })
    const log = await readFile(join(work, 'cluster.log'), 'utf8')
    assert.equal(ran.code, 0, `${ran.said}\n${log}`)
    assert.match(ran.said, /"name":"data"/)
    assert.match(log, /Seeded: 6 made, 0 changed, 0 as they should be\./)
    const folder = /^ {2}Data +(\S+)$/m.exec(log)?.[1] ?? root
    assert.equal(existsSync(folder), false, `${folder} is gone`)
    const trace = await readFile(join(work, 'trace.jsonl'), 'utf8')
    assert.deepEqual(
      trace
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { status: number }).status),
      [201, 429, 429, 200],
    )
    assert.doesNotMatch(trace, /only-for-tests/)
  })

  it('its commands print what it says', { skip }, async () => {
    const started = await startWith(['--ephemeral', '--bare', '--seed', join(work, 'lab.yaml')], {
      HOLDFAST_ADMIN_PASSWORD: 'only-for-tests',
    })
    for (const steps of consoles(guide)) {
      const script = steps.map(({ command }) => `${command}\necho\necho '==== next ===='`).join('\n')
      const ran = await runScript('', {}, script.replaceAll('https://127.0.0.1:8443', started.management))
      const outputs = ran.said.split('==== next ====')
      for (const [at, { command, output }] of steps.entries()) {
        assert.deepEqual(shape(outputs[at] ?? ''), shape(output), command)
      }
    }
    started.kill('SIGTERM')
    assert.equal(await started.ended, 0)
  })

  it('shows a mistake as it is told', () => {
    const [told = ''] = codeBlocks(guide, 'text')
    const text = lab.replace('size: 10g', 'size: 10q')
    assert.throws(
      () => readSeed({ name: 'lab.yaml', text }, behaviours, release('9.16.1')),
      (failure) => {
        assert.ok(failure instanceof SeedError)
        assert.equal(failure.message, told.trimEnd())
        return true
      },
    )
  })

  function runScript(
    file: string,
    environment: Readonly<Record<string, string>>,
    text?: string,
  ): Promise<{ code: number | null; said: string }> {
    return new Promise((resolve, reject) => {
      const child = spawn('sh', text === undefined ? [file] : ['-c', `exec 2>&1\n${text}`], {
        cwd: work,
        env: {
          PATH: process.env['PATH'],
          HOME: process.env['HOME'],
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          ...environment,
        },
        timeout: 150_000,
      })
      let said = ''
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (piece: Buffer) => (said += piece.toString()))
      child.once('error', reject)
      child.once('exit', (code) => resolve({ code, said }))
    })
  }
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}
