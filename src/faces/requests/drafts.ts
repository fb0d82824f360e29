/** What is given of a record, nested or by dotted paths, becomes a draft for a verb. */
import type { Cluster } from '../../core/cluster.ts'
import { failure } from '../../model/failure.ts'
import type { Field } from '../../model/resource.ts'
import { flatten } from '../../model/shape.ts'
import { isRecord, type Row, textOf, type Value } from '../../model/value.ts'
import type { Admission } from './admission.ts'
import { inScope } from './svm-scope.ts'

/** A new record. A bucket of which no size is given has the one that its client expects. */
export function newDraft(admission: Admission, given: unknown, bucketSizeBytes: number): Row {
  const { resource, cluster, scope, match } = admission
  const isSizeless = resource.rowsOf === 'protocols/s3/buckets' && isRecord(given) && !('size' in given)
  const whole = isSizeless ? { ...given, size: bucketSizeBytes } : given
  return inScope(resource, scope, flatten(resource, whole, 'create', cluster.release), match.pathValues)
}

/** What is to be changed of records that a query chooses, or a list names. */
export function changes({ resource, cluster }: Admission, given: unknown): Row {
  return flatten(resource, given, 'modify', cluster.release)
}

export function changesNothing(draft: Row, args: Row): boolean {
  return Object.keys(draft).length === 0 && Object.keys(args).length === 0
}

/** What is to be changed of one record. It may repeat the record's keys: some tools name what the path names. */
export async function changesOf({ cluster, resource }: Admission, given: unknown, row: Row): Promise<Row> {
  const keys = new Set(
    [...resource.pathKeys, ...resource.key].flatMap((key) => {
      const { reference } = resource.fields.get(key) ?? {}
      return reference?.part === 'uuid' ? [key, `${reference.base}.name`] : [key]
    }),
  )
  const draft: Record<string, Value> = flatten(resource, given, 'modify', cluster.release, keys)
  for (const key of keys) {
    const field = resource.fields.get(key)
    const repeated = draft[key]
    if (field === undefined || repeated === undefined || field.set === 'always' || field.set === 'modify') continue
    if (textOf(repeated) !== textOf(await keptValue(cluster, field, row)))
      throw failure('fieldNotModifiable', { field: key })
    delete draft[key]
  }
  return draft
}

async function keptValue(cluster: Cluster, { path, reference }: Field, row: Row): Promise<Value> {
  if (reference?.part !== 'name') return row[path] ?? ''
  return (await cluster.find(reference.type, textOf(row[`${reference.base}.uuid`])))?.['name'] ?? ''
}
