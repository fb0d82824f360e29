/**
 * A seed file: what a cluster is to have, as YAML. Each collection of the REST interface is a word of the top level, by
 * its path without `/api` and without keys in braces; below it are records as a POST takes them:
 *
 *     svm/svms:
 *       - name: svm1
 *         uuid: 0b4a9a0e-6a5c-11ef-8f0c-00a098d39e12   # where it is to be the same each time
 *     storage/volumes:
 *       - { name: vol1, svm: svm1, size: 10g }
 *     protocols/s3/services/users:
 *       - { name: anna, svm: svm1 }                    # keys of the path are fields
 *
 * Nothing here knows any resource: paths, fields and what they take are those of the registry.
 */
import {
  type Document,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  type Node,
  type YAMLMap,
} from 'yaml'
import { Failure, failure } from '../../model/failure.ts'
import { isServed, type Release } from '../../model/release.ts'
import { type Field, fieldAt, type Resource } from '../../model/resource.ts'
import { flatten } from '../../model/shape.ts'
import { isRecord, type Row, textOf } from '../../model/value.ts'
import { isSpelling } from '../action.ts'
import type { Behaviour } from '../behaviour.ts'

export const SEED_BYTES_MAX = 16 * 2 ** 20
/** Mistakes told of one file. */
export const MISTAKES_MAX = 20

/** What is wrong with a seed file: one line for each mistake, with file and line. */
export class SeedError extends Error {
  constructor(mistakes: readonly string[]) {
    super(mistakes.join('\n'))
    this.name = 'SeedError'
  }
}

export interface SeedEntry {
  readonly behaviour: Behaviour
  /** The fields given, parsed; references not resolved yet. `uuid` where it is to have a certain one. */
  readonly draft: Row
  /** `lab.yaml:12`, of a field where one is named. */
  where(path?: string): string
  /** What it is, for messages: `storage/volumes "vol1"`. */
  readonly title: string
}

/** Reads a seed file. Fails with all that is wrong about its form, as far as that is seen without the cluster. */
export function readSeed(
  file: { readonly name: string; readonly text: string },
  behaviours: Iterable<Behaviour>,
  served: Release,
): SeedEntry[] {
  const lines = new LineCounter()
  const lineAt = (offset: number | undefined) => `${file.name}:${offset === undefined ? 1 : lines.linePos(offset).line}`
  if (file.text.length > SEED_BYTES_MAX) {
    throw new SeedError([`${file.name}: The file is larger than ${SEED_BYTES_MAX} bytes.`])
  }
  const document = parseDocument(file.text, { lineCounter: lines, prettyErrors: false })
  if (document.errors.length > 0) {
    throw new SeedError(
      document.errors.slice(0, MISTAKES_MAX).map(({ pos, message }) => `${lineAt(pos[0])}: ${message}`),
    )
  }
  const top = document.contents
  if (top === null) return []
  if (!isMap(top)) throw new SeedError([`${lineAt(startOf(top))}: It is no map of paths, such as "storage/volumes:".`])

  const byPath = pathsOf(behaviours, served)
  const entries: SeedEntry[] = []
  const mistakes: string[] = []
  for (const { key, value } of top.items) {
    const path = isScalar(key) ? String(key.value) : ''
    const at = lineAt(startOf(key))
    const behaviour = byPath.get(path.replace(/^\/?(?:api\/)?|\/$/g, ''))
    if (behaviour === undefined) {
      mistakes.push(`${at}: There is no collection "${path}" that records can be made in.`)
      continue
    }
    const records = isSeq(value)
      ? value.items
      : value === null || (isScalar(value) && value.value === null)
        ? []
        : [value]
    for (const record of records) {
      if (mistakes.length >= MISTAKES_MAX) break
      try {
        entries.push(entryOf(document, behaviour, record, served, lineAt))
      } catch (mistake) {
        if (!(mistake instanceof Mistake)) throw mistake
        mistakes.push(mistake.message)
      }
    }
  }
  if (mistakes.length > 0) throw new SeedError(mistakes.slice(0, MISTAKES_MAX))
  return entries
}

class Mistake extends Error {}

function entryOf(
  document: Document,
  behaviour: Behaviour,
  node: unknown,
  served: Release,
  lineAt: (offset: number | undefined) => string,
): SeedEntry {
  const { resource } = behaviour
  const address = addressOf(resource)
  if (!isMap(node)) {
    throw new Mistake(
      `${lineAt(startOf(node))}: ${address}: It is no record; write "- name: ..." and its other fields.`,
    )
  }
  const where = (path?: string) => lineAt(startOf(path === undefined ? node : nodeAt(node, path)))
  let title = address
  try {
    const body: unknown = node.toJS(document, { maxAliasCount: 100 })
    const named = isRecord(body) ? (body['name'] ?? body['server']) : undefined
    if (typeof named === 'string') title = `${address} "${named.slice(0, 80)}"`
    const draft = flatten(resource, body, (field) => mayBeSeeded(behaviour, field), served)
    return { behaviour, draft, where, title }
  } catch (failure) {
    if (failure instanceof Failure) throw new Mistake(`${where(failure.target)}: ${title}: ${failure.message}`)
    throw new Mistake(`${where()}: ${title}: ${(failure as Error).message}`)
  }
}

/** All that can be set, what addresses the record, and its uuid. */
function mayBeSeeded(behaviour: Behaviour, field: Field): boolean {
  if (field.set !== 'never') return !isSpelling(behaviour, field)
  return isSeedsOwn(behaviour, field)
}

/** Fields that a seed may say although requests cannot: the uuid of a new record, and what leads to its parents. */
function isSeedsOwn({ create, resource }: Behaviour, { path }: Field): boolean {
  if (create === undefined) return false
  if (path === 'uuid') return resource.recordKey.length === 1 && resource.recordKey[0] === 'uuid'
  const base = /^(.+)\.(?:name|uuid)$/.exec(path)?.[1]
  return base === 'svm' || resource.pathKeys.some((key) => key === `${base}.uuid`)
}

/** The path without keys: `protocols/s3/services/users`. */
export function addressOf(resource: Resource): string {
  return withoutKeys(resource.path)
}

function withoutKeys(path: string): string {
  return path
    .split('/')
    .filter((word) => word !== '' && !word.startsWith('{'))
    .join('/')
}

function pathsOf(behaviours: Iterable<Behaviour>, served: Release): Map<string, Behaviour> {
  const byPath = new Map<string, Behaviour>()
  for (const behaviour of behaviours) {
    const { resource } = behaviour
    const isMade = behaviour.create !== undefined || (resource.isSingleton && behaviour.modify !== undefined)
    if (!isMade || !isServed(resource.since, served)) continue
    for (const path of [resource.path, ...resource.aliases]) {
      byPath.set(withoutKeys(path), behaviour)
      byPath.set(path.slice(1), behaviour)
    }
  }
  return byPath
}

function startOf(node: unknown): number | undefined {
  return isNode(node) ? (node as Node).range?.[0] : undefined
}

/** The value at a dotted path, or the nearest thing around it that is written down. */
function nodeAt(map: YAMLMap, path: string): unknown {
  for (const pair of map.items) {
    const key = isScalar(pair.key) ? String(pair.key.value) : ''
    if (key === path || (path.startsWith(`${key}.`) && !isMap(pair.value))) return pair.key
    if (path.startsWith(`${key}.`) && isMap(pair.value)) return nodeAt(pair.value, path.slice(key.length + 1))
  }
  return map
}

/** Puts records behind those of the same file that they refer to; otherwise the order of the file holds. */
export function inOrder(entries: readonly SeedEntry[]): SeedEntry[] {
  const byName = Map.groupBy(entries, (entry) => nameOf(entry))
  const ordered = new Set<SeedEntry>()
  const visiting = new Set<SeedEntry>()
  const visit = (entry: SeedEntry) => {
    // Two that refer to each other come in the order of the file.
    if (ordered.has(entry) || visiting.has(entry)) return
    visiting.add(entry)
    for (const name of referredBy(entry)) for (const other of byName.get(name) ?? []) visit(other)
    visiting.delete(entry)
    ordered.add(entry)
  }
  for (const entry of entries) visit(entry)
  return [...ordered]
}

function nameOf({ behaviour, draft }: SeedEntry): string {
  return `${behaviour.resource.rowsOf} ${textOf(draft['name'])}`
}

function referredBy({ behaviour, draft }: SeedEntry): string[] {
  return [...behaviour.resource.fields.values()].flatMap((field): string[] => {
    const { reference } = field
    const value = draft[field.path]
    if (reference === undefined || value === undefined || value === null) return []
    if (reference.part === 'name') return [`${reference.type} ${textOf(draft[field.path])}`]
    if (reference.part !== 'list' || !Array.isArray(value)) return []
    return (value as readonly Row[]).map((one) => `${reference.type} ${textOf(one['name'])}`)
  })
}

/** The path keys of a record, from its draft with references resolved. */
export function pathOf(resource: Resource, draft: Row): Record<string, string> {
  const path: Record<string, string> = {}
  for (const key of resource.pathKeys) {
    const value = textOf(draft[key])
    const reference = fieldAt(resource, key)?.field.reference
    if (value === '')
      throw failure('fieldRequired', { field: reference === undefined ? key : `${reference.base}.name` })
    path[key] = value
  }
  return path
}
