import { type Behaviour, define } from '../../../../core/behaviour.ts'
import { inline } from '../../../../core/verb.ts'
import { failure } from '../../../../model/failure.ts'
import { count, text } from '../../../../model/kinds/index.ts'
import { resource } from '../../../../model/resource.ts'
import { EXPORT_POLICIES, EXPORT_POLICIES_LOCK } from '../export-policies.ts'
import { CLIENT_CHARACTERS_MAX } from './client-match.ts'
import { changedRule, type ExportRule, rulesOf } from './rule-list.ts'
import { writeRules } from './write-rules.ts'

const POLICY = 'policy.id'

const exportRuleClientsResource = resource({
  path: `/${EXPORT_POLICIES}/{${POLICY}}/rules/{index}/clients`,
  noun: 'client of the export rule',
  doc: 'The clients of an export rule. The field `clients` of the rule shows them too.',
  key: ['match'],
  recordKey: [POLICY, 'index'],
  rowsOf: EXPORT_POLICIES,
  nameWithin: false,
  fields: {
    match: {
      doc: 'The client: a host name, an IP address, a network, a domain that begins with ".", or a netgroup after "@".',
      kind: text({ charactersMin: 1, charactersMax: CLIENT_CHARACTERS_MAX }),
      set: 'create',
      required: true,
    },
    index: { doc: 'The index of the rule in the export policy.', kind: count() },
    policy: { doc: 'The export policy of the rule.', isGroup: true },
    'policy.id': { doc: 'The ID of the export policy.', kind: count() },
    'policy.name': { doc: 'The name of the export policy.', kind: text() },
    svm: { doc: 'The SVM of the export policy.', ref: 'svm/svms' },
  },
})

export const exportRuleClients: Behaviour<typeof exportRuleClientsResource> = define(exportRuleClientsResource, {
  async rows(cluster, path) {
    const policy = await cluster.row(EXPORT_POLICIES, path[POLICY] ?? '')
    const index = Number(path['index'])
    return clientsOf(rulesOf(policy), index).map((client) => ({
      match: client.match,
      index,
      [POLICY]: policy['id'],
      'policy.name': policy['name'],
      'svm.uuid': policy['svm.uuid'],
    }))
  },
  create: inline({
    example: { match: '.clients.example.com' },
    alone: () => [EXPORT_POLICIES_LOCK],
    async plan(cluster, { draft, path }) {
      const policy = path[POLICY] ?? ''
      const index = Number(path['index'])
      const match = draft['match']
      const rules = rulesOf(await cluster.row(EXPORT_POLICIES, policy))
      const clients = clientsOf(rules, index)
      if (clients.some((client) => client['match'] === match)) throw failure('exportClientTaken')
      const changed = changedRule(rules, index, { clients: [...clients, { match }] }, index)
      return { key: match, input: { policy, rules: changed } }
    },
    step: writeRules(),
  }),
  remove: inline({
    alone: () => [EXPORT_POLICIES_LOCK],
    async plan(cluster, { row }) {
      const policy = String(row[POLICY])
      const index = row.index
      const rules = rulesOf(await cluster.row(EXPORT_POLICIES, policy))
      const clients = clientsOf(rules, index).filter(({ match }) => match !== row['match'])
      return { key: row['match'], input: { policy, rules: changedRule(rules, index, { clients }, index) } }
    },
    step: writeRules(),
  }),
})

function clientsOf(rules: readonly ExportRule[], index: number): ExportRule['clients'] {
  const rule = rules.find((one) => one['index'] === index)
  if (rule === undefined) throw failure('exportRuleNotFound')
  return rule.clients
}
