/** What was checked of the requests of Trident's drivers, as a section of a page of the documentation. */
import type { Part } from './backend.ts'

export function tridentSection(checked: readonly Part[]): string {
  return `**Run by the tests: no.** **Recorded:** see below. **Imitated:** the requests that the drivers for ONTAP make that speak REST (\`useREST: true\`) are made by a test, as their sources say, and what the drivers demand of the answers is checked: the very statuses that they go on with, \`num_records\`, the types of their structures, jobs that end, and the codes of errors that they know. No volume was mounted: files are not served. The requests are in [test/clients/trident](../test/clients/trident).

| drivers | what was done |
|---|---|
${checked.map(({ drivers, what }) => `| ${drivers} | ${what} |`).join('\n')}

The drivers ontap-nas-flexgroup, ontap-san and ontap-san-economy have nothing to work with here: a FlexGroup is refused, and there are no LUNs and no namespaces.
`
}
