/**
 * The product's programs, and the packages that they use, as a few files of JavaScript, made anew when the TypeScript has
 * changed. Node.js loads them in a quarter of the time that it takes for several hundred files, and they stay as they are
 * while a cluster runs, whatever happens to the sources. Plain JavaScript, because an older Node.js reads it
 * (bin/launch.mjs).
 *
 *   node bin/bundle.mjs    prints the folder that they are in
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = join(root, 'node_modules', '.cache', 'holdfast')
/** What is started as a process of its own. Each finds the others beside itself, as in the sources. */
const PROGRAMS = ['bin/holdfast.ts', 'bin/worker.ts', 'src/engines/sqlite/writer-process.ts']
const MADE_OF = ['bin', 'src', 'package-lock.json']
/** Those used last. A cluster that runs starts processes from its own for as long as it is there. */
const KEPT = 10
/** Nor is one removed that may be about to be used. */
const UNUSED_MS = 24 * 3600 * 1000
/** What Node.js compiled is compiled again after so long: most of it is of programs and files that are gone. */
const COMPILED_MS = 7 * 24 * 3600 * 1000

/** The folder of the programs for the sources as they are now. Rejects where none can be made. */
export async function bundle() {
  const to = join(folder, `programs-${fingerprint()}`)
  if (!existsSync(to)) await make(to)
  const now = new Date()
  try {
    utimesSync(to, now, now)
  } catch {
    // Somebody else's: whoever may write there removes what is old.
  }
  return to
}

/** Of the files as a listing shows them: to read them all would take as long as to bundle them. */
function fingerprint() {
  const hash = createHash('sha256')
  for (const file of MADE_OF.flatMap((name) => filesOf(join(root, name)))) {
    const { size, mtimeMs } = statSync(file)
    hash.update(`${relative(root, file)}\0${size}\0${mtimeMs}\n`)
  }
  return hash.digest('hex').slice(0, 16)
}

function filesOf(path) {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return existsSync(path) ? [path] : []
  const inside = readdirSync(path, { withFileTypes: true, recursive: true })
  return inside
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !/\.(test|suite)\.ts$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .toSorted()
}

/** Appears at once and whole, whoever else makes the same, and also where the machine stops meanwhile. */
async function make(to) {
  const { build, stop } = await import('esbuild')
  const made = build({
    absWorkingDir: root,
    entryPoints: PROGRAMS,
    entryNames: '[name]',
    outdir: to,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // For packages in CommonJS, which ask for modules of Node.js by it.
    banner: {
      js: "import { createRequire as __requireOf } from 'node:module'; const require = __requireOf(import.meta.url)",
    },
    logLevel: 'silent',
    write: false,
  })
  // Its process would stay as long as the launcher, which waits for the cluster where it cannot become it.
  const { outputFiles } = await made.finally(() => void stop())
  const draft = `${to}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  try {
    for (const { path, contents } of outputFiles) writeFileSync(join(draft, basename(path)), contents, { flush: true })
    writeFileSync(join(draft, 'package.json'), '{"type":"module"}\n', { flush: true })
    renameSync(draft, to)
  } catch (failure) {
    rmSync(draft, { recursive: true, force: true })
    if (!existsSync(to)) throw failure
  }
  removeOld()
}

function removeOld() {
  const all = readdirSync(folder).filter((name) => name.startsWith('programs-'))
  const byUse = all.map((name) => {
    const path = join(folder, name)
    return { path, usedMs: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }
  })
  const old = byUse.toSorted((a, b) => b.usedMs - a.usedMs).slice(KEPT)
  for (const { path, usedMs } of old) {
    if (Date.now() - usedMs > UNUSED_MS) rmSync(path, { recursive: true, force: true })
  }
  for (const place of readdirSync(folder).filter((name) => /^v\d/.test(name))) {
    for (const name of readdirSync(join(folder, place))) {
      const path = join(folder, place, name)
      const madeMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
      if (Date.now() - madeMs > COMPILED_MS) rmSync(path, { recursive: true, force: true })
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${await bundle()}\n`)
