import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const bundled = process.env['HOLDFAST_TEST_PROGRAMS']

/** The product's command, in the form that `npm start` runs; without the runner of tests, from its sources. */
export const PROGRAM =
  bundled === undefined
    ? fileURLToPath(new URL('../../bin/holdfast.ts', import.meta.url))
    : join(bundled, 'holdfast.js')
