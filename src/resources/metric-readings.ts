/** The operations on an object beside its record: its last sample, and its totals since it was made. */
import { type SharedDerivation, sharedPaths } from '../core/behaviour.ts'
import type { Cluster } from '../core/cluster.ts'
import { figuresOf, type Growth, growthOf, NO_GROWTH, rawFiguresOf, type Status, sum } from '../core/metrics/figures.ts'
import { CLUSTER_ROW } from '../core/metrics/history.ts'
import { SAMPLE_SECONDS } from '../core/metrics/intervals.ts'
import { totalsOf } from '../core/metrics/totals.ts'
import { count, duration, oneOf, time, type Unit } from '../model/kinds/index.ts'
import { type Fields, groups } from '../model/resource.ts'
import type { Row, Value } from '../model/value.ts'
import type { Volume } from '../records/rows.ts'

const STATUS_MEANINGS = {
  ok: 'The interval was measured completely.',
  partial_no_data: 'A part of the interval was not measured.',
  inconsistent_delta_time: 'More time than the interval was measured.',
} as const satisfies Readonly<Record<Status, string>>

/** The fields of a sample: `metric.` is their base where a record shows its last one. */
export function sampleFields(base: '' | 'metric.' = ''): Fields {
  const isExpensive = base !== ''
  return {
    ...(isExpensive ? groups({ metric: 'Rates over the last interval.' }) : {}),
    ...intervalFields(base),
    ...figures(`${base}iops`, 'Operations per second', isExpensive, 'operations per second'),
    ...figures(`${base}latency`, 'Microseconds for one operation', isExpensive, 'microseconds'),
    ...figures(`${base}throughput`, 'Bytes per second', isExpensive, 'bytes per second'),
  }
}

/** When a sample was taken, and what it is worth. */
export function intervalFields(base: '' | 'metric.' = ''): Fields {
  const isExpensive = base !== ''
  return {
    [`${base}timestamp`]: { doc: 'When the interval ended.', kind: time(), isExpensive },
    [`${base}duration`]: {
      doc: 'The length of the interval in seconds, as an ISO 8601 duration.',
      kind: duration(),
      isExpensive,
    },
    [`${base}status`]: {
      doc: 'Whether the sample is complete.',
      kind: oneOf(STATUS_MEANINGS),
      isExpensive,
    },
  }
}

/** The fields of `totals` and `totalsOfAll`; for one of several protocols, below it. */
export function totalFields(base = 'statistics'): Fields {
  return {
    ...groups({ [base]: 'Totals of operations so far; the difference of two reads gives a rate.' }),
    [`${base}.timestamp`]: { doc: 'When the totals were read.', kind: time(), isExpensive: true },
    [`${base}.status`]: { doc: 'Whether the totals are complete.', kind: oneOf(STATUS_MEANINGS), isExpensive: true },
    ...figures(`${base}.iops_raw`, 'Operations so far', true, 'operations'),
    ...figures(`${base}.latency_raw`, 'Microseconds of all operations so far', true, 'microseconds'),
    ...figures(`${base}.throughput_raw`, 'Bytes so far', true, 'bytes'),
  }
}

/** The fields of `lastSample`, and of `totals` or `totalsOfAll`. */
export const operationFields = { ...sampleFields('metric.'), ...totalFields() } as const satisfies Fields

/** Read, write, other and total of one figure. */
function figures(base: string, doc: string, isExpensive: boolean, unit: Unit): Fields {
  return {
    ...groups({ [base]: `${doc}.` }),
    ...Object.fromEntries(
      ['read', 'write', 'other', 'total'].map((of) => [
        `${base}.${of}`,
        { doc: `${doc}: ${of}.`, kind: count({ unit }), isExpensive },
      ]),
    ),
  }
}

/** `metric`, of the row of samples that a record has. */
export function lastSample<Of extends Row>(
  samplesOf: (record: Of) => string,
  figures = figuresOf,
): SharedDerivation<Of> {
  return {
    gives: sharedPaths('metric'),
    from: (cluster, records) =>
      Promise.resolve(
        records.map((record) => {
          const last = cluster.metrics.last(samplesOf(record))
          const none = { timeMs: cluster.now(), coveredMs: 0, growth: NO_GROWTH }
          return inMetric(figures(last ?? none, SAMPLE_SECONDS))
        }),
      ),
  }
}

/** `statistics`, of the row of a table of counters that a record has. */
export function totals<Of extends Row>(table: string, rowOf: (record: Of) => string): SharedDerivation<Of> {
  return {
    gives: sharedPaths('statistics'),
    async from(cluster, records) {
      const counters = await cluster.catalog.counters(table, { named: records.map(rowOf) })
      return records.map((record) => statistics(cluster, growthOf(counters.get(rowOf(record)) ?? {})))
    },
  }
}

/**
 * `metric` and `statistics`, of what volumes lie in together: the sums of those that lie in it now. `holderOf` tells by
 * the record of a volume what that is.
 */
export function ofVolumes(
  holderOf: (volume: Volume) => string,
): readonly SharedDerivation<Row & { readonly uuid: string }>[] {
  return [
    {
      gives: sharedPaths('metric'),
      async from(cluster, records) {
        const volumes = Map.groupBy(await cluster.rows('storage/volumes'), holderOf)
        return records.map((record) => {
          const lasts = (volumes.get(record.uuid) ?? []).flatMap((volume) => cluster.metrics.last(volume['uuid']) ?? [])
          const taken = lasts[0] ?? cluster.metrics.last(CLUSTER_ROW)
          const growth = lasts.reduce((whole, last) => sum(whole, last.growth), NO_GROWTH)
          const { timeMs, coveredMs } = taken ?? { timeMs: cluster.now(), coveredMs: 0 }
          return inMetric(figuresOf({ timeMs, coveredMs, growth }, SAMPLE_SECONDS))
        })
      },
    },
    {
      gives: sharedPaths('statistics'),
      async from(cluster, records) {
        const holders = new Map(
          (await cluster.rows('storage/volumes')).map((volume) => [volume['uuid'], holderOf(volume)]),
        )
        const totals = new Map<string, Growth>()
        for await (const [volume, total] of totalsOf(cluster.catalog, 'volume')) {
          const holder = holders.get(volume)
          if (holder !== undefined) totals.set(holder, sum(totals.get(holder) ?? NO_GROWTH, total))
        }
        return records.map((record) => statistics(cluster, totals.get(record.uuid) ?? NO_GROWTH))
      },
    },
  ]
}

/** `statistics`, of all rows of a table of counters together. */
export function totalsOfAll(table: string): SharedDerivation {
  return {
    gives: sharedPaths('statistics'),
    async from(cluster, records) {
      let whole = NO_GROWTH
      for await (const [, total] of totalsOf(cluster.catalog, table)) whole = sum(whole, total)
      return records.map(() => statistics(cluster, whole))
    },
  }
}

function statistics(cluster: Cluster, total: Growth): Row {
  return inStatistics(rawFiguresOf(cluster.now(), total))
}

/** Puts figures below a base. Their paths are made once. */
function below(base: string): (figures: Row) => Row {
  const paths = new Map<string, string>()
  return (figures) => {
    const row: Record<string, Value> = {}
    for (const [path, value] of Object.entries(figures)) {
      let whole = paths.get(path)
      if (whole === undefined) paths.set(path, (whole = `${base}.${path}`))
      row[whole] = value
    }
    return row
  }
}

const inMetric = below('metric')
const inStatistics = below('statistics')
