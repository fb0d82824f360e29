/** What was found with modules of the Ansible collection, as a section of a page of the documentation. */
import type { CaseResult, StepResult } from './playbook.ts'

/** The collection that the section speaks of: what others find may differ. */
export const COLLECTION_VERSION = '22.7.0'

export function ansibleSection(results: readonly CaseResult[]): string {
  const rows = results.map(({ module, case: { name }, steps }) =>
    [`\`${module}\``, name, ...COLUMNS.map((column) => resultOf(steps, column))].join(' | '),
  )
  return `**Run by the tests: yes.** The collection netapp.ontap ${COLLECTION_VERSION}, as Debian's package \`ansible\` has it, with \`use_rest: always\`. *ok*: the first call said \`changed\`, and the same call again did not. What was called is in [test/ansible/modules](../test/ansible/modules).

| module | what it does here | create | modify | remove | other calls |
|---|---|---|---|---|---|
${rows.map((row) => `| ${row} |`).join('\n')}
${subsets(results)}`
}

const COLUMNS = [['create'], ['modify'], ['remove'], ['read', 'act']] as const

function resultOf(steps: readonly StepResult[], names: readonly string[]): string {
  const own = steps.filter(({ step }) => names.includes(step.split(' ', 1)[0] ?? ''))
  if (own.length === 0) return '–'
  const first = own.find(({ problem }) => problem !== undefined)
  return first === undefined ? 'ok' : `${first.step}: ${(first.problem ?? '').split(':', 1)[0] ?? ''}`
}

/** What `na_ontap_rest_info` was answered when it asked for everything it knows. */
function subsets(results: readonly CaseResult[]): string {
  const found = Object.assign({}, ...results.flatMap(({ steps }) => steps.map((step) => step.found ?? {}))) as Record<
    string,
    unknown
  >
  const names = Object.keys(found).toSorted()
  if (names.length === 0) return ''
  const isAnswered = (name: string) => typeof found[name] === 'object'
  const listed = (some: readonly string[]) => some.map((name) => `\`${name}\``).join(', ')
  return `
### Subsets of na_ontap_rest_info

Answered: ${listed(names.filter(isAnswered))}.

Of resources that are not here, which the module takes for an older release: ${listed(names.filter((name) => !isAnswered(name)))}.
`
}
