/**
 * Keeps the results of a run of everything, and writes docs/performance.md from what is kept. By itself it keeps the file
 * that it is given, one of bench/results, and without one writes the page again.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pageOf } from './speed/page.ts'
import type { Kept } from './speed/results.ts'

const root = resolve(import.meta.dirname, '..')
const results = join(root, 'bench', 'performance.json')
const page = join(root, 'docs', 'performance.md')

export function keep(kept: Kept): void {
  writeFileSync(results, `${JSON.stringify(kept, undefined, 1)}\n`)
  writePage()
}

export function keptResults(): Kept {
  return JSON.parse(readFileSync(results, 'utf8')) as Kept
}

function writePage(): void {
  writeFileSync(page, pageOf(keptResults()))
}

if (process.argv[1] === import.meta.filename) {
  const [file] = process.argv.slice(2)
  if (file === undefined) writePage()
  else keep(JSON.parse(readFileSync(file, 'utf8')) as Kept)
}
