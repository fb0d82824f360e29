/** The guide to backups is followed: its commands run in order, beside a cluster that runs and then is stopped. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, afterEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { keys as credentials, send } from '../src/s3/test-plane.ts'
import { consoles } from './support/documents.ts'
import { killAll, run, startWith } from './support/started.ts'
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

  it('a restore without the blobs says where they belong, and objects are back when they are there', async () => {
    const keys = { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey }
    const [first, second] = [join(work, 'first'), join(work, 'second')]
    const cluster = await startWith(['--data', first], keys)
    assert.equal((await send({ url: cluster.s3Http }, 'PUT', '/papers')).status, 200)
    assert.equal((await send({ url: cluster.s3Http }, 'PUT', '/papers/a', { body: 'what it holds' })).status, 200)
    cluster.kill('SIGTERM')
    assert.equal(await cluster.ended, 0)
    const backups = join(work, 'kept')
    assert.equal(await run(['backup', '--data', first, '--to', backups]).ended, 0)
    const restored = run(['restore', '--from', backups, '--data', second])
    assert.equal(await restored.ended, 0)
    await restored.gone
    const place = join(second, 'aggr1')
    assert.match(restored.said(), /^These volumes have none of their blobs\./m)
    assert.ok(restored.said().includes(`copy the folder "volumes" of its aggregate to ${place}\n`), restored.said())
    cpSync(join(first, 'aggr1/volumes'), join(place, 'volumes'), { recursive: true })
    const again = await startWith(['--data', second], keys)
    assert.equal((await send({ url: again.s3Http }, 'GET', '/papers/a', {})).text, 'what it holds')
    again.kill('SIGTERM')
    assert.equal(await again.ended, 0)
  })
})
