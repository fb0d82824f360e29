/** How records are printed for a client: the fields it asked for, and links where it takes them (HAL). */
import type { Cluster } from '../../core/cluster.ts'
import type { Registry } from '../../model/registry.ts'
import type { Release } from '../../model/release.ts'
import type { Field, Resource } from '../../model/resource.ts'
import { ofPair } from '../../model/of-pair.ts'
import { nester, writer } from '../../model/shape.ts'
import { isRecord, type Json, type Row } from '../../model/value.ts'
import { keyFields } from './arguments.ts'
import type { Dialect } from './dialects.ts'
import { collectionPath, recordPath } from '../../model/paths.ts'

/** Which links go with records: none, their own, or those of what they refer to as well. */
export type Links = 'none' | 'own' | 'all'

/**
 * By what the client accepts. Plain JSON has no links but those between pages. Whoever names HAL gets all; who accepts
 * anything gets those of the records alone, as the others make long collections a fifth longer.
 */
export function linksFor(accept: string | undefined): Links {
  if (accept === undefined) return 'own'
  if (accept.includes('hal')) return 'all'
  return accept.includes('*/*') ? 'own' : 'none'
}

export type Print = (row: Row) => Record<string, Json>

export interface Printing {
  readonly fields: ReadonlySet<string>
  /** The path of the collection that the rows are of. */
  readonly collection: string
  readonly links: Links
  readonly dialect: Dialect
}

export function printer(cluster: Cluster, resource: Resource, printing: Printing): Print {
  const { fields, links } = printing
  const print = nester(resource, fields)
  if (links === 'none') return print
  const marks = links === 'all' ? referenceLinks(cluster.registry, resource, fields) : []
  const isLinked = isSelfLinked(cluster, resource, printing)
  return (row) => {
    const record = print(row)
    for (const mark of marks) mark(record, row)
    if (isLinked) record['_links'] = self(recordPath(resource, printing.collection, row))
    return record
  }
}

/** Makes the function that prints the same as text; none where other links go with records than their own. */
export function textPrinter(
  cluster: Cluster,
  resource: Resource,
  printing: Printing,
): ((row: Row) => string) | undefined {
  const { fields, links, collection } = printing
  if (links === 'all') return undefined
  const write = writer(resource, fields)
  const isLinked = links === 'own' && isSelfLinked(cluster, resource, printing)
  return (row) => {
    const members = write(row)
    if (!isLinked) return `{${members}}`
    const link = `"_links":${JSON.stringify(self(recordPath(resource, collection, row)))}`
    return members === '' ? `{${link}}` : `{${members},${link}}`
  }
}

function isSelfLinked({ release }: Cluster, resource: Resource, { fields, dialect }: Printing): boolean {
  return dialect.keysAlways || hasKey(resource, fields)(release)
}

const hasKey = ofPair((resource: Resource, fields: ReadonlySet<string>) => {
  let known: { readonly release: Release; readonly has: boolean } | undefined
  return (release: Release): boolean => {
    if (known?.release !== release) {
      known = { release, has: keyFields(resource, release).some((path) => fields.has(path)) }
    }
    return known.has
  }
})

const self = (href: string): Json => ({ self: { href } })

type Mark = (record: Record<string, Json>, row: Row) => void

/** What puts links beside the names and UUIDs of other records, where these have a path that their UUID makes. */
function referenceLinks(registry: Registry, resource: Resource, fields: ReadonlySet<string>): Mark[] {
  const marks = new Map<string, Mark>()
  for (const field of resource.fields.values()) {
    const { reference } = field
    if (reference === undefined || !isShown(field, fields)) continue
    const target = registry.resource(reference.type)
    if (target.pathKeys.length > 0 || target.key.length !== 1 || target.key[0] !== 'uuid') continue
    const href = (uuid: string) => self(`${collectionPath(target, {})}/${uuid}`)
    marks.set(
      reference.base,
      reference.part === 'list' ? markElements(field.path, href) : markOne(reference.base, href),
    )
  }
  return [...marks.values()]
}

function isShown(field: Field, fields: ReadonlySet<string>): boolean {
  return fields.has(field.path) || [...fields].some((path) => path.startsWith(`${field.path}.`))
}

function markOne(base: string, href: (uuid: string) => Json): Mark {
  const words = base.split('.')
  return (record, row) => {
    const uuid = row[`${base}.uuid`]
    const at = words.reduce<Json | undefined>((of, word) => (isRecord(of) ? of[word] : undefined), record)
    if (typeof uuid === 'string' && isRecord(at)) (at as Record<string, Json>)['_links'] = href(uuid)
  }
}

function markElements(path: string, href: (uuid: string) => Json): Mark {
  const words = path.split('.')
  return (record, row) => {
    const given = row[path]
    const at = words.reduce<Json | undefined>((of, word) => (isRecord(of) ? of[word] : undefined), record)
    if (!Array.isArray(given) || !Array.isArray(at)) return
    for (const [index, element] of (given as readonly Row[]).entries()) {
      const uuid = element['uuid']
      const printed: unknown = at[index]
      if (typeof uuid === 'string' && isRecord(printed)) (printed as Record<string, Json>)['_links'] = href(uuid)
    }
  }
}
