/**
 * A data folder that is gone when the process is, however it ends. At an orderly end the process removes it itself; a
 * shell waits beside it, and removes it when the process is killed: its input ends with the process that holds it.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Processes that are killed too may write for a moment yet. */
const WAIT_THEN_REMOVE = 'read _; for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- "$1" && break; sleep 1; done'

export function makeEphemeralFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-'))
  // In a session of its own: Ctrl-C in a terminal does not end it.
  const keeper = spawn('/bin/sh', ['-c', WAIT_THEN_REMOVE, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  })
  // Without a shell, only an orderly end removes it.
  keeper.on('error', () => undefined)
  keeper.stdin?.on('error', () => undefined)
  keeper.unref()
  process.on('exit', () => {
    process.chdir(tmpdir())
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return folder
}
