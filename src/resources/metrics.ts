/** What the histories of metrics have in common: of a volume, of an object store server, of the cluster. */
import { define, type Behaviour } from '../core/behaviour.ts'
import type { Cluster } from '../core/cluster.ts'
import { figuresOf } from '../core/metrics/figures.ts'
import { CLUSTER_ROW } from '../core/metrics/history.ts'
import { FINEST, INTERVALS, type Interval } from '../core/metrics/intervals.ts'
import { failure } from '../model/failure.ts'
import { text } from '../model/kinds/index.ts'
import { resource, type ResourceDeclaration } from '../model/resource.ts'
import type { SomeType } from '../model/rows.ts'
import type { Row } from '../model/value.ts'
import { sampleFields } from './metric-readings.ts'

interface Of extends Pick<ResourceDeclaration, 'path' | 'doc' | 'since'> {
  /** What the samples are of, as a reference in the path: `volume`, to `storage/volumes`. None for the cluster. */
  readonly of?: { readonly field: string; readonly ref: string; readonly doc: string }
  /** What a sample says, and how it is made. Without them, the figures of operations. */
  readonly fields?: ResourceDeclaration['fields']
  readonly figures?: typeof figuresOf
}

export function defineMetrics({ path, doc, since, of, fields = sampleFields(), figures = figuresOf }: Of): Behaviour {
  const uuidField = of === undefined ? undefined : `${of.field}.uuid`
  return define(
    resource({
      path,
      noun: 'metric',
      doc,
      ...(since === undefined ? {} : { since }),
      key: ['timestamp'],
      nameWithin: false,
      order: [{ path: 'timestamp', isDescending: true }],
      fields: {
        ...fields,
        ...(of === undefined ? {} : { [of.field]: { doc: of.doc, ref: of.ref } }),
      },
    }),
    {
      readArgs: {
        interval: {
          doc: `The period to return, which sets the length of samples: ${INTERVALS.map(({ name }) => name).join(', ')}. Default: ${FINEST.name}.`,
          kind: text(),
        },
      },
      async rows(cluster, keys, args) {
        const uuid = uuidField === undefined ? undefined : (keys[uuidField] ?? '')
        const madeMs =
          uuid === undefined || of === undefined
            ? 0
            : await madeAt(cluster, cluster.registry.resource(of.ref).type, uuid)
        const common: Row = uuid === undefined || uuidField === undefined ? {} : { [uuidField]: uuid }
        const rows: Row[] = []
        // A single sample is looked for in all series, the finest first.
        for (const interval of keys['timestamp'] === undefined ? [intervalOf(args.interval)] : INTERVALS) {
          const measured = await cluster.metrics.history.read(uuid ?? CLUSTER_ROW, interval, cluster.now())
          for (const one of measured) {
            if (one.timeMs > madeMs) rows.push({ ...common, ...figures(one, interval.step) })
          }
        }
        return rows
      },
    },
  )
}

/** Before it was made, it was not idle. */
async function madeAt(cluster: Cluster, type: SomeType, uuid: string): Promise<number> {
  return Number((await cluster.row(type, uuid))['create_time'] ?? 0)
}

function intervalOf(text: string | undefined): Interval {
  const found = INTERVALS.find(({ name }) => name === (text ?? FINEST.name))
  if (found === undefined) {
    throw failure('intervalUnknown', { intervals: INTERVALS.map(({ name }) => name).join(', ') })
  }
  return found
}
