/** Two management planes on one catalog, in this process: each has locks and jobs of its own, as processes have. */
import type { JobHooks } from '../../src/core/jobs/jobs.ts'
import { openSqliteCatalog } from '../../src/engines/sqlite/catalog.ts'
import { SimulatedRandom } from '../../src/engines/simulated/random.ts'
import { SimulatedVolumes } from '../../src/engines/simulated/volumes.ts'
import type { Catalog, Change } from '../../src/ports/catalog.ts'
import type { System } from '../../src/ports/system.ts'
import { QuickSecrets, simulatedByFolder, startTestCluster, type TestCluster } from './cluster.ts'

type IsMet = (changes: readonly Change[]) => boolean

export interface TwoPlanes {
  readonly first: TestCluster
  readonly second: TestCluster
  /** Has something done just before the first plane commits what `isMet` is true for: the next time, or so often. */
  beforeCommit(isMet: IsMet, act: () => Promise<void>, times?: number): void
  close(): Promise<void>
}

export async function startTwoPlanes(
  options: { readonly system?: System; readonly capacityBytes?: number; readonly hooks?: JobHooks } = {},
): Promise<TwoPlanes> {
  const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
  const volumes = new SimulatedVolumes({
    random: new SimulatedRandom(1),
    capacityBytes: options.capacityBytes ?? 2 ** 40,
    place: 'aggr1',
  })
  let awaited: { isMet: IsMet; act: () => Promise<void>; left: number } | undefined
  const commit: Catalog['commit'] = async (changes) => {
    if (awaited !== undefined && awaited.left > 0 && awaited.isMet(changes)) {
      awaited.left--
      await awaited.act()
    }
    return catalog.commit(changes)
  }
  const watched = new Proxy(catalog, {
    get(target, name: keyof Catalog) {
      if (name === 'commit') return commit
      const value: unknown = target[name]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const common = {
    isBare: true,
    secrets: new QuickSecrets(),
    volumesOf: simulatedByFolder(volumes),
    ...(options.system === undefined ? {} : { system: options.system }),
  }
  const first = await startTestCluster({ ...common, node: 'n1', catalog: watched })
  const second = await startTestCluster({ ...common, node: 'n2', catalog, isUsed: true, hooks: options.hooks ?? {} })
  return {
    first,
    second,
    beforeCommit(isMet, act, times = 1) {
      awaited = { isMet, act, left: times }
    },
    async close() {
      await Promise.all([first, second].map(({ jobs }) => jobs.drain(60_000)))
      first.clock.stop()
      second.clock.stop()
      await catalog.close()
    },
  }
}

/** Of a record of this type that is written. */
export const puts =
  (type: string): IsMet =>
  (changes) =>
    changes.some((change) => change.do === 'put-record' && change.type === type)

/** Of a record of this type that is removed. */
export const removes =
  (type: string): IsMet =>
  (changes) =>
    changes.some((change) => change.do === 'remove-record' && change.type === type)
