/** Which metrics NetApp Harvest could make of what a cluster answers, for each of its dashboards. */
import { asList, asText, type Body } from '../support/body.ts'
import { aboutNothing, metricSources, notMeasured, type MetricSource } from './metrics.ts'
import type { Poller } from './poller.ts'

export interface Metric {
  readonly name: string
  readonly dashboards: readonly string[]
  readonly isPresent: boolean
}

export interface Coverage {
  readonly dashboard: string
  readonly needed: number
  /** Of those, metrics of what exists here. */
  readonly existing: number
  readonly present: number
}

/** A metric that several sources export is there when one of them has it. */
export async function pollMetrics(poller: Poller): Promise<readonly Metric[]> {
  const found = new Map<string, { dashboards: Set<string>; isPresent: boolean }>()
  for (const source of metricSources) {
    for (const { name, isPresent } of await metricsOf(poller, source)) {
      const metric = found.get(name) ?? { dashboards: new Set<string>(), isPresent: false }
      for (const dashboard of source.dashboards.split(' ')) metric.dashboards.add(dashboard)
      metric.isPresent ||= isPresent
      found.set(name, metric)
    }
  }
  return [...found].map(([name, { dashboards, isPresent }]) => ({ name, dashboards: [...dashboards], isPresent }))
}

export function coverageOf(metrics: readonly Metric[]): readonly Coverage[] {
  const dashboards = [...new Set(metrics.flatMap((metric) => metric.dashboards))].toSorted()
  return dashboards.map((dashboard) => {
    const needed = metrics.filter((metric) => metric.dashboards.includes(dashboard))
    const existing = needed.filter(({ name }) => !isOf(aboutNothing, name))
    const present = existing.filter(({ isPresent }) => isPresent)
    return { dashboard, needed: needed.length, existing: existing.length, present: present.length }
  })
}

/** What is wrong with the lists of metrics that are absent: one is there after all, or one is absent and not listed. */
export function surprises(metrics: readonly Metric[]): readonly string[] {
  const wrong: string[] = []
  for (const { name, isPresent } of metrics) {
    const isListed = isOf(aboutNothing, name) || isOf(notMeasured, name)
    if (isPresent && isListed) wrong.push(`${name} is present, and listed as absent`)
    if (!isPresent && !isListed) wrong.push(`${name} is absent, and not listed`)
  }
  for (const pattern of [...Object.keys(aboutNothing), ...Object.keys(notMeasured)]) {
    if (!metrics.some(({ name }) => fits(pattern, name))) wrong.push(`${pattern} is listed, and no metric`)
  }
  return wrong
}

async function metricsOf(poller: Poller, source: MetricSource) {
  const named = source.metrics
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => word.split('>'))
    .map(([property = '', name = property]) => ({ property, name: `${source.object}_${name}` }))
  const computed = Object.entries(source.computed ?? {}).map(([name, needs]) => ({
    name: `${source.object}_${name}`,
    needs: needs.split(' ').filter((word) => word !== ''),
  }))
  const properties = [...named.map(({ property }) => property), ...computed.flatMap(({ needs }) => needs)]
  const has = await (source.table === undefined
    ? inRecords(poller, source, properties)
    : inTable(poller, source, properties))
  return [
    ...named.map(({ name, property }) => ({ name, isPresent: has(property) })),
    ...computed.map(({ name, needs }) => ({ name, isPresent: has('') && needs.every(has) })),
  ]
}

/** The empty property: whether there is a record. */
type Has = (property: string) => boolean

async function inRecords(poller: Poller, { path = '', filters = {} }: MetricSource, properties: readonly string[]) {
  const fields = properties.map((property) => property.replace(/\.#$/, '')).join(',')
  const asked = { ...(fields === '' ? {} : { fields }), ignore_unknown_fields: 'true', ...filters }
  const reply = await poller.ask(path, { max_records: '500', ...asked })
  if (reply.status !== 200) throw new Error(`${path}: ${reply.text}`)
  const records = reply.body['records'] === undefined ? [reply.body] : asList(reply.body['records'])
  const has: Has = (property) =>
    records.some((record) => property === '' || valueAt(record, property.replace(/\.#$/, '')) !== undefined)
  return has
}

async function inTable(poller: Poller, { table = '', isOfMachine }: MetricSource, properties: readonly string[]) {
  const path = `cluster/counter/tables/${table}`
  const { body } = await poller.ask(path, { max_records: '500' })
  const schemas = new Map(asList(body['counter_schemas']).map((one) => [asText(one['name']), one]))
  const known = properties.filter((name) => schemas.has(name))
  const rows = await poller.records(`${path}/rows`, { fields: '*', 'counters.name': known.join('|') })
  const told = new Set(rows.flatMap((row) => asList(row['counters']).map((one) => asText(one['name']))))
  const has: Has = (property) => {
    const denominator = schemas.get(property)?.['denominator']?.['name']
    if (denominator !== undefined && !schemas.has(asText(denominator))) return false
    return property === '' ? rows.length > 0 : told.has(property) || (isOfMachine === true && schemas.has(property))
  }
  return has
}

function valueAt(record: Body, path: string): unknown {
  let at: unknown = record
  for (const word of path.split('.')) at = (at as Record<string, unknown> | null | undefined)?.[word]
  return at ?? undefined
}

function isOf(patterns: Readonly<Record<string, string>>, name: string): boolean {
  return Object.keys(patterns).some((pattern) => fits(pattern, name))
}

function fits(pattern: string, name: string): boolean {
  return new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name)
}
