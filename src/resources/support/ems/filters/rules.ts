import { type Behaviour, define } from '../../../../core/behaviour.ts'
import type { Cluster } from '../../../../core/cluster.ts'
import { inline } from '../../../../core/verb.ts'
import { failure } from '../../../../model/failure.ts'
import { count, text } from '../../../../model/kinds/index.ts'
import { resource } from '../../../../model/resource.ts'
import type { DraftIn } from '../../../../model/rows.ts'
import { EMS_FILTERS, EMS_LOCK, insistOnOwn } from '../filters.ts'
import {
  type GivenRule,
  type Rule,
  keptRules,
  messageCriteria,
  parameterCriteria,
  RULES_MAX,
  ruleType,
  settleRule,
  shownRules,
} from '../filter-rules.ts'

/** The rules of a filter one by one. Where one comes or goes, those behind it get other places. */
const emsRulesResource = resource({
  path: '/support/ems/filters/{name}/rules',
  noun: 'rule of an event filter',
  doc: 'Rules of event filters. A new rule is added at the end, or at the given index.',
  key: ['index'],
  nameWithin: false,
  order: [{ path: 'index', isDescending: false }],
  fields: {
    name: { doc: 'The name of the filter.', kind: text(), set: 'create' },
    index: {
      doc: 'The position of the rule, starting at 1. Default for a new rule: the end.',
      kind: count({ min: 1, max: RULES_MAX + 1 }),
      set: 'create',
    },
    type: {
      doc: 'Whether events that fit are let through or left out.',
      kind: ruleType,
      set: 'always',
      required: true,
    },
    'message_criteria.name_pattern': { ...messageCriteria.name_pattern, set: 'always' },
    'message_criteria.severities': { ...messageCriteria.severities, set: 'always' },
    message_criteria: { doc: 'Which events the rule matches.', isGroup: true },
    'message_criteria.snmp_trap_types': { ...messageCriteria.snmp_trap_types, set: 'always' },
    parameter_criteria: {
      doc: 'Which events fit, by their parameters.',
      kind: parameterCriteria,
      set: 'always',
    },
  },
})

type RuleDraft = DraftIn<typeof emsRulesResource>

export const emsRules: Behaviour<typeof emsRulesResource> = define(emsRulesResource, {
  async rows(cluster, path) {
    const filter = path['name'] ?? ''
    return shownRules(await cluster.row(EMS_FILTERS, filter)).map((rule): RuleDraft => ({
      name: filter,
      index: rule.index,
      type: rule.type,
      'message_criteria.name_pattern': rule.message_criteria.name_pattern,
      'message_criteria.severities': rule.message_criteria.severities,
      'message_criteria.snmp_trap_types': rule.message_criteria.snmp_trap_types,
      parameter_criteria: rule.parameter_criteria,
    }))
  },
  create: inline({
    example: { type: 'exclude', message_criteria: { name_pattern: 'snapshot.*' } },
    async plan(cluster, { draft, path }) {
      const filter = path['name'] ?? ''
      const rules = await ownRules(cluster, filter)
      const index = draft['index'] ?? rules.length + 1
      if (index > rules.length + 1) {
        throw failure('filterRuleIndexTooHigh', { count: rules.length, next: rules.length + 1 })
      }
      return { key: String(index), input: { filter, draft: settled(draft, index) }, locks: [EMS_LOCK] }
    },
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        await change(cluster, input.filter, (rules) => rules.toSpliced(Number(key) - 1, 0, input.draft))
      },
    },
  }),
  modify: inline({
    async plan(cluster, { row, draft, path }) {
      const filter = path['name'] ?? ''
      const index = await placeOf(cluster, filter, row)
      const input = { filter, draft: settled({ ...row, ...draft }, index) }
      return { key: String(index), input, locks: [EMS_LOCK] }
    },
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        await change(cluster, input.filter, (rules) => rules.with(Number(key) - 1, input.draft))
      },
    },
  }),
  remove: inline({
    async plan(cluster, { row, path }) {
      const filter = path['name'] ?? ''
      return { key: String(await placeOf(cluster, filter, row)), input: { filter }, locks: [EMS_LOCK] }
    },
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        await change(cluster, input.filter, (rules) => rules.toSpliced(Number(key) - 1, 1))
      },
    },
  }),
})

async function ownRules(cluster: Cluster, filter: string): Promise<readonly GivenRule[]> {
  const row = await cluster.row(EMS_FILTERS, filter)
  insistOnOwn(row)
  return keptRules(row)
}

async function placeOf(cluster: Cluster, filter: string, { index }: { readonly index: number }): Promise<number> {
  if (index <= (await ownRules(cluster, filter)).length) return index
  throw failure('lastFilterRule')
}

/** A rule as a filter keeps it, from the fields of this resource. */
function settled(row: RuleDraft & { readonly type: Rule['type'] }, index: number): Rule {
  const {
    'message_criteria.name_pattern': pattern = null,
    'message_criteria.severities': severities = null,
    'message_criteria.snmp_trap_types': trapTypes = null,
    parameter_criteria: parameters,
  } = row
  const given: GivenRule = {
    type: row.type,
    message_criteria: {
      ...(pattern === null ? {} : { name_pattern: pattern }),
      ...(severities === null ? {} : { severities }),
      ...(trapTypes === null ? {} : { snmp_trap_types: trapTypes }),
    },
    ...(parameters === undefined ? {} : { parameter_criteria: parameters }),
  }
  return settleRule(given, index)
}

/** Changes the rules as they are now, and numbers them anew. */
async function change(
  cluster: Cluster,
  filter: string,
  make: (rules: readonly GivenRule[]) => readonly GivenRule[],
): Promise<void> {
  const row = await cluster.row(EMS_FILTERS, filter)
  const rules = make(keptRules(row))
  if (rules.length > RULES_MAX) {
    throw failure('filterRuleLimitReached', { max: RULES_MAX })
  }
  const numbered = rules.map((rule, at) => settleRule(rule, at + 1))
  await cluster.commit([cluster.put(EMS_FILTERS, { ...row, rules: numbered })])
}
