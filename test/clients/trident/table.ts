/** What was checked of the requests of Trident's drivers, as a section of a page of the documentation. */
import type { Part } from './backend.ts'

export function tridentSection(checked: readonly Part[]): string {
  return `Its drivers for ONTAP that speak REST (\`useREST: true\`). Nobody ran them here: the requests that their sources make are made by a test, and what the drivers demand of the answers is checked: the very statuses that they go on with, \`num_records\`, the types of their structures, jobs that end, and the codes of errors that they know. All of this went through. No volume was mounted: files are not served. The requests are in [test/clients/trident](../test/clients/trident).

| drivers | what was done |
|---|---|
${checked.map(({ drivers, what }) => `| ${drivers} | ${what} |`).join('\n')}

The drivers ontap-nas-flexgroup, ontap-san and ontap-san-economy have nothing to work with here: a FlexGroup is refused, and there are no LUNs and no namespaces.
`
}
