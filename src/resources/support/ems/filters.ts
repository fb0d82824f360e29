import type { Ground } from '../../../core/grounds.ts'
import { type Behaviour, define, type Derivation } from '../../../core/behaviour.ts'
import { removeRecord } from '../../../core/plain.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { inline } from '../../../core/verb.ts'
import { failure } from '../../../model/failure.ts'
import { flag, name } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { type GivenRule, type Rule, rulesKind, settleRules, shownRules } from './filter-rules.ts'
import type { RowOf, DraftOf, NewOf } from '../../../model/rows.ts'

export const EMS_FILTERS = 'support/ems/filters'
export const EMS_DESTINATIONS = 'support/ems/destinations'
/** Held from a look at filters and destinations until the commit that rests on it. */
export const EMS_LOCK: Ground = { lock: 'ems', types: [EMS_FILTERS, EMS_DESTINATIONS] }

const FILTERS_MAX = 50

export const emsName = () =>
  name({
    charactersMin: 2,
    charactersMax: 64,
    pattern: /^[A-Za-z0-9_][A-Za-z0-9_-]*[A-Za-z0-9_]$/,
    patternDoc: 'letters, digits, "_" and "-", not beginning or ending with "-"',
  })

const systemDefined: Derivation<RowOf<'support/ems/filters'>> = {
  gives: ['system_defined'],
  from: (_cluster, rows) => Promise.resolve(rows.map((row) => ({ system_defined: row['$isBuiltIn'] === true }))),
}

const emsFiltersResource = resource({
  path: '/support/ems/filters',
  noun: 'event filter',
  doc: 'Event filters select the events for destinations. The first rule that matches an event decides.',
  key: ['name'],
  recordKey: ['name'],
  nameWithin: false,
  columns: ['name', 'system_defined', 'rules.type', 'rules.message_criteria.name_pattern'],
  form: { Filter: ['name', 'rules'] },
  removal: 'undoable',
  fields: {
    name: { doc: 'The name of the filter.', kind: emsName(), set: 'create', required: true },
    system_defined: { doc: 'Whether the filter is built in.', kind: flag(), since: '9.10.1' },
    rules: {
      doc: 'The rules of the filter, in order. The last rule excludes all events; it cannot be removed.',
      kind: rulesKind,
      set: 'always',
    },
  },
})

export const emsFilters: Behaviour<typeof emsFiltersResource> = define(emsFiltersResource, {
  derive: [
    systemDefined,
    {
      gives: ['rules'],
      from: (_cluster, rows) => Promise.resolve(rows.map((row) => ({ rules: shownRules(row) }))),
    },
  ],
  create: inline({
    example: {
      name: 'full-volumes',
      rules: [{ type: 'include', message_criteria: { name_pattern: 'volume.space.*', severities: 'alert,error' } }],
    },
    async plan(cluster, { draft }) {
      const key = draft['name']
      const filters = await cluster.rows(EMS_FILTERS)
      if (filters.some((filter) => filter['name'] === key)) {
        throw failure('eventFilterNameTaken', { name: key })
      }
      if (filters.filter((filter) => filter['$isBuiltIn'] !== true).length >= FILTERS_MAX) {
        throw failure('eventFilterLimitReached', { max: FILTERS_MAX })
      }
      return { key, input: withRules(draft), locks: [EMS_LOCK] }
    },
    step: {
      name: 'write record',
      async run(cluster, { input }) {
        await cluster.commit([cluster.put(EMS_FILTERS, input, { expect: 'absent' })])
      },
    },
  }),
  modify: inline({
    plan(_cluster, { row, draft }) {
      insistOnOwn(row)
      return Promise.resolve({ key: row['name'], input: withRules(draft), locks: [EMS_LOCK] })
    },
    step: {
      name: 'write record',
      async run(cluster, { key, input }) {
        await cluster.commit([cluster.put(EMS_FILTERS, { ...(await cluster.row(EMS_FILTERS, key)), ...input })])
      },
    },
  }),
  remove: inline({
    plan(_cluster, { row }) {
      insistOnOwn(row)
      return Promise.resolve({ key: row['name'], input: {}, locks: [EMS_LOCK] })
    },
    step: {
      name: 'remove record',
      async run(cluster, { key }) {
        await removeRecord(cluster, EMS_FILTERS, key, {
          inUse({ name }) {
            return failure('eventFilterInUse', { destination: name })
          },
        })
      },
    },
  }),
})

/** The names of the filters of a destination. */
export function filterNames(destination: DraftOf<typeof EMS_DESTINATIONS>): readonly string[] {
  return (destination['filters'] ?? []).map(({ name }) => name)
}

export function insistOnOwn(filter: RowOf<typeof EMS_FILTERS>): void {
  if (filter['$isBuiltIn'] !== true) return
  throw failure('builtInEventFilter')
}

function withRules<Of extends DraftOf<typeof EMS_FILTERS>>(row: Of): Of {
  return row['rules'] === undefined ? row : { ...row, rules: settleRules(row['rules'] ?? []) }
}

const include = (index: number, criteria: Partial<Rule['message_criteria']>): GivenRule => ({
  index,
  type: 'include',
  message_criteria: criteria,
})

const BUILT_IN: Readonly<Record<string, readonly GivenRule[]>> = {
  'default-trap-events': [
    include(1, { severities: 'emergency,alert' }),
    include(2, { snmp_trap_types: 'standard,built_in' }),
  ],
  'important-events': [include(1, { severities: 'emergency,alert' }), include(2, { severities: 'error' })],
  'no-info-debug-events': [include(1, { severities: 'emergency,alert,error,notice' })],
}

/** Makes the filters, and the destination of traps, that a cluster comes with: those that are not there. */
export async function addBuiltInEvents(cluster: Cluster): Promise<void> {
  const known = new Set((await cluster.rows(EMS_FILTERS)).map((row) => row['name']))
  const missing = Object.entries(BUILT_IN).filter(([key]) => !known.has(key))
  const traps: NewOf<typeof EMS_DESTINATIONS> = {
    name: 'snmp-traphost',
    type: 'snmp',
    destination: '',
    $isBuiltIn: true,
  }
  const hasTraps = (await cluster.find(EMS_DESTINATIONS, 'snmp-traphost')) !== undefined
  if (missing.length === 0 && hasTraps) return
  await cluster.commit([
    ...missing.map(([key, rules]) => {
      const row = { name: key, rules: settleRules(rules), $isBuiltIn: true }
      return cluster.put(EMS_FILTERS, row, { expect: 'absent' })
    }),
    ...(hasTraps ? [] : [cluster.put(EMS_DESTINATIONS, { ...traps, filters: [{ name: 'default-trap-events' }] })]),
  ])
}
