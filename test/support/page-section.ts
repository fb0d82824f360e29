/** A section of a page of the documentation that a test writes. The other sections are left as they are. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

const UPDATES = process.env['UPDATE_GOLDEN'] === '1'

/** What is found stands in the section of that heading, or it is written there with UPDATE_GOLDEN=1. */
export async function insistOnSection(page: string, heading: string, found: string): Promise<void> {
  const path = fileURLToPath(new URL(`../../${page}`, import.meta.url))
  const parts = (await readFile(path, 'utf8')).split(/^(?=## )/m).map((part) => part.trimEnd())
  const section = `## ${heading}\n\n${found.trim()}`
  const at = parts.findIndex((part) => part.startsWith(`## ${heading}\n`))
  if (UPDATES) {
    const changed = at < 0 ? [...parts, section] : parts.with(at, section)
    await writeFile(path, `${changed.join('\n\n')}\n`)
    return
  }
  assert.equal(parts[at] ?? '', section, 'If it is meant, run with UPDATE_GOLDEN=1.')
}
