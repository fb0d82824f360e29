/** Programs that tests run in a process of their own, because it is to be killed. */
import { spawn } from 'node:child_process'

/** Only a program that hangs lives so long: machines that test are busy. */
const LIFE_MS_MAX = 120_000

/** Runs a program with this Node.js to its end. Gives its exit code, or the signal that ended it. */
export function runChild(
  program: string,
  args: readonly string[],
  lifeMsMax = LIFE_MS_MAX,
): Promise<number | NodeJS.Signals | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], {
      stdio: ['ignore', 'ignore', 'inherit'],
      // Not a part of the test run, whatever the runner says to its own processes.
      env: { ...process.env, NODE_NO_WARNINGS: '1', NODE_TEST_CONTEXT: undefined },
      timeout: lifeMsMax,
    })
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(signal ?? code))
  })
}
