/** What the replay of a recording found, as a section of a page of the documentation. */
import { answersOf, type Expected, type Outcome, pathOf } from './expectations.ts'

export function recordedSection(file: string, outcomes: readonly Outcome[], expected: Expected): string {
  const absent = new Set(expected.absent?.paths)
  const isAbsent = ({ request }: Outcome) => absent.has(pathOf(request))
  const refused = outcomes.filter((outcome) => answersOf(outcome) !== 'success' && !isAbsent(outcome))
  const missing = outcomes.filter(isAbsent)
  const done = outcomes.length - refused.length - missing.length
  const rows = expected.differences
    .filter(({ answers }) => answers !== 'success')
    .map(({ lines, request, answers, why }) => `| ${lines.length} | \`${request}\` | ${answers} | ${why} |`)
  return `${outcomes.length} different requests that the tool itself sent to an earlier state of this product, replayed by [test/recordings/${file}.test.ts](../test/recordings/${file}.test.ts): ${done} succeed, jobs included${missing.length === 0 ? '' : `, ${missing.length} are about what does not exist here`}, ${refused.length} are refused:

| requests | | answer | why |
|---|---|---|---|
${rows.join('\n')}
${
  missing.length === 0
    ? ''
    : `
Not here: ${[...absent]
        .toSorted()
        .map((path) => `\`${path.replace('/api/', '')}\``)
        .join(', ')}. ${expected.absent?.why ?? ''}
`
}`
}
