/** What is asked as NetApp Harvest asks it, as a section of a page of the documentation. */
import { askedCommands, commandsOfNothing } from './commands.ts'
import { askedTables, tablesOfNothing } from './counters.ts'
import { harvestPolls } from './polls.ts'

export function harvestSection(): string {
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
    ...commandsOfNothing.map(({ path }) => ({ kind: 'private/cli', path, state: 'not here' })),
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
  return `Its collectors Rest, KeyPerf, RestPerf and Ems with the templates that they come with. Nobody ran it here: the requests that its sources make are made by tests, on releases 9.12.1 and 9.16.1, and what it would log as an error fails: a field that is refused, two records with the same key, a label or a counter that is missing. What is *not here* is answered so that it waits an hour and asks again; of that, nothing is in its log but a note. Of the events that its template for Ems names, none is logged by this product. The requests are in [test/harvest](../test/harvest).

| asked by | answered | empty here | not here |
|---|---|---|---|
${kinds.map((kind) => `| ${kind} | ${['answered', 'empty', 'not here'].map((state) => cell(kind, state)).join(' | ')} |`).join('\n')}
`
}
