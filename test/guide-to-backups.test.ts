/** The guide to backups is followed: its commands run in order, beside a cluster that runs and then is stopped. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, afterEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { consoles } from './support/documents.ts'
import { killAll, startWith } from './support/started.ts'
import { PROGRAM } from './support/program.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const guide = readFileSync(join(root, 'docs/guides/back-up-and-restore.md'), 'utf8')
const skip = spawnSync('sh', ['-c', 'true']).status === 0 ? false : 'sh not installed'

describe('the guide to backups', { skip }, () => {
  const work = mkdtempSync(join(tmpdir(), 'holdfast-guide-'))
  afterEach(killAll)
  after(() => rmSync(work, { recursive: true, force: true }))

  /** Without what differs from run to run. */
  const shape = (text: string) =>
    text
      .replaceAll(work, '.')
      .replaceAll(/\d{4}-\d\d-\d\dT[\d-]+\.\d{3}Z/g, '<backup>')
      .replaceAll(/replaced-\d+/g, 'replaced-<time>')
      .replaceAll(/\d+\.\d MB/g, '<size> MB')
      .trim()

  it('its commands print what it says', async () => {
    const cluster = await startWith(['--data', join(work, 'data')])
    const steps = consoles(guide).flat()
    assert.equal(steps.length, 4)
    for (const { command, output } of steps) {
      if (command.includes(' restore ')) {
        cluster.kill('SIGTERM')
        assert.equal(await cluster.ended, 0)
      }
      const here = command.replace('npm run holdfast --', `'${process.execPath}' '${PROGRAM}'`)
      assert.notEqual(here, command)
      const { stdout, stderr, status } = spawnSync('sh', ['-c', here], {
        cwd: work,
        encoding: 'utf8',
        env: {
          PATH: process.env['PATH'],
          NODE_NO_WARNINGS: '1',
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
          HOLDFAST_LOG: 'warn',
        },
      })
      assert.equal(status, 0, stderr)
      assert.equal(shape(stdout), shape(output), command)
    }
    const again = await startWith(['--data', join(work, 'data')])
    again.kill('SIGTERM')
    assert.equal(await again.ended, 0)
  })
})
