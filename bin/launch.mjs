#!/usr/bin/env node
/**
 * What `npm start`, `npm test` and their like run first, on any Node.js from 20 on: installs what is missing, then
 * hands over to the Node.js 24 that is one of the dependencies. Plain JavaScript, because an older Node.js reads it.
 *
 * Nothing is installed when everything is there: a second `npm install` prunes the platform package of `node`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './bundle.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const [command = 'start', ...rest] = process.argv.slice(2)
/** Commands of its developers, which need more than the product does; all others are those of the product. */
const needsTools = ['test', 'check', 'bench'].includes(command)

install()
const node = join(root, 'node_modules', '.bin', 'node')
// Megabytes of young objects that V8 keeps, as in src/engines/heap.ts: the main process has few requests.
const flags = needsTools ? [] : ['--max-semi-space-size=2']
// And how glibc gives memory back, as there.
const malloc = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072', MALLOC_MMAP_THRESHOLD_: '65536' }
run([...flags, needsTools ? join(root, 'bin', 'dev.ts') : await program(), command, ...rest])

function install() {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const wanted = [...Object.keys(dependencies), ...(needsTools ? Object.keys(devDependencies) : [])]
  const isThere = (name) => existsSync(join(root, 'node_modules', ...name.split('/'), 'package.json'))
  if (wanted.every(isThere) && runs24()) return
  process.stderr.write('Installing what is missing. This happens once.\n')
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  // `npm ci` empties node_modules first, from which a cluster may be running: it is for the first time only.
  const verb = runs24() ? ['install', '--no-save'] : ['ci']
  const options = [...verb, '--no-audit', '--no-fund', '--loglevel=error', ...(needsTools ? [] : ['--omit=dev'])]
  const installed = spawnSync(npm, options, { cwd: root, stdio: ['ignore', 2, 2] })
  if (installed.status !== 0) {
    process.stderr.write('npm failed; what it said is above.\n')
    process.exit(installed.status ?? 1)
  }
  if (!runs24()) {
    process.stderr.write('The package "node" came without its program. Allow its install script, then run npm ci.\n')
    process.exit(1)
  }
}

function runs24() {
  const asked = spawnSync(join(root, 'node_modules', '.bin', 'node'), ['--version'], { encoding: 'utf8' })
  return asked.status === 0 && asked.stdout.startsWith('v24.')
}

/** The program in the form that starts soonest; the sources themselves where nothing can be written beside them. */
async function program() {
  try {
    return join(await bundle(), 'holdfast.js')
  } catch {
    return join(root, 'bin', 'holdfast.ts')
  }
}

/** Takes the place of this process where Node.js can do that; elsewhere stays, passes signals on and ends with it. */
function run(args) {
  // What Node.js compiled is kept for the next start, which takes half as long then. Where it cannot be kept, it is not.
  const compiled = join(root, 'node_modules', '.cache', 'holdfast')
  const env = { NODE_COMPILE_CACHE: compiled, ...malloc, ...process.env, NODE_NO_WARNINGS: '1' }
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.execve(node, [node, ...args], env)
  }
  const child = spawn(node, args, { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('exit', (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)))
}
