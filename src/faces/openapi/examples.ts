/** Examples of the OpenAPI document. A test sends every one of them to a cluster, which has to accept it. */
import type { Behaviour } from '../../core/behaviour.ts'
import type { Resource } from '../../model/resource.ts'
import { place } from '../../model/shape.ts'
import type { Json } from '../../model/value.ts'

type Body = Readonly<Record<string, unknown>>

/** What stands for the key of a record in an example. */
const SAMPLES: Readonly<Record<string, string>> = {
  uuid: '4ea7a442-86d1-11e0-ae1c-123478563412',
  id: '1',
  index: '1',
  serial_number: '5c3a6f1e',
}

export function sampleOf(key: string): string {
  const word = key.split('.').at(-1) ?? key
  return SAMPLES[word] ?? `${word}_example`
}

/** A change of one record: what the verb says, or the part of the example of a create that may be changed later. */
export function exampleChange({ resource, create, modify }: Behaviour): Body | undefined {
  if (modify?.example !== undefined) return modify.example
  const settable = [...resource.fields.values()].filter(({ set }) => set === 'always' || set === 'modify')
  const isSettable = (path: string) =>
    settable.some((field) => field.path === path || field.path.startsWith(`${path}.`))
  const kept = Object.entries(create?.example ?? {}).filter(([path]) => isSettable(path))
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** A change or a removal of listed records: the first field of the change is enough to show how. */
export function exampleOfMany(resource: Resource, change: Body = {}): Body {
  const key = resource.key.map((path): [string, unknown] => [path, sampleOf(path)])
  return { records: [Object.fromEntries([...key, ...Object.entries(change).slice(0, 1)])] }
}

/** An example as it stands in a request: dotted paths are written out as objects. */
export function asJson(example: Body): Json {
  const nested: Record<string, Json> = {}
  for (const [path, value] of Object.entries(example)) place(nested, path, value as Json)
  return nested
}
