/**
 * The configuration of a cluster as a seed file: every record that can be made again, with the fields that can be set.
 * What clients stored, and what is only true for the moment, is not in it.
 */
import { stringify } from 'yaml'
import { isServed } from '../../model/release.ts'
import type { Field } from '../../model/resource.ts'
import { nester, place } from '../../model/shape.ts'
import { isRecord, type Json, type Row, textOf, type Value } from '../../model/value.ts'
import { isSpelling } from '../action.ts'
import type { Behaviour } from '../behaviour.ts'
import { BUILT_IN, MADE_FOR, type Cluster } from '../cluster.ts'
import { derive } from '../read/derive.ts'
import { addressOf } from './document.ts'

export interface ExportOptions {
  readonly withSecrets: boolean
}

/** Passwords are kept as hashes, so they are not in it in any case: give those of accounts before seeding. */
export async function exportSeed(cluster: Cluster, { withSecrets }: ExportOptions): Promise<string> {
  const head = [
    `# The configuration of the cluster. Start another one with it: holdfast start --bare --seed FILE`,
    withSecrets
      ? '# It holds secrets. Passwords are not in it, as they are not kept: add "password" to accounts.'
      : '# Secrets are not in it: keys of users are made anew, and accounts need a "password".',
  ]
  const parts: string[] = [`${head.join('\n')}\n`]
  const exported = [...cluster.behaviours.values()].filter((behaviour) => isExported(cluster, behaviour))
  const companions = new Set<Value>()
  for (const { resource } of exported) {
    for (const row of await cluster.rows(resource.type)) {
      if (row[MADE_FOR] !== undefined) companions.add(row['uuid'] ?? null)
    }
  }
  for (const behaviour of exported) {
    const rows = (await cluster.rows(behaviour.resource.type)).filter(({ uuid }) => !companions.has(uuid ?? ''))
    if (rows.length === 0) continue
    const records = await recordsOf(cluster, behaviour, rows.toSorted(byName), { companions, withSecrets })
    const [first] = records
    const body = behaviour.resource.isSingleton ? first : records
    parts.push(stringify({ [addressOf(behaviour.resource)]: body }, { lineWidth: 0, aliasDuplicateObjects: false }))
  }
  return parts.join('\n')
}

/** What is made and changed by requests, in the place where it is kept, and can be made again as it was. */
function isExported(cluster: Cluster, { create, modify, remove, resource }: Behaviour): boolean {
  if (resource.rowsOf !== resource.type || resource.isContent || !isServed(resource.since, cluster.release))
    return false
  if (resource.isSingleton) return modify !== undefined
  const isToken = [...resource.fields.values()].some((field) => field.shownOnce && field.set === 'never')
  return create !== undefined && (modify ?? remove) !== undefined && !isToken
}

function byName(a: Row, b: Row): number {
  const [left, right] = [
    `${textOf(a['svm.uuid'])} ${textOf(a['name'])}`,
    `${textOf(b['svm.uuid'])} ${textOf(b['name'])}`,
  ]
  return left < right ? -1 : left > right ? 1 : 0
}

async function recordsOf(
  cluster: Cluster,
  behaviour: Behaviour,
  rows: readonly Row[],
  { companions, withSecrets }: { readonly companions: ReadonlySet<Value>; readonly withSecrets: boolean },
): Promise<Json[]> {
  const { resource, secrets = {} } = behaviour
  const fields = [...resource.fields.values()].filter(
    (field) => isServed(field.since, cluster.release) && isConfiguration(behaviour, field),
  )
  const paths = new Set(fields.map(({ path }) => path))
  const derived = await derive(cluster, behaviour, rows, paths)
  const print = nester(resource, paths)
  // What every cluster comes with is there already, with a uuid of its own: only what can be changed about it matters.
  const changeable = fields.filter(({ path, set }) => path === 'name' || set !== 'create')
  const printBuiltIn = nester(resource, new Set(changeable.map(({ path }) => path)))
  const hasUuid = behaviour.create !== undefined && resource.recordKey.includes('uuid')
  return derived.map((whole) => {
    const row = withoutCompanions(whole, fields, companions)
    const isBuiltIn = row[BUILT_IN] === true
    const printed = isBuiltIn ? printBuiltIn(row) : print(row)
    for (const { reference } of fields) {
      if (reference?.part === 'name') shorten(printed, reference.base)
      if (reference?.part === 'list') shortenList(printed, reference.base)
    }
    const record: Record<string, Json> = {}
    // The name stands first, for readers.
    if (printed['name'] !== undefined) record['name'] = printed['name']
    if (hasUuid && !isBuiltIn) record['uuid'] = textOf(row['uuid'])
    for (const [word, value] of Object.entries(printed)) record[word] = byNames(value)
    if (withSecrets) {
      for (const [path, field] of Object.entries(secrets)) {
        const secret = field?.read?.(cluster, row)
        if (secret !== undefined) place(record, path, secret)
      }
    }
    return record
  })
}

/** What was made for a record comes with it again, under another name: a bucket does not say which volume it had. */
function withoutCompanions(row: Row, fields: readonly Field[], companions: ReadonlySet<Value>): Row {
  const gone = fields.flatMap(({ reference }) =>
    reference?.part === 'name' && companions.has(row[`${reference.base}.uuid`] ?? '') ? [`${reference.base}.name`] : [],
  )
  return gone.length === 0 ? row : Object.fromEntries(Object.entries(row).filter(([path]) => !gone.includes(path)))
}

function isConfiguration(behaviour: Behaviour, field: Field): boolean {
  const { resource, secrets = {} } = behaviour
  const { isInput, kind, path, reference, set, shownOnce } = field
  if (reference?.part === 'uuid') return false
  const isParent = reference?.part === 'name' && resource.pathKeys.includes(`${reference.base}.uuid`)
  if (set === 'never' && !isParent) return false
  return (
    !isInput && !isSpelling(behaviour, field) && !shownOnce && kind.isSecret !== true && !Object.hasOwn(secrets, path)
  )
}

/** `svm: svm1` in place of `svm: { name: svm1 }`. */
function shorten(printed: Record<string, Json>, base: string): void {
  const { holder, word } = holderOf(printed, base)
  const value = holder?.[word]
  if (holder === undefined || !isRecord(value) || Object.keys(value).length !== 1) return
  holder[word] = value['name'] ?? null
}

/** Elements of lists that refer to something do so by its name: in another cluster it may have another uuid. */
function byNames(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(byNames)
  if (!isRecord(value)) return value
  const entries = Object.entries(value as Readonly<Record<string, Json>>)
  return Object.fromEntries(
    entries.filter(([word]) => word !== 'uuid' || !('name' in value)).map(([word, one]) => [word, byNames(one)]),
  )
}

function shortenList(printed: Record<string, Json>, base: string): void {
  const { holder, word } = holderOf(printed, base)
  const list = holder?.[word]
  if (holder !== undefined && Array.isArray(list)) {
    holder[word] = (list as readonly Row[]).map((one) => textOf(one['name']))
  }
}

function holderOf(
  printed: Record<string, Json>,
  path: string,
): { holder: Record<string, Json> | undefined; word: string } {
  const words = path.split('.')
  const word = words.pop() ?? ''
  let holder: Record<string, Json> | undefined = printed
  for (const step of words) {
    const next: Json | undefined = holder?.[step]
    holder = isRecord(next) ? next : undefined
  }
  return { holder, word }
}
