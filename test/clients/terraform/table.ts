/** What was checked of the requests of the Terraform provider, as a section of a page of the documentation. */
import type { Flow } from './flow.ts'

/** The flows that went through, each with the verbs that it called. */
export type Checked = ReadonlyMap<Flow, ReadonlySet<string>>

export function terraformSection(checked: Checked): string {
  const rows = [...checked].map(([{ resource, what }, called]) =>
    [`\`${resource}\``, what, ...VERBS.map((verb) => (called.has(verb) ? 'ok' : '–'))].join(' | '),
  )
  return `**Run by the tests: no.** **Recorded:** see below. **Imitated:** the requests that the provider netapp-ontap makes are made by a test, as its sources say, in their order and with their bodies, and what it demands of the answers is checked: values of exactly the types that its structures declare, the record of what was made, one record where it asks for one, jobs that end well. *ok*: such a request was made and its answer fits. The requests are in [test/clients/terraform](../test/clients/terraform).

| resource | what was done | create | read | update | delete |
|---|---|---|---|---|---|
${rows.map((row) => `| ${row} |`).join('\n')}

Of data sources, what they ask for is what their resource reads. Resources of what is not here (SnapMirror, SAN, peering, vscan, FlexCache) were not looked at.
`
}

const VERBS = ['create', 'read', 'update', 'delete'] as const
