/**
 * Rules of an event filter. They are asked one after the other; the first that fits an event decides. Behind those that
 * were given comes one that leaves out everything: it is shown, not kept, and nobody can change it.
 */
import { failure } from '../../../model/failure.ts'
import { count, each, group, oneOf, text } from '../../../model/kinds/index.ts'
import type { DraftOf } from '../../../model/rows.ts'

/** Rules of one filter, and the names that one of them has at most, as the documentation of the interface has them. */
export const RULES_MAX = 128
const PARAMETERS_MAX = 16
const ANY = '*'

const SEVERITIES = ['emergency', 'alert', 'error', 'notice', 'informational', 'debug']
const TRAP_TYPES = ['standard', 'built_in', 'severity_based']

const pattern = (doc: string) => ({
  kind: text({
    charactersMin: 1,
    charactersMax: 127,
    pattern: /^\S+$/,
    patternDoc: 'a name without spaces; * is any text',
  }),
  doc,
})
const severities = text({ charactersMin: 1, charactersMax: 127 })

export const messageCriteria = {
  name_pattern: pattern('A pattern for event names. `*` matches any text.'),
  severities: { kind: severities, doc: `One or more of ${SEVERITIES.join(', ')}, with commas between, or \`*\`.` },
  snmp_trap_types: { kind: severities, doc: `One or more of ${TRAP_TYPES.join(', ')}, with commas between, or \`*\`.` },
} as const

export const parameterCriteria = each(
  {
    name_pattern: pattern('A pattern for the name of a parameter.'),
    value_pattern: pattern('A pattern for the value of the parameter.'),
  },
  { elementsMax: PARAMETERS_MAX },
)

export const ruleType = oneOf({ include: 'Matching events are sent.', exclude: 'Matching events are not sent.' })

export const rulesKind = each(
  {
    index: { kind: count({ min: 1, max: RULES_MAX + 1 }), doc: 'The position of the rule, starting at 1.' },
    type: { kind: ruleType, doc: 'Whether the rule includes or excludes matching events.', required: true },
    message_criteria: { kind: group(messageCriteria), doc: 'Conditions on the event.' },
    parameter_criteria: { kind: parameterCriteria, doc: 'Conditions on parameters of the event.' },
  },
  { elementsMax: RULES_MAX },
)

export type Rule = {
  readonly index: number
  readonly type: 'include' | 'exclude'
  readonly message_criteria: {
    readonly name_pattern: string
    readonly severities: string
    readonly snmp_trap_types: string
  }
  readonly parameter_criteria: readonly { readonly name_pattern: string; readonly value_pattern: string }[]
}

export type GivenRule = {
  readonly index?: number
  readonly type: 'include' | 'exclude'
  readonly message_criteria?: Partial<Rule['message_criteria']>
  readonly parameter_criteria?: readonly { readonly name_pattern?: string; readonly value_pattern?: string }[]
}

/**
 * The rules in their order, each with the place it has in it. Two that want the same place stay as they were given. The
 * last one may be the one that is always there: who sends back what was shown changes nothing.
 */
export function settleRules(given: readonly GivenRule[]): Rule[] {
  const ordered = given.map((rule, at) => ({ rule, place: rule.index ?? at + 1 })).toSorted((a, b) => a.place - b.place)
  const rules = ordered.map(({ rule, place }, at) => {
    if (place !== at + 1) {
      throw failure('filterRuleIndexGap', { count: given.length, index: at + 1 })
    }
    return settleRule(rule, place)
  })
  return isLast(rules.at(-1)) ? rules.slice(0, -1) : rules
}

function isLast(rule: Rule | undefined): boolean {
  // Settled rules have the same members in the same order.
  const written = (one: Omit<Rule, 'index'>) => JSON.stringify([one.type, one.message_criteria, one.parameter_criteria])
  return rule !== undefined && written(rule) === written(LAST)
}

export function settleRule(given: GivenRule, index: number): Rule {
  const criteria = given.message_criteria ?? {}
  const parameters = given.parameter_criteria ?? []
  if (Object.keys(criteria).length === 0 && parameters.length === 0) {
    throw failure('filterRuleWithoutCriteria')
  }
  return {
    index,
    type: given.type,
    message_criteria: {
      name_pattern: criteria.name_pattern ?? ANY,
      severities: words('filterSeverityUnknown', criteria.severities, SEVERITIES),
      snmp_trap_types: words('filterTrapTypeUnknown', criteria.snmp_trap_types, TRAP_TYPES),
    },
    parameter_criteria: (parameters.length === 0 ? [{}] : parameters).map(
      (one: { readonly name_pattern?: string; readonly value_pattern?: string }) => ({
        name_pattern: one.name_pattern ?? ANY,
        value_pattern: one.value_pattern ?? ANY,
      }),
    ),
  }
}

/** Words with commas between: spelled as known, in the order given. */
function words(
  refusal: 'filterSeverityUnknown' | 'filterTrapTypeUnknown',
  given: string | undefined,
  known: readonly string[],
): string {
  if (given === undefined || given.trim() === ANY) return ANY
  const named = given.split(/[,|]/).map((word) => word.trim().toLowerCase().replaceAll('-', '_'))
  const odd = named.find((word) => !known.includes(word))
  if (odd === undefined) return named.join(',')
  throw failure(refusal, { word: odd.slice(0, 80), known: known.join(', ') })
}

/** The rules of a filter as they are shown: with the one that leaves out everything else. */
export function shownRules(row: DraftOf<'support/ems/filters'>): readonly Rule[] {
  const kept = keptRules(row)
  return [...kept, { ...LAST, index: kept.length + 1 }]
}

/** Those of its record, which have been settled. */
export function keptRules(row: DraftOf<'support/ems/filters'>): readonly Rule[] {
  return (row['rules'] ?? []).map((rule, at) => settleRule(rule, rule.index ?? at + 1))
}

const LAST: Omit<Rule, 'index'> = {
  type: 'exclude',
  message_criteria: { name_pattern: ANY, severities: ANY, snmp_trap_types: ANY },
  parameter_criteria: [{ name_pattern: ANY, value_pattern: ANY }],
}
