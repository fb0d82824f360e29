/** References are stored as uuids and shown with names. Names are looked up when they are read or given. */
import { failure } from '../../model/failure.ts'
import type { Field, Resource } from '../../model/resource.ts'
import type { SomeType } from '../../model/rows.ts'
import { isRecord, type Row, textOf, type Value } from '../../model/value.ts'
import type { Derivation, Once } from '../behaviour.ts'
import type { Cluster } from '../cluster.ts'

/** Turns names given in a draft into uuids, and refuses names and uuids of nothing, or that contradict each other. */
export async function resolveReferences(
  cluster: Cluster,
  resource: Resource,
  draft: Row,
  known: Row = {},
): Promise<Row> {
  const resolved: Record<string, Value> = { ...draft }
  // What an SVM refers to is its own, and what the cluster refers to belongs to no SVM.
  const owner: Readonly<Record<string, Value>> = { 'svm/svms': known['uuid'] ?? null, cluster: '' }
  const own = owner[resource.type]
  const context: Row = own === undefined ? known : { ...known, 'svm.uuid': own }
  for (const field of resource.fields.values()) {
    const { reference } = field
    if (reference === undefined) continue
    if (reference.part === 'name') {
      const name = resolved[field.path]
      const uuidPath = `${reference.base}.uuid`
      // Nothing is referred to any more.
      if (name === null && resolved[uuidPath] === undefined) resolved[uuidPath] = null
      if (typeof name !== 'string') continue
      if ((name === '' || name === field.noneName) && !field.isRequired) {
        resolved[uuidPath] = null
        continue
      }
      const uuid = await uuidOf(cluster, reference.type, name, field, { ...context, ...resolved })
      const given = resolved[uuidPath]
      if (given !== undefined && given !== null && given !== uuid) {
        throw failure('referenceMismatch', { field: field.path, other: uuidPath })
      }
      resolved[uuidPath] = uuid
    } else if (reference.part === 'uuid') {
      const uuid = resolved[field.path]
      if (typeof uuid !== 'string') continue
      const row = await cluster.find(reference.type, uuid)
      // The path leads to its parents, whoever owns them.
      const isPath = resource.pathKeys.includes(field.path)
      if (row === undefined || (!isPath && isOthers(cluster, reference.type, row, { ...known, ...resolved }))) {
        throw noSuch(cluster, reference.type, field.path, uuid)
      }
      const namePath = `${reference.base}.name`
      const name = row['name'] ?? null
      if (typeof resolved[namePath] === 'string' && resolved[namePath] !== name) {
        throw failure('referenceMismatch', { field: namePath, other: field.path })
      }
      resolved[namePath] = name
    } else if (Array.isArray(resolved[field.path])) {
      const list: Value[] = []
      for (const element of resolved[field.path] as readonly Value[]) {
        if (!isRecord(element)) continue
        const { name, uuid } = element
        if (typeof uuid === 'string') {
          const row = await cluster.find(reference.type, uuid)
          if (row === undefined) throw noSuch(cluster, reference.type, field.path, uuid)
          list.push({ uuid, name: row['name'] ?? null })
        } else if (typeof name === 'string') {
          list.push({ uuid: await uuidOf(cluster, reference.type, name, field, { ...context, ...resolved }), name })
        } else throw failure('referenceIncomplete', { field: field.path })
      }
      resolved[field.path] = list
    }
  }
  return resolved
}

async function uuidOf(cluster: Cluster, type: SomeType, name: string, field: Field, context: Row): Promise<string> {
  const { nameWithin, isShared } = cluster.registry.resource(type)
  const within = typeof nameWithin === 'string' ? (context[nameWithin] ?? (isShared ? '' : undefined)) : ''
  if (typeof within !== 'string') throw failure('fieldRequired', { field: String(nameWithin) })
  const uuid =
    (await cluster.keyOfName(type, name, within)) ?? (isShared ? await cluster.keyOfName(type, name) : undefined)
  if (uuid === undefined) throw noSuch(cluster, type, field.path, name)
  return uuid
}

/** Of what may be shared by all: whether this one belongs to another SVM than the one that refers to it. */
function isOthers(cluster: Cluster, type: string, row: Row, context: Row): boolean {
  const { nameWithin, isShared } = cluster.registry.resource(type)
  if (!isShared || typeof nameWithin !== 'string') return false
  const owner = row[nameWithin] ?? null
  return owner !== null && owner !== context[nameWithin]
}

/** Names of failures that clients of the interface know apart, where a reference leads nowhere. */
const NO_SUCH = {
  'svm/svms': 'svmUnknown',
  'storage/aggregates': 'aggregateUnknown',
  'storage/volumes': 'volumeUnknown',
  'storage/snapshot-policies': 'snapshotPolicyUnknown',
} as const

export function noSuch(cluster: Cluster, type: string, path: string, given: string) {
  const { noun } = cluster.registry.resource(type)
  const name = type in NO_SUCH ? NO_SUCH[type as keyof typeof NO_SUCH] : 'referenceUnknown'
  return failure(name, { field: path, noun, name: given.slice(0, 80) })
}

/** The parent of a record has gone since its verb was planned: as if it had been asked for after that. */
export function noParent(cluster: Cluster, type: string, key: string) {
  const { parent = '', parentType = '', pathKeys, fields } = cluster.registry.resource(type)
  if (pathKeys.includes(parent))
    return failure('recordNotFound', { noun: cluster.registry.resource(parentType).noun }, { target: parent })
  return fields.get(parent)?.reference === undefined
    ? noSuchOwner(key, `${baseOf(parent)}.name`)
    : noSuch(cluster, parentType, parent, key)
}

/** What belongs to the cluster or to an SVM, where it names neither. */
export function noSuchOwner(name: string, target: string) {
  return failure('ownerNotFound', { name: name.slice(0, 80), target })
}

function baseOf(path: string): string {
  return path.slice(0, path.lastIndexOf('.'))
}

/** The names of referred objects, as derivations: made for every resource from its declaration. */
export function referenceDerivations(resource: Resource): Derivation[] {
  return [...resource.fields.values()].flatMap((field): Derivation[] => {
    const { reference } = field
    if (reference === undefined || reference.part === 'uuid') return []
    const nameIn = (cluster: Cluster, once: Once) =>
      once(`names of ${reference.type}`, () => names(cluster, reference.type))
    if (reference.part === 'name') return [nameDerivation(field.path, reference.type, `${reference.base}.uuid`, nameIn)]
    return [listDerivation(field.path, reference.type, nameIn)]
  })
}

type NameIn = (cluster: Cluster, once: Once) => (uuid: string) => Promise<Value>

function nameDerivation(path: string, type: SomeType, uuidPath: string, nameIn: NameIn): Derivation {
  return {
    gives: [path],
    from(cluster, rows, once) {
      const derived: Row[] = []
      for (const row of rows) {
        const uuid = row[uuidPath]
        if (typeof uuid !== 'string') derived.push(NOTHING)
        else {
          const named = cluster.findNow(type, uuid)
          if (named === undefined) return lookedUp(rows, nameIn(cluster, once))
          derived.push({ [path]: named['name'] ?? null })
        }
      }
      return derived
    },
  }

  /** Not all of them are in memory. */
  async function lookedUp(rows: readonly Row[], nameOf: (uuid: string) => Promise<Value>): Promise<Row[]> {
    const derived: Row[] = []
    for (const row of rows) {
      const uuid = row[uuidPath]
      derived.push(typeof uuid === 'string' ? { [path]: await nameOf(uuid) } : NOTHING)
    }
    return derived
  }
}

const NOTHING: Row = {}

function listDerivation(path: string, type: SomeType, nameIn: NameIn): Derivation {
  const uuidsOf = (row: Row): string[] => {
    const elements = row[path]
    return Array.isArray(elements) ? (elements as readonly Row[]).map((element) => textOf(element['uuid'])) : []
  }
  return {
    gives: [path],
    from(cluster, rows, once) {
      const derived: Row[] = []
      for (const row of rows) {
        const list: Value[] = []
        for (const uuid of uuidsOf(row)) {
          const named = cluster.findNow(type, uuid)
          if (named === undefined) return lookedUp(rows, nameIn(cluster, once))
          list.push({ name: named['name'] ?? null, uuid })
        }
        derived.push({ [path]: list })
      }
      return derived
    },
  }

  async function lookedUp(rows: readonly Row[], nameOf: (uuid: string) => Promise<Value>): Promise<Row[]> {
    const derived: Row[] = []
    for (const row of rows) {
      const list: Value[] = []
      for (const uuid of uuidsOf(row)) list.push({ name: await nameOf(uuid), uuid })
      derived.push({ [path]: list })
    }
    return derived
  }
}

/** Looks each name up once, however many rows share it. */
function names(cluster: Cluster, type: SomeType): (uuid: string) => Promise<Value> {
  const found = new Map<string, Value>()
  return async (uuid) => {
    const known = found.get(uuid)
    if (known !== undefined) return known
    const name = (await cluster.find(type, uuid))?.['name'] ?? null
    found.set(uuid, name)
    return name
  }
}
