import type { Cluster } from '../../src/core/cluster.ts'

/** Lets the first SVM have volumes in any aggregate, as an administrator does who adds one. */
export async function allowAnyAggregate(cluster: Cluster): Promise<void> {
  const svm = await cluster.row('svm/svms', (await cluster.keyOfName('svm/svms', 'svm1')) ?? '')
  await cluster.commit([cluster.put('svm/svms', { ...svm, aggregates: [] })])
}
