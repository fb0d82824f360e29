/**
 * Records of every resource, made from the examples of the declarations: for tests that call each operation. What no
 * example can make (a deleted volume, a job that waits) is prepared by name.
 */
import type { Behaviour } from '../../src/core/behaviour.ts'
import { behaviours } from '../../src/resources/index.ts'
import { type Body, recordsOf } from './body.ts'

type Call = (method: string, target: string, body?: unknown) => Promise<{ status: number; body: Body }>

const RESOURCES = new Map(behaviours.map((behaviour) => [shapeOf(behaviour.resource.path), behaviour]))

/** Records of the first start, below which examples lie. */
const FIRST_START = ['svm1', 'vol1', 's3.localhost', 'papers']

export class Examples {
  readonly #call: Call
  readonly #places: Readonly<Record<string, string>>

  /** Places are collections to use in place of those that would be found, by the path of the resource. */
  constructor(call: Call, places: Readonly<Record<string, string>> = {}) {
    this.#call = call
    this.#places = places
  }

  /** The path of the collection, with the keys of records that are there, or were made for it. */
  async collectionOf({ resource }: Behaviour): Promise<string> {
    const given = this.#places[resource.path]
    if (given !== undefined) return given
    let collection = '/api'
    const words = resource.path.slice(1).split('/')
    for (const [at, word] of words.entries()) {
      if (!word.startsWith('{')) collection += `/${word}`
      else if (!words[at - 1]?.startsWith('{')) collection = await this.#within(collection, words.slice(0, at), word)
    }
    return collection
  }

  /** The path of a record: that of the example before others. Nothing where there is none, and no example makes one. */
  async instanceOf(behaviour: Behaviour, preferred: readonly string[] = []): Promise<string | undefined> {
    const { resource, create } = behaviour
    const collection = await this.collectionOf(behaviour)
    if (resource.isSingleton) return collection
    const name: unknown = create?.example?.['name']
    const names = [...preferred, ...(typeof name === 'string' ? [name] : [])]
    const found = (await this.#find(behaviour, collection, names)) ?? (await this.#find(behaviour, collection))
    if (found !== undefined || create?.example === undefined) return found
    const made = await this.#call(resource.createMethod, `${collection}?return_timeout=15`, create.example)
    if (made.status >= 300) throw new Error(`${resource.path}: ${made.status} ${JSON.stringify(made.body)}`)
    return this.#find(behaviour, collection)
  }

  /** The path of the record with one of these names, if there is one. */
  async found(behaviour: Behaviour, names: readonly string[]): Promise<string | undefined> {
    return this.#find(behaviour, await this.collectionOf(behaviour), names)
  }

  /** The path of a record of the collection at these words of a path, for what lies in it. */
  async #within(collection: string, words: readonly string[], key: string): Promise<string> {
    const parent = RESOURCES.get(shapeOf(`/${words.join('/')}`))
    const instance = parent === undefined ? undefined : await this.instanceOf(parent, FIRST_START)
    if (instance !== undefined) return instance
    const svms = RESOURCES.get('/svm/svms')
    if (key !== '{svm.uuid}' || svms === undefined) throw new Error(`Nothing lies at ${collection}.`)
    return `${collection}/${(await this.instanceOf(svms, FIRST_START))?.split('/').at(-1) ?? ''}`
  }

  async #find({ resource }: Behaviour, collection: string, names?: readonly string[]): Promise<string | undefined> {
    const fields = [...resource.key, ...['name', 'svm.name'].filter((path) => resource.fields.has(path))]
    const { body, status } = await this.#call('GET', `${collection}?fields=${fields.join()}&max_records=1000`)
    // Some resources are only made, never listed.
    if (status !== 200 || body['records'] === undefined) return undefined
    const records = recordsOf(body) as unknown as readonly { name?: string; svm?: { name?: string } }[]
    const named = names?.map((name) => records.find((each) => each.name === name || each.svm?.name === name))
    const record: unknown = named === undefined ? records[0] : named.find((each) => each !== undefined)
    if (record === undefined) return undefined
    const valueAt = (path: string) =>
      path.split('.').reduce<unknown>((at, word) => (at as Record<string, unknown> | undefined)?.[word], record)
    return `${collection}/${resource.key.map((key) => encodeURIComponent(String(valueAt(key)))).join('/')}`
  }
}

/** A path without the names of its keys: parents and children name them differently. */
function shapeOf(path: string): string {
  return path.replaceAll(/\{[^}]*\}/g, '{}')
}
