/**
 * Brings a cluster to what a seed file says, by the verbs that requests call. What is not there is made; of what is there,
 * fields that differ are changed; what the file does not name stays. So a second time changes nothing.
 */
import { failure } from '../../model/failure.ts'
import type { Field, Resource } from '../../model/resource.ts'
import { isRecord, type Row, textOf, type Value } from '../../model/value.ts'
import { isSpelling } from '../action.ts'
import type { Behaviour } from '../behaviour.ts'
import { explainFailure } from '../explain.ts'
import { failureOf, isActive } from '../jobs/jobs.ts'
import type { Actions, Performed } from '../perform.ts'
import { derive } from '../read/derive.ts'
import { rowsOf } from '../read/read.ts'
import { resolveReferences } from '../read/references.ts'
import { inOrder, pathOf, readSeed, SeedError, type SeedEntry } from './document.ts'

const CALLER = { user: 'admin', role: 'admin', from: 'seed' }
/** How long one record may take. */
const JOB_MS_MAX = 600_000

export interface Seeded {
  readonly made: number
  readonly changed: number
  readonly same: number
  /** What is shown once, of records that were made: keys that the file did not say. */
  readonly revealed: readonly { readonly title: string; readonly fields: Row }[]
}

/** Fails with a `SeedError` at the first record that cannot be had. What came before it is then there. */
export async function seed(actions: Actions, file: { readonly name: string; readonly text: string }): Promise<Seeded> {
  const { cluster } = actions
  const entries = readSeed(file, cluster.behaviours.values(), cluster.release)
  const counts = { made: 0, changed: 0, same: 0 }
  const revealed: { title: string; fields: Row }[] = []
  for (const entry of inOrder(entries)) {
    try {
      const done = await new Seeding(actions, entry).apply()
      counts[done.what]++
      const fields = Object.entries(done.reveal).filter(([path]) => entry.draft[path] === undefined)
      if (fields.length > 0) revealed.push({ title: entry.title, fields: Object.fromEntries(fields) })
    } catch (cause) {
      const failure = explainFailure(cause)
      if (failure.kind === 'internal') cluster.log.error('Seeding failed.', { at: entry.where(), cause: String(cause) })
      throw new SeedError([`${entry.where(failure.target)}: ${entry.title}: ${failure.message}`])
    }
  }
  return { ...counts, revealed }
}

class Seeding {
  readonly #actions: Actions
  readonly #entry: SeedEntry
  readonly #behaviour: Behaviour
  readonly #resource: Resource

  constructor(actions: Actions, entry: SeedEntry) {
    this.#actions = actions
    this.#entry = entry
    this.#behaviour = entry.behaviour
    this.#resource = entry.behaviour.resource
  }

  async apply(): Promise<{ what: 'made' | 'changed' | 'same'; reveal: Row }> {
    const draft = await this.#resolved()
    const path = pathOf(this.#resource, draft)
    const before = await this.#existing(draft, path)
    if (before !== undefined) {
      return { what: (await this.#change(before, draft, path)) ? 'changed' : 'same', reveal: {} }
    }
    const { key, reveal } = await this.#perform('create', {
      path,
      draft: this.#only(draft, ({ path, set }) => path === 'uuid' || set === 'create' || set === 'always'),
    })
    // What a POST does not take.
    const rest = this.#only(draft, ({ set }) => set === 'modify')
    if (Object.keys(rest).length > 0) {
      await this.#change(await this.#actions.cluster.row(this.#resource.rowsOf, key), rest, path)
    }
    return { what: 'made', reveal }
  }

  async #resolved(): Promise<Row> {
    const { cluster } = this.#actions
    const { draft } = this.#entry
    const svm = draft['svm.name']
    // Names of what it refers to may be those of its SVM.
    const known: Row =
      typeof svm === 'string' && draft['svm.uuid'] === undefined
        ? { 'svm.uuid': (await cluster.keyOfName('svm/svms', svm)) ?? null }
        : {}
    return resolveReferences(cluster, this.#resource, draft, known)
  }

  /** The record that is meant: by its uuid; by its name where that is unique; else one with all that only a POST sets. */
  async #existing(draft: Row, path: Readonly<Record<string, string>>): Promise<Row | undefined> {
    const { cluster } = this.#actions
    const { isSingleton, nameWithin, noun, recordKey, rowsOf: type } = this.#resource
    if (isSingleton) return (await rowsOf(cluster, this.#behaviour, path))[0]
    const uuid = draft['uuid']
    const byUuid = typeof uuid === 'string' ? await cluster.find(type, uuid) : undefined
    if (byUuid !== undefined) return byUuid
    const within = typeof nameWithin === 'string' ? textOf(draft[nameWithin]) || (path[nameWithin] ?? '') : ''
    const key =
      nameWithin === false || draft['name'] === undefined
        ? undefined
        : await cluster.keyOfName(type, textOf(draft['name']), within)
    const found = key === undefined ? await this.#search(draft, path) : await cluster.find(type, key)
    if (typeof uuid === 'string' && found !== undefined && recordKey.includes('uuid')) {
      const message = `The ${noun} is there with another UUID, ${textOf(found['uuid'])}.`
      throw failure('seedUuidRefused', { problem: message })
    }
    return found
  }

  async #search(draft: Row, path: Readonly<Record<string, string>>): Promise<Row | undefined> {
    const { fields, key, nameWithin, recordKey } = this.#resource
    const { cluster } = this.#actions
    const hasName = nameWithin !== false && draft['name'] !== undefined
    const identity = hasName
      ? ['name', ...recordKey, ...key, ...(typeof nameWithin === 'string' ? [nameWithin] : [])]
      : [...fields.values()].filter(({ set }) => set === 'create').map((field) => field.path)
    const asked = this.#only(draft, (field) => field.path !== 'uuid' && identity.includes(field.path))
    if (Object.keys(asked).length === 0) return undefined
    const rows = await rowsOf(cluster, this.#behaviour, path)
    const whole = await derive(cluster, this.#behaviour, rows, new Set(Object.keys(asked)))
    const fits = rows.filter((row, at) => this.#differing(whole[at] ?? row, asked).length === 0)
    if (fits.length > 1 && hasName) throw failure('seedNameAmbiguous')
    return fits[0]
  }

  /** Changes what differs. Gives whether anything did. */
  async #change(before: Row, draft: Row, path: Readonly<Record<string, string>>): Promise<boolean> {
    const { cluster } = this.#actions
    const wanted = this.#only(
      draft,
      (field) =>
        !field.isInput && !isSpelling(this.#behaviour, field) && !field.shownOnce && path[field.path] === undefined,
    )
    const [row = before] = await derive(cluster, this.#behaviour, [before], new Set(Object.keys(wanted)))
    const differing: string[] = []
    for (const each of this.#differing(row, wanted)) {
      if (!(await this.#isSecretThere(row, each, wanted[each] ?? null))) differing.push(each)
    }
    for (const each of differing) {
      const field = this.#resource.fields.get(each)
      if (field?.set === 'modify' || field?.set === 'always') continue
      const is = row[each] === undefined ? 'not set' : JSON.stringify(field?.kind.print(row[each]))
      throw failure('seedFieldFixed', { field: each, value: is })
    }
    if (differing.length === 0) return false
    const changed = this.#only(draft, ({ path }) => differing.includes(path) || differing.includes(twinOf(path)))
    await this.#perform('modify', { path, row: before, draft: changed })
    return true
  }

  /** Secrets are kept so that they cannot be read: whether one is the same is for the resource to say; else it is. */
  async #isSecretThere(row: Row, path: string, given: Value): Promise<boolean> {
    const secret = this.#behaviour.secrets?.[path]
    if (secret === undefined && this.#resource.fields.get(path)?.kind.isSecret !== true) return false
    if (secret?.isSame === undefined) return true
    return typeof given === 'string' && secret.isSame(this.#actions.cluster, row, given)
  }

  #differing(row: Row, wanted: Row): string[] {
    return Object.keys(wanted).filter((path) => {
      const { reference } = this.#resource.fields.get(path) ?? {}
      // Of a reference, its uuid is compared.
      if (reference?.part === 'name' && wanted[`${reference.base}.uuid`] !== undefined) return false
      if (reference?.part === 'list') return !holds(uuidsOf(row[path]), uuidsOf(wanted[path]))
      return !holds(row[path] ?? null, wanted[path] ?? null)
    })
  }

  #only(row: Row, isWanted: (field: Field) => boolean): Row {
    return Object.fromEntries(
      Object.entries(row).filter(([path]) => {
        const field = this.#resource.fields.get(path)
        return field !== undefined && isWanted(field)
      }),
    )
  }

  async #perform(
    verb: 'create' | 'modify',
    call: { readonly path: Readonly<Record<string, string>>; readonly draft: Row; readonly row?: Row },
  ): Promise<Performed> {
    const { jobs } = this.#actions
    if (this.#behaviour[verb] === undefined)
      throw failure('methodUnsupported', { method: verb, path: this.#resource.path })
    const description = `seed ${this.#entry.where()}: ${verb} ${this.#entry.title}`
    const performed = await this.#actions.perform(this.#behaviour, verb, {
      ...call,
      caller: CALLER,
      args: {},
      description,
    })
    if (performed.job !== undefined) {
      const job = await jobs.wait(performed.job['uuid'], JOB_MS_MAX)
      if (job['state'] === 'failure') throw failureOf(job)
      if (isActive(job)) throw failure('seedJobTooSlow', { seconds: JOB_MS_MAX / 1000 })
    }
    return performed
  }
}

/** The other half of a reference: names are resolved to uuids, and both are given. */
function twinOf(path: string): string {
  return path.endsWith('.name') ? path.replace(/name$/, 'uuid') : path.replace(/uuid$/, 'name')
}

function uuidsOf(list: Value | undefined): Value {
  return Array.isArray(list) ? (list as readonly Row[]).map((one) => one['uuid'] ?? null) : []
}

/** Whether what is there is what was given. Of small records, members that were not given may be there too. */
function holds(there: Value, given: Value): boolean {
  if (Array.isArray(given)) {
    if (!Array.isArray(there)) return given.length === 0 && there === null
    const values = there as readonly Value[]
    return (
      values.length === given.length && (given as readonly Value[]).every((one, at) => holds(values[at] ?? null, one))
    )
  }
  if (isRecord(given)) {
    return isRecord(there) && Object.entries(given).every(([name, one]) => holds((there as Row)[name] ?? null, one))
  }
  return there === given || ((there === null || there === '') && (given === null || given === ''))
}
