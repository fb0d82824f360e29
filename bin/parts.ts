/** Joins the parts that the management process and the data-plane processes have in common. */
import type { PageBounds } from '../src/core/read/page-room.ts'
import { Cluster, type LeaveTree, type Log, type Secrets } from '../src/core/cluster.ts'
import { realCertificates } from '../src/engines/certificates.ts'
import { Tally } from '../src/engines/directory/tally.ts'
import { DirectoryVolumes, type Packing } from '../src/engines/directory/volumes.ts'
import { thisMachine } from '../src/engines/machine.ts'
import { realSystem } from '../src/engines/system.ts'
import type { TreePlace } from '../src/storage/tree-of.ts'
import type { Release } from '../src/model/release.ts'
import { type Row, textAt } from '../src/model/value.ts'
import type { Catalog } from '../src/ports/catalog.ts'
import type { Volumes } from '../src/ports/volumes.ts'
import { behaviours } from '../src/resources/index.ts'

export function openCluster(parts: {
  readonly catalog: Catalog
  readonly release: Release
  readonly log: Log
  readonly secrets: Secrets
  readonly lifecycleDayMs?: number
  readonly leaveTree?: LeaveTree
  readonly managementAddress?: string
  readonly pages?: PageBounds
  readonly engines?: Engines
}): Cluster {
  const { engines = openEngines(), ...rest } = parts
  return new Cluster({
    ...rest,
    system: realSystem,
    machine: thisMachine(),
    certificates: realCertificates,
    behaviours: new Map(behaviours.map((behaviour) => [behaviour.resource.type, behaviour])),
    volumesOf: (aggregate) => engines.of(aggregate),
  })
}

/** One engine for each aggregate, opened when it is first needed. */
export interface Engines {
  readonly of: (aggregate: Row) => Volumes
  /** When nobody writes any more. */
  readonly close: () => Promise<void>
}

/** Told of small blobs that engines of this process unlinked. */
type TellUnlinked = (place: TreePlace, blobs: readonly string[]) => void

/** The folder of the first aggregate is not marked as its own. */
export function openEngines({
  gatheredBytesMax,
  onUnlinked = () => undefined,
  ...parts
}: Omit<Packing, 'onUnlinked'> & {
  readonly gatheredBytesMax?: number
  readonly onUnlinked?: TellUnlinked
} = {}): Engines {
  const packing = { ...parts, gathered: new Tally(gatheredBytesMax) }
  const engines = new Map<string, Volumes>()
  return {
    of(aggregate) {
      const folder = textAt(aggregate, '$folder')
      const owner = aggregate['$claimed'] === true ? textAt(aggregate, 'uuid') : undefined
      const place = `${owner ?? ''} ${folder}`
      const known = engines.get(place)
      if (known !== undefined) return known
      const uuid = textAt(aggregate, 'uuid')
      const tell = (tree: string, blobs: readonly string[]) => onUnlinked({ aggregate: uuid, tree }, blobs)
      const engine = new DirectoryVolumes(folder, owner, { ...packing, onUnlinked: tell })
      engines.set(place, engine)
      return engine
    },
    async close() {
      await Promise.all([...engines.values()].map((engine) => engine.close()))
    },
  }
}

/** Where things are in the data folder. Relative to it, because the address of a socket holds 107 bytes at most. */
export const places = {
  catalog: 'catalog/catalog.db',
  sockets: 'run',
  /** Held by the start that runs on the folder. */
  lock: 'holdfast.lock',
  clusterKey: 'cluster.key',
  /** What a first start without a terminal made up. */
  credentials: 'credentials.env',
  certificates: 'certificates',
  aggregate: 'aggr1',
  endpoints: 'endpoints.json',
} as const
