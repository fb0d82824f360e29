/** Programs of others that tests use where they are installed: whether they are, and how they are run. */
import { execFile, spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Product } from '../support/product.ts'
import { isWhole } from './tree.ts'

const execute = promisify(execFile)
const OUTPUT_BYTES_MAX = 64 * 2 ** 20
const ASK_MS = 30_000
const RUN_MS = 120_000

/** Where `.ci/clients` installs clients that are no programs of the system. */
export const clientsFolder = join(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), '.tmp', 'clients')

export interface Ran {
  readonly stdout: string
  readonly stderr: string
}

export type Run = (
  program: string,
  args: readonly string[],
  options?: {
    readonly timeoutMs?: number
    readonly folder?: string
    readonly environment?: Readonly<Record<string, string>>
  },
) => Promise<Ran>

/** The reason to skip tests that need this program; `false` when it is there. `args` make it say its version. */
export function reasonWithout(program: string, args: readonly string[] = ['--version']): string | false {
  const asked = spawnSync(program, args, { timeout: ASK_MS, killSignal: 'SIGKILL' })
  return asked.status === 0 ? false : `${program} is not installed`
}

/**
 * The reason to skip what takes long and is for `.ci/run`; `false` where that runs, or HOLDFAST_TEST_WHOLE=1 is set.
 * `sibling` is the test that covers the same behaviour in `npm test`, for less. CONTRIBUTING.md has the list.
 */
export function reasonUnlessWhole(sibling: string): string | false {
  return isWhole ? false : `this takes long: .ci/run does it, or HOLDFAST_TEST_WHOLE=1; npm test has ${sibling}`
}

/** The same, for tests of a program. */
export function reasonWithoutTime(program: string, sibling: string, args?: readonly string[]): string | false {
  return reasonUnlessWhole(sibling) || reasonWithout(program, args)
}

/**
 * A suite that needs something. With a reason that it is not there it is one skipped test, because the runner counts
 * none of a suite that is skipped.
 */
export function describeUnless(
  reason: string | false,
  name: string,
  options: { readonly timeout?: number; readonly concurrency?: number },
  suite: () => void,
): void {
  if (reason === false) describe(name, options, suite)
  else test(name, { skip: reason })
}

/**
 * Runs programs with the credentials of the product's first user and a home folder of their own, so that they see no
 * settings of whoever runs the tests. Fails with what the program wrote to stderr, also when it takes too long.
 */
export function runnerFor(product: Product, home: string, environment: Readonly<Record<string, string>> = {}): Run {
  return (program, args, options = {}) =>
    execute(program, args, {
      maxBuffer: OUTPUT_BYTES_MAX,
      timeout: options.timeoutMs ?? RUN_MS,
      killSignal: 'SIGKILL',
      ...(options.folder === undefined ? {} : { cwd: options.folder }),
      env: {
        PATH: process.env['PATH'],
        LANG: 'C.UTF-8',
        HOME: home,
        AWS_ACCESS_KEY_ID: product.accessKey,
        AWS_SECRET_ACCESS_KEY: product.secretKey,
        AWS_DEFAULT_REGION: 'us-east-1',
        ...environment,
        ...options.environment,
      },
    })
}
