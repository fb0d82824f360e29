/**
 * A call in the name of one SVM, by the headers X-Dot-SVM-Name and X-Dot-SVM-UUID: it sees what belongs to that SVM, and
 * what it makes belongs to it. What belongs to no SVM, such as the cluster, is as without them.
 */
import type { Cluster } from '../../core/cluster.ts'
import { failure } from '../../model/failure.ts'
import type { Filter } from '../../model/query.ts'
import type { Resource } from '../../model/resource.ts'
import type { Row } from '../../model/value.ts'

export interface SvmScope {
  readonly uuid: string
  readonly name: string
}

/** The SVM that the headers name, if any. Fails with `malformed` where there is none, or where they name two. */
export async function svmScope(
  cluster: Cluster,
  headers: Readonly<Record<string, string | undefined>>,
): Promise<SvmScope | undefined> {
  const name = headers['x-dot-svm-name']
  const given = headers['x-dot-svm-uuid']
  if (name === undefined && given === undefined) return undefined
  const uuid = given?.toLowerCase() ?? (await cluster.keyOfName('svm/svms', name ?? ''))
  const svm = uuid === undefined ? undefined : await cluster.find('svm/svms', uuid)
  if (uuid === undefined || svm === undefined) {
    throw failure('scopeSvmUnknown', { name: (given ?? name ?? '').slice(0, 80) })
  }
  if (name !== undefined && name !== svm['name']) {
    throw failure('scopeHeadersDiffer')
  }
  return { uuid, name: svm['name'] }
}

/** The filters that leave what the SVM sees. What is shared by all SVMs is seen by each. */
export function scopeFilters(resource: Resource, scope: SvmScope | undefined): Filter[] {
  const path = ownerPath(resource)
  if (scope === undefined || path === undefined) return []
  return [{ path, test: (values) => (values.length === 0 ? resource.isShared : values.includes(scope.uuid)) }]
}

/** A draft of a new record as it is in the name of the SVM. Fails with `malformed` where it says another. */
export function inScope(
  resource: Resource,
  scope: SvmScope | undefined,
  draft: Row,
  path: Readonly<Record<string, string>>,
): Row {
  if (scope === undefined || ownerPath(resource) !== OWNER) return draft
  const uuid = path[OWNER] ?? draft[OWNER] ?? scope.uuid
  const name = draft['svm.name'] ?? scope.name
  if (uuid !== scope.uuid || name !== scope.name) {
    throw failure('scopeSvmMismatch')
  }
  const isGiven = resource.pathKeys.includes(OWNER) || resource.fields.get(OWNER)?.set === 'never'
  return isGiven || draft['svm.name'] !== undefined ? draft : { ...draft, [OWNER]: scope.uuid }
}

const OWNER = 'svm.uuid'

/** The field that says whose a record is: SVMs are their own. */
function ownerPath(resource: Resource): string | undefined {
  if (resource.type === 'svm/svms') return 'uuid'
  return resource.fields.has(OWNER) ? OWNER : undefined
}
