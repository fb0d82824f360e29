import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { until } from '../../test/support/until.ts'

test('what is sent to a parent that has just gone is lost without an error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-tell-'))
  try {
    const outcome = join(folder, 'outcome')
    // It looks at nothing else until its parent has gone, so that nobody has told it.
    writeFileSync(
      join(folder, 'child.mjs'),
      `import { writeFileSync, existsSync } from 'node:fs'
       import { tellParent } from ${JSON.stringify(join(import.meta.dirname, 'tell-parent.ts'))}
       process.on('uncaughtException', (failure) => { writeFileSync(${JSON.stringify(outcome)}, failure.message); process.exit(1) })
       process.on('disconnect', () => { writeFileSync(${JSON.stringify(outcome)}, 'disconnected'); process.exit(0) })
       process.once('message', (parent) => {
         while (existsSync('/proc/' + parent)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
         tellParent({ kind: 'ready' })
       })`,
    )
    writeFileSync(
      join(folder, 'parent.mjs'),
      `import { fork } from 'node:child_process'
       fork(${JSON.stringify(join(folder, 'child.mjs'))}, { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }).send(process.pid, () => process.exit(0))`,
    )
    await once(fork(join(folder, 'parent.mjs'), { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }), 'exit')
    const said = () => {
      try {
        return readFileSync(outcome, 'utf8')
      } catch {
        return ''
      }
    }
    await until('the child has ended', () => said() !== '')
    assert.equal(said(), 'disconnected')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
