/** Clients of npm-clients/package.json: `.ci/clients` installs them in a folder of their own, away from the product's. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { clientsFolder } from './programs.ts'

const folder = join(clientsFolder, 'npm')

/** The reason to skip tests of a client; `false` when it is there. */
export function reasonWithoutClient(name: string): string | false {
  return existsSync(join(folder, 'node_modules', name, 'package.json'))
    ? false
    : `${name} is not installed (.ci/clients does it)`
}

/** What the package exports. Its types are not there at compile time, so the caller says what it uses. */
export function loadClient(name: string): unknown {
  return createRequire(join(folder, 'package.json'))(name)
}
