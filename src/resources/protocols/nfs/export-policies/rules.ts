import { type Behaviour, define } from '../../../../core/behaviour.ts'
import { inline } from '../../../../core/verb.ts'
import { groups, resource } from '../../../../model/resource.ts'
import { count, text } from '../../../../model/kinds/index.ts'
import { EXPORT_POLICIES, EXPORT_POLICIES_LOCK } from '../export-policies.ts'
import { changedRule, indexKind, ruleFields, rulesOf, withRule } from './rule-list.ts'
import { writeRules } from './write-rules.ts'

const POLICY = 'policy.id'

const exportRulesResource = resource({
  path: `/${EXPORT_POLICIES}/{${POLICY}}/rules`,
  noun: 'rule of the export policy',
  doc: 'The rules of an export policy. The field `rules` of the policy shows them too.',
  key: ['index'],
  recordKey: [POLICY, 'index'],
  rowsOf: EXPORT_POLICIES,
  nameWithin: false,
  columns: ['index', 'clients.match', 'protocols', 'ro_rule', 'rw_rule', 'superuser'],
  removal: 'disruptive',
  fields: {
    ...groups({ policy: 'The export policy that the rule belongs to.' }),
    index: {
      doc: 'The position of the rule in the policy. Default: the end. An index in use moves the later rules up.',
      kind: indexKind(),
      set: 'create',
    },
    ...ruleFields,
    'policy.id': { doc: 'The ID of the export policy.', kind: count() },
    'policy.name': { doc: 'The name of the export policy.', kind: text() },
    svm: { doc: 'The SVM of the policy.', ref: 'svm/svms' },
  },
})

export const exportRules: Behaviour<typeof exportRulesResource> = define(exportRulesResource, {
  async rows(cluster, path) {
    const policy = await cluster.row(EXPORT_POLICIES, path[POLICY] ?? '')
    const of = { [POLICY]: policy['id'], 'policy.name': policy['name'], 'svm.uuid': policy['svm.uuid'] }
    return rulesOf(policy).map((rule) => Object.assign({}, rule, of))
  },
  create: inline({
    example: { clients: [{ match: '192.0.2.7' }], ro_rule: ['any'], rw_rule: ['never'] },
    alone: () => [EXPORT_POLICIES_LOCK],
    async plan(cluster, { draft: { [POLICY]: _policy, ...draft }, path }) {
      const policy = path[POLICY] ?? ''
      const { rules, index } = withRule(rulesOf(await cluster.row(EXPORT_POLICIES, policy)), draft)
      return { key: String(index), input: { policy, rules } }
    },
    step: writeRules(),
  }),
  modify: inline({
    args: { new_index: { doc: 'The new index of the rule.', kind: indexKind() } },
    alone: () => [EXPORT_POLICIES_LOCK],
    async plan(cluster, { row, draft, args }) {
      const policy = String(row[POLICY])
      const index = row.index
      const rules = rulesOf(await cluster.row(EXPORT_POLICIES, policy))
      const changed = changedRule(rules, index, draft, args.new_index ?? index)
      return { key: String(index), input: { policy, rules: changed } }
    },
    step: writeRules(),
  }),
  remove: inline({
    alone: () => [EXPORT_POLICIES_LOCK],
    async plan(cluster, { row }) {
      const policy = String(row[POLICY])
      const rules = rulesOf(await cluster.row(EXPORT_POLICIES, policy)).filter(({ index }) => index !== row['index'])
      return { key: String(row['index']), input: { policy, rules } }
    },
    step: writeRules(),
  }),
})
