/** What events, engines and policies of FPolicy have in common. */
import type { Ground } from '../../../core/grounds.ts'
import type { Cluster } from '../../../core/cluster.ts'
import type { Verb, VerbRequest } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { text } from '../../../model/kinds/index.ts'
import type { NewOf, RowOf } from '../../../model/rows.ts'

export const FPOLICY_POLICIES = 'protocols/fpolicy/{svm.uuid}/policies'
/** Held while a policy takes up an event or an engine, is enabled or goes, and while one of those goes. */
export const POLICIES_LOCK: Ground = {
  lock: 'fpolicy-policies',
  types: [FPOLICY_POLICIES, 'protocols/fpolicy/{svm.uuid}/events', 'protocols/fpolicy/{svm.uuid}/engines'],
}
/** The engine that is part of the cluster, and looks at the extensions of files. */
export const NATIVE_ENGINE = 'native'

/** Of one kind in one SVM. */
const EACH_MAX = 256

export function fpolicyName() {
  return text({
    charactersMin: 1,
    charactersMax: 256,
    pattern: /^[A-Za-z0-9_.-]+$/,
    patternDoc: 'letters, digits and "_", "-" and "."',
  })
}

/** How events, engines and policies are addressed: by their names within an SVM. */
export function partOfSvm<const Type extends string>(type: Type) {
  return {
    path: `/${type}`,
    key: ['name'],
    recordKey: ['svm.uuid', 'name'],
    parent: 'svm.uuid',
    nameWithin: 'svm.uuid',
  } as const
}

export function partFields(noun: string) {
  return {
    svm: { doc: 'The SVM it belongs to.', ref: 'svm/svms', set: 'create', required: true },
    name: { doc: `The name of the ${noun}.`, kind: fpolicyName(), set: 'create', required: true },
  } as const
}

export function policiesOf(cluster: Cluster, svm: string): Promise<RowOf<typeof FPOLICY_POLICIES>[]> {
  return cluster.rows(FPOLICY_POLICIES, svm)
}

type Part = typeof FPOLICY_POLICIES | 'protocols/fpolicy/{svm.uuid}/engines' | 'protocols/fpolicy/{svm.uuid}/events'

/** A create that refuses a taken name as tools know it, and more than an SVM may have. */
export function insistOnFree(create: Verb, type: Part): Verb<VerbRequest<RowOf<Part>, NewOf<Part>>> {
  return {
    ...create,
    async plan(cluster, request) {
      const { 'svm.uuid': svm, name } = request.draft
      const { noun } = cluster.registry.resource(type)
      if ((await cluster.find(type, `${svm}/${name}`)) !== undefined) {
        throw failure('fpolicyNameTaken', { noun })
      }
      if ((await cluster.rows(type, svm)).length >= EACH_MAX) {
        throw failure('fpolicyLimitReached', { max: EACH_MAX })
      }
      return create.plan(cluster, request)
    },
  }
}
