/** What accounts and roles belong to: the cluster, or an SVM. */
import type { Derivation } from '../../core/behaviour.ts'
import type { Row } from '../../model/value.ts'
import type { Cluster } from '../../core/cluster.ts'
import { noSuchOwner } from '../../core/read/references.ts'
import { oneOf, text, uuid } from '../../model/kinds/index.ts'
import type { Fields } from '../../model/resource.ts'

export interface Owner {
  readonly uuid: string
  readonly name: string
  readonly scope: 'cluster' | 'svm'
}

export const ownerFields = {
  'owner.name': {
    doc: 'The name of the owner: the cluster or an SVM. Default: the cluster.',
    kind: text({ charactersMax: 255 }),
    set: 'create',
  },
  'owner.uuid': { doc: 'The UUID of the owner: the cluster or an SVM.', kind: uuid() },
  scope: {
    doc: 'Whether the owner is the cluster or an SVM.',
    kind: oneOf({ cluster: 'The owner is the cluster.', svm: 'The owner is an SVM.' }),
  },
} as const satisfies Fields

/** The cluster itself, as an owner. */
export async function clusterOwner(cluster: Cluster): Promise<Owner> {
  const [self] = await cluster.rows('cluster')
  return { uuid: self?.['uuid'] ?? '', name: self?.['name'] ?? '', scope: 'cluster' }
}

/** The owner that a draft names. */
export async function ownerNamed(cluster: Cluster, name: string | undefined, target = 'owner.name'): Promise<Owner> {
  const self = await clusterOwner(cluster)
  if (name === undefined || name === self.name) return self
  const svm = await cluster.keyOfName('svm/svms', name)
  if (svm !== undefined) return { uuid: svm, name: name, scope: 'svm' }
  throw noSuchOwner(name, target)
}

/** Names are looked up when they are read: clusters and SVMs get others. */
async function ownerName(cluster: Cluster, owner: string, self: Owner): Promise<string | null> {
  return owner === self.uuid ? self.name : ((await cluster.find('svm/svms', owner))?.['name'] ?? null)
}

export const ownerNames: Derivation<{ readonly 'owner.uuid'?: string }, 'owner.name', Row> = {
  gives: ['owner.name'],
  async from(cluster, rows) {
    const self = await clusterOwner(cluster)
    return Promise.all(
      rows.map(async (row) => ({ 'owner.name': await ownerName(cluster, row['owner.uuid'] ?? '', self) })),
    )
  },
}

/** The same of users. */
export const userOwnerNames: Derivation<{ readonly 'user.owner.uuid'?: string }, 'user.owner.name', Row> = {
  gives: ['user.owner.name'],
  async from(cluster, rows) {
    const self = await clusterOwner(cluster)
    return Promise.all(
      rows.map(async (row) => ({ 'user.owner.name': await ownerName(cluster, row['user.owner.uuid'] ?? '', self) })),
    )
  },
}
