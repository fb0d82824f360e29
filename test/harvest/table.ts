/** What is asked as NetApp Harvest asks it, as a section of a page of the documentation. */
import { askedCommands, commandsOfNothing } from './commands.ts'
import { askedTables, tablesOfNothing } from './counters.ts'
import { type Coverage } from './coverage.ts'
import { aboutNothing, notMeasured } from './metrics.ts'
import { harvestPolls } from './polls.ts'

export function harvestSection(coverage: readonly Coverage[]): string {
  const rows = [
    ...harvestPolls.map(({ of, path, isEmpty, isUnknown }) => ({
      kind: ['Rest', 'KeyPerf'].find((collector) => of.startsWith(`${collector} `)) ?? 'plugins',
      path,
      state: isUnknown === true ? 'not here' : isEmpty === true ? 'empty' : 'answered',
    })),
    ...askedCommands.map(({ path, isEmpty }) => ({
      kind: 'private/cli',
      path,
      state: isEmpty === true ? 'empty' : 'answered',
    })),
    ...commandsOfNothing.map(({ path }) => ({ kind: 'private/cli', path, state: 'empty' })),
    ...askedTables.map(({ table }) => ({ kind: 'RestPerf', path: table, state: 'answered' })),
    ...tablesOfNothing.map((table) => ({ kind: 'RestPerf', path: table, state: 'not here' })),
  ]
  const kinds = [...new Set(rows.map(({ kind }) => kind))]
  const pathsOf = (kind: string, state: string) =>
    rows.filter((row) => row.kind === kind && row.state === state).map(({ path }) => path)
  /** A path that is asked in several ways has an answer if one of them has. */
  const cell = (kind: string, state: string) => {
    const answered = state === 'answered' ? [] : pathsOf(kind, 'answered')
    const paths = [...new Set(pathsOf(kind, state))].filter((path) => !answered.includes(path))
    return paths.length === 0
      ? '–'
      : paths
          .toSorted()
          .map((path) => `\`${path}\``)
          .join(', ')
  }
  const percent = (part: number, whole: number) => (whole === 0 ? '–' : `${Math.floor((part / whole) * 100)} %`)
  const reasons = (list: Readonly<Record<string, string>>) =>
    Object.entries(list)
      .map(([name, why]) => `\`${name}\`: ${why}`)
      .join('; ')
  return `**Run here: no.** The Go module proxy does not serve its sources, so tests cannot build it; \`.ci/clients\` says when that changes. **Recorded:** the requests that a Harvest of 2026-08 sent to this product, with its collectors Rest, RestPerf, KeyPerf and Ems and the templates that they come with, are replayed by [test/recordings/harvest.test.ts](../test/recordings/harvest.test.ts): all are answered but for two: a counter table of hardware that is not here, and a path that only MetroCluster has. That Harvest takes these two for nothing to poll is inferred from older sources. **Imitated:** tests make the requests that its sources make, on releases 9.12.1 and 9.16.1, and fail for what it would log as an error: a field that is refused, two records with the same key, a label or a counter that is missing. The requests are in [test/harvest](../test/harvest). Of the events that its template for Ems names, none is logged by this product.

The metrics of each dashboard, by imitation: all that the templates of its objects export, of which panels show a part; templates of protocols and hardware that do not exist here are left out. *Present*: what the metric is made of was answered by a cluster with volumes, snapshots, quotas, qtrees and load.

| dashboard | needed | of what exists here | present | |
|---|---|---|---|---|
${coverage.map((one) => `| ${one.dashboard} | ${one.needed} | ${one.existing} | ${one.present} | ${percent(one.present, one.existing)} |`).join('\n')}

Does not exist here: ${reasons(aboutNothing)}. Exists and is not measured: ${reasons(notMeasured)}. Counters of disks, and packets and errors of network interfaces, are present where the machine tells them.

| asked by | answered | empty here | not here |
|---|---|---|---|
${kinds.map((kind) => `| ${kind} | ${['answered', 'empty', 'not here'].map((state) => cell(kind, state)).join(' | ')} |`).join('\n')}
`
}
