import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { plainVerbs } from '../../../core/plain.ts'
import { charactersOf } from '../../../core/read/long-values.ts'
import { failure } from '../../../model/failure.ts'
import { groups, resource } from '../../../model/resource.ts'
import { namesBy } from '../../../model/naming.ts'
import { count, each, flag, text } from '../../../model/kinds/index.ts'
import type { NewOf, RowOf } from '../../../model/rows.ts'
import { FPOLICY_ENGINES } from './engines.ts'
import { FPOLICY_EVENTS } from './events.ts'
import {
  fpolicyName,
  FPOLICY_POLICIES,
  insistOnFree,
  NATIVE_ENGINE,
  partFields,
  partOfSvm,
  policiesOf,
  POLICIES_LOCK,
} from './names.ts'
import { hasScope, scopeFields } from './policies/scope.ts'

/** Enabled policies of an SVM have so many priorities to share. */
const PRIORITY_MAX = 10
const EVENTS_MAX = 256
/** Of all policies of an SVM together: the record of its FPolicy configuration lists them whole. */
const POLICIES_CHARACTERS_MAX = 2 * 1024 * 1024

const plain = plainVerbs(FPOLICY_POLICIES, {
  example: { name: 'fpolicy_example', events: [], mandatory: false, 'scope.include_volumes': ['*'] },
  async check(cluster, row) {
    await checkPolicy(cluster, row)
    return { 'engine.name': NATIVE_ENGINE, ...row, ...(row['enabled'] === true ? {} : { priority: null }) }
  },
})

const fpolicyPoliciesResource = resource({
  ...partOfSvm(FPOLICY_POLICIES),
  within: {
    engine: namesBy(FPOLICY_ENGINES, 'blocks', 'engine.name', { under: 'svm.uuid', without: [NATIVE_ENGINE] }),
    events: namesBy(FPOLICY_EVENTS, 'blocks', 'events.name', { under: 'svm.uuid' }),
  },
  noun: 'FPolicy policy',
  doc: 'FPolicy policies send events to an engine. Stored without effect: files are not served yet.',
  fields: {
    ...groups({
      engine: 'The engine that receives the notifications.',
      scope: 'The shares, volumes, exports and file types that the policy covers.',
    }),
    ...partFields('policy'),
    enabled: { doc: 'Whether the policy is enabled.', kind: flag(), set: 'always', default: false },
    priority: {
      doc: 'The number that orders the enabled policies of the SVM: the lowest comes first. Required to enable the policy.',
      kind: count({ min: 1, max: PRIORITY_MAX }),
      set: 'always',
    },
    'engine.name': {
      doc: 'The name of the engine that receives the events. Default: the built-in engine, which filters by file extension.',
      kind: fpolicyName(),
      set: 'always',
    },
    events: {
      doc: 'The events that the policy sends.',
      kind: each(
        { name: { kind: fpolicyName(), doc: 'The name of the event.', required: true } },
        { elementsMax: EVENTS_MAX },
      ),
      set: 'always',
      required: true,
    },
    mandatory: {
      doc: 'Whether access is refused while no server can be reached.',
      kind: flag(),
      set: 'always',
      default: true,
    },
    passthrough_read: {
      doc: 'Whether servers may supply the content of offline files.',
      kind: flag(),
      set: 'always',
      default: false,
      since: '9.10.1',
    },
    privileged_user: {
      doc: 'The user as whom servers read files.',
      kind: text({ charactersMax: 256 }),
      set: 'always',
      since: '9.10.1',
    },
    allow_privileged_access: {
      doc: 'Whether servers may read files with privileged access.',
      kind: flag(),
      set: 'always',
      default: false,
      since: '9.13.1',
    },
    ...scopeFields,
  },
})

export const fpolicyPolicies: Behaviour<typeof fpolicyPoliciesResource> = define(fpolicyPoliciesResource, {
  create: { ...insistOnFree(plain.create, FPOLICY_POLICIES), alone: () => [POLICIES_LOCK] },
  modify: {
    ...plain.modify,
    alone: () => [POLICIES_LOCK],
    plan(cluster, request) {
      const { row, draft } = request
      if (draft['priority'] !== undefined && draft['enabled'] === false) {
        throw failure('fpolicyPriorityNeedless')
      }
      const isOther = Object.keys(draft).some((path) => !STATE.has(path) && !path.startsWith('scope.'))
      if (row['enabled'] === true && draft['enabled'] !== false && isOther) {
        throw failure('fpolicyPolicyEnabledChange')
      }
      return plain.modify.plan(cluster, request)
    },
  },
  remove: {
    ...plain.remove,
    alone: () => [POLICIES_LOCK],
    plan(cluster, request) {
      if (request.row['enabled'] === true) {
        throw failure('fpolicyPolicyEnabledDelete')
      }
      return plain.remove.plan(cluster, request)
    },
  },
})

const STATE: ReadonlySet<string> = new Set(['enabled', 'priority'])

async function checkPolicy(cluster: Cluster, row: NewOf<typeof FPOLICY_POLICIES>): Promise<void> {
  const svm = row['svm.uuid']
  for (const { name } of row['events']) {
    if ((await cluster.find(FPOLICY_EVENTS, `${svm}/${name}`)) === undefined) {
      throw failure('fpolicyEventNotFound', { name: name.slice(0, 80) })
    }
  }
  const engine = row['engine.name'] ?? NATIVE_ENGINE
  if (engine !== NATIVE_ENGINE && (await cluster.find(FPOLICY_ENGINES, `${svm}/${engine}`)) === undefined) {
    throw failure('fpolicyEngineNotFound', { engine: engine.slice(0, 80) })
  }
  if (row['passthrough_read'] === true && (row['privileged_user'] ?? '') === '') {
    throw failure('fpolicyUserMissing')
  }
  const others = (await policiesOf(cluster, svm)).filter((policy) => policy['name'] !== row['name'])
  if (charactersOf([...others, row]) > POLICIES_CHARACTERS_MAX) {
    throw failure('fpolicyPoliciesTooLong', { max: POLICIES_CHARACTERS_MAX })
  }
  if (row['enabled'] === true) checkEnabled(row, others)
}

function checkEnabled(row: NewOf<typeof FPOLICY_POLICIES>, others: readonly RowOf<typeof FPOLICY_POLICIES>[]): void {
  if (typeof row['priority'] !== 'number') {
    throw failure('fpolicyPriorityMissing')
  }
  if (!hasScope(row)) {
    throw failure('fpolicyScopeMissing')
  }
  const other = others.find((policy) => policy['enabled'] === true && policy['priority'] === row['priority'])
  if (other !== undefined) {
    throw failure('fpolicyPriorityTaken', { policy: other['name'] })
  }
}
