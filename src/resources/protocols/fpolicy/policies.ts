import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { plainVerbs } from '../../../core/plain.ts'
import { failures } from '../../../model/failure.ts'
import { groups, resource, namesBy } from '../../../model/resource.ts'
import { count, each, flag, text } from '../../../model/kinds/index.ts'
import { type Row, textAt } from '../../../model/value.ts'
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

/** What clients of the interface know these failures by. */
const codes = {
  event: 9764875,
  engine: 9764888,
  scope: 9764898,
  enabledChange: 9764899,
  enabledRemove: 9764900,
  noPriority: 9765026,
  needlessPriority: 9765025,
  priorityTaken: 9765027,
  user: 9765038,
} as const

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
        throw failures.invalid('priority', 'A policy that is disabled has no priority.', codes.needlessPriority)
      }
      const isOther = Object.keys(draft).some((path) => !STATE.has(path) && !path.startsWith('scope.'))
      if (row['enabled'] === true && draft['enabled'] !== false && isOther) {
        throw failures.inUse('The policy is enabled. Disable it first.', 'enabled', codes.enabledChange)
      }
      return plain.modify.plan(cluster, request)
    },
  },
  remove: {
    ...plain.remove,
    alone: () => [POLICIES_LOCK],
    plan(cluster, request) {
      if (request.row['enabled'] === true) {
        throw failures.inUse('The policy is enabled. Disable it first.', 'enabled', codes.enabledRemove)
      }
      return plain.remove.plan(cluster, request)
    },
  },
})

const STATE: ReadonlySet<string> = new Set(['enabled', 'priority'])

async function checkPolicy(cluster: Cluster, row: Row): Promise<void> {
  const svm = textAt(row, 'svm.uuid')
  for (const event of (row['events'] ?? []) as readonly Row[]) {
    const name = textAt(event, 'name')
    if ((await cluster.find(FPOLICY_EVENTS, `${svm}/${name}`)) === undefined) {
      throw failures.invalid('events', `The SVM has no FPolicy event "${name.slice(0, 80)}".`, codes.event)
    }
  }
  const engine = textAt(row, 'engine.name') || NATIVE_ENGINE
  if (engine !== NATIVE_ENGINE && (await cluster.find(FPOLICY_ENGINES, `${svm}/${engine}`)) === undefined) {
    throw failures.invalid('engine.name', `The SVM has no FPolicy engine "${engine.slice(0, 80)}".`, codes.engine)
  }
  if (row['passthrough_read'] === true && textAt(row, 'privileged_user') === '') {
    throw failures.invalid('privileged_user', 'passthrough_read needs a privileged user.', codes.user)
  }
  if (row['enabled'] === true) await checkEnabled(cluster, row)
}

async function checkEnabled(cluster: Cluster, row: Row): Promise<void> {
  if (typeof row['priority'] !== 'number') {
    throw failures.invalid('priority', 'An enabled policy needs a priority.', codes.noPriority)
  }
  if (!hasScope(row)) {
    throw failures.invalid('scope', 'The policy has no scope. Say what it is about first.', codes.scope)
  }
  const other = (await policiesOf(cluster, textAt(row, 'svm.uuid'))).find(
    (policy) => policy['enabled'] === true && policy['name'] !== row['name'] && policy['priority'] === row['priority'],
  )
  if (other !== undefined) {
    throw failures.invalid('priority', `The policy "${textAt(other, 'name')}" has this priority.`, codes.priorityTaken)
  }
}
