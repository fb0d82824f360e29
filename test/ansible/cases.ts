/**
 * What is done with modules of the vendor's Ansible collection: one file for each in modules/, as tasks of a playbook
 * are written. This reads them; Ansible's own Python does the YAML.
 */
import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Run } from '../clients/programs.ts'

/** Arguments of a module, without those of the connection. */
export type Arguments = Readonly<Record<string, unknown>>

/** A task of a playbook, as Ansible takes it. */
export type Task = Readonly<Record<string, unknown>>

/** One element of a file in modules/. Each call is made twice: the first changes something, the second nothing. */
export interface Case {
  /** One sentence: what it is that is made. */
  readonly name: string
  /** Tasks that come first, and may change what they like. */
  readonly before?: readonly Task[]
  readonly create?: Arguments
  /** Merged over `create`. Without it, nothing of it can be changed. */
  readonly modify?: Arguments
  /** Without it, it cannot be removed. */
  readonly remove?: Arguments
  /** Calls of modules that only read: made once, they change nothing. */
  readonly reads?: readonly Arguments[]
  /** Calls of modules that say of whatever they do that it changed something: made once. */
  readonly acts?: readonly Arguments[]
  /** Tasks that come last. */
  readonly after?: readonly Task[]
}

export interface ModuleCases {
  /** `na_ontap_volume`. */
  readonly module: string
  readonly cases: readonly Case[]
}

const FOLDER = fileURLToPath(new URL('modules', import.meta.url))

const TO_JSON = `import json, sys, yaml
print(json.dumps({path: yaml.safe_load(open(path, encoding="utf-8")) for path in sys.argv[1:]}))`

/** The cases of all modules, or of those named. */
export async function readCases(run: Run, wanted: readonly string[]): Promise<ModuleCases[]> {
  const paths = globSync('*.yml', { cwd: FOLDER })
    .filter((file) => wanted.length === 0 || wanted.includes(moduleOf(file)))
    .toSorted()
    .map((file) => join(FOLDER, file))
  const { stdout } = await run('python3', ['-c', TO_JSON, ...paths])
  const files = JSON.parse(stdout) as Readonly<Record<string, readonly Case[]>>
  return Object.entries(files).map(([path, cases]) => ({ module: moduleOf(path), cases }))
}

const moduleOf = (path: string) => basename(path, '.yml')
