/** Reads of a resource in the name of whoever was let in to it. */
import { type CollectionQuery, type Page, readCollection, readInstance } from '../../core/read/read.ts'
import type { Row } from '../../model/value.ts'
import type { Admission } from './admission.ts'
import { scopeFilters } from './svm-scope.ts'

/** A page of the collection, of what the SVM sees. */
export function readPage(admission: Admission, query: Omit<CollectionQuery, 'path'>): Promise<Page> {
  const { cluster, behaviour, match, resource, scope } = admission
  const filters = [...scopeFilters(resource, scope), ...query.filters]
  return readCollection(cluster, behaviour, { ...query, path: match.pathValues, filters })
}

/** The one record that is asked for. */
export async function readOne(admission: Admission, fields: ReadonlySet<string>): Promise<Row> {
  const { cluster, behaviour, match } = admission
  const row = await readInstance(cluster, behaviour, match.pathValues, match.instance, fields)
  await admission.insistOn(row)
  return row
}
