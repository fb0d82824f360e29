/**
 * The child process of the test of management planes in processes of their own: a management plane, background tasks and
 * a data plane on a catalog that others have open too, put together as `bin/start.ts` does. What the main process asks of
 * its data-plane processes, it asks here of the planes of the other processes as well: their parent passes it on.
 */
import { join } from 'node:path'
import { openEngines } from '../../../bin/parts.ts'
import { backgroundTasks } from '../../../src/background/index.ts'
import { Housekeeping } from '../../../src/background/housekeeping.ts'
import { openSqliteCatalog } from '../../../src/engines/sqlite/catalog.ts'
import { textAt } from '../../../src/model/value.ts'
import type { Volumes } from '../../../src/ports/volumes.ts'
import { bucketActions } from '../../../src/resources/protocols/s3/bucket-actions.ts'
import { setSize } from '../../../src/resources/storage/volumes/set-size.ts'
import { type DataPlane, startDataPlane } from '../../../src/s3/server.ts'
import { removeOwedTrees } from '../../../src/storage/removed-trees.ts'
import type { TreePlace } from '../../../src/storage/tree-of.ts'
import { type Answered, QuickSecrets, startTestCluster, type TestCluster } from '../../support/cluster.ts'
import { leftovers } from '../../support/leftovers.ts'
import { brokenPromises } from '../requests/broken-promises.ts'
import { Channel } from './channel.ts'
import { lostBlobs } from './files.ts'

/** Of the disk that all aggregates are on, as far as promises are concerned. */
const CAPACITY_BYTES = 400 * 2 ** 20
const DRAIN_MS = 10_000
/** What a plane answers. */
export type PlaneAnswers = typeof answers

/** What its parent answers. */
export type ParentAnswers = {
  readonly stillReading: (blobs: readonly string[]) => Promise<readonly string[]>
  readonly leaveTree: (volume: string, tree: string) => Promise<boolean>
  readonly unlinked: (place: TreePlace, blobs: readonly string[]) => Promise<void>
}

export interface PlaneOrder {
  /** It is alone on the catalog, and makes what a cluster begins with. */
  readonly isFirst: boolean
  readonly node: string
  readonly socket: string
  /** Of the secrets in the catalog, in hex. */
  readonly key: string
  /** What its files of small objects are named by. */
  readonly writer: string
  readonly writers: readonly string[]
}

let plane: TestCluster
let dataPlane: DataPlane | undefined
let housekeeping: Housekeeping
let writers: ReadonlySet<string> = new Set()
const damage: string[] = []
let tellUnlinked: (place: TreePlace, blobs: readonly string[]) => void = () => undefined

const answers = {
  async start({ isFirst, node, socket, key, writer, writers: others }: PlaneOrder): Promise<void> {
    writers = new Set(others)
    const engines = openEngines({
      writer,
      isWriting: (one) => one === writer || writers.has(one),
      onUnlinked: (place, blobs) => tellUnlinked(place, blobs),
    })
    plane = await startTestCluster({
      isBare: true,
      isUsed: !isFirst,
      node,
      secrets: new QuickSecrets(Buffer.from(key, 'hex')),
      catalog: openSqliteCatalog({ file: 'catalog/catalog.db', commit: { socket } }),
      // In the folder of the test.
      volumesOf: (row) => ofCapacity(engines.of({ ...row, $folder: join('.', textAt(row, '$folder')) })),
      leaveTree: async (volume, tree) =>
        dataPlane?.leaveTree(volume, tree) === true || parent.other.leaveTree(volume, tree),
    })
    const { actions, cluster, jobs } = plane
    await jobs.resume()
    housekeeping = new Housekeeping(cluster, jobs, {
      stillReading: async (blobs) =>
        new Set([...(dataPlane?.stillReading(blobs) ?? []), ...(await parent.other.stillReading(blobs))]),
    })
    tellUnlinked = (place, blobs) => {
      housekeeping.notePacks(place)
      void parent.other.unlinked(place, blobs)
    }
    for (const task of backgroundTasks(actions)) task.start()
    housekeeping.start()
  },

  /** Gives the address at which objects are served. */
  async serve(networkInterface: string): Promise<string> {
    const { actions, cluster } = plane
    dataPlane = await startDataPlane({
      catalog: cluster.catalog,
      system: cluster.system,
      volumesOf: (aggregate) => cluster.volumesOf(aggregate),
      unseal: (sealed) => cluster.secrets.unseal(sealed),
      control: bucketActions(actions),
      log: cluster.log,
      grow: (volume, moreBytes) => setSize(cluster, volume, moreBytes),
      onDamage: (found) => void damage.push(`a read found damage: ${JSON.stringify(found)}`),
      tls: { key: '', cert: '' },
      listen: {
        canBindLowPorts: false,
        first: { interface: networkInterface, http: { host: '127.0.0.1', port: 0 }, https: 'off' },
      },
    })
    const bound = dataPlane.listeners().find((one) => one.interface === networkInterface)
    if (bound === undefined) throw new Error('No address is served.')
    return `http://127.0.0.1:${bound.port}`
  },

  call: (method: string, target: string, body?: object): Promise<Answered> => plane.call(method, target, body),

  activeJobs: (): number => plane.jobs.activeCount,

  /** Sentences about what is wrong when no request and no job is under way. */
  async wrong(): Promise<string[]> {
    const { cluster, logged } = plane
    await removeOwedTrees(cluster, new AbortController().signal)
    // Of volumes that are offline, clients are told so.
    const errors = logged.map((one) => JSON.stringify(one)).filter((one) => one.startsWith('{"level":"error"'))
    const surprising = errors.filter((one) => !one.includes('"code":"ServiceUnavailable"'))
    return [...(await leftovers(cluster, '.')), ...(await brokenPromises(cluster)), ...damage, ...surprising]
  },

  /** Blobs that rows need and that are not there, or not whole. */
  lost: (): Promise<string[]> => lostBlobs(plane.cluster),

  reading: (blobs: readonly string[]): string[] => dataPlane?.stillReading(blobs) ?? [],
  leave: (volume: string, tree: string): boolean => dataPlane?.leaveTree(volume, tree) ?? false,
  writers(now: readonly string[]): void {
    writers = new Set(now)
  },
  unlinked: (place: TreePlace, blobs: readonly string[]): Promise<void> => housekeeping.noteUnlinked(place, blobs),

  async stop(): Promise<void> {
    await Promise.all([dataPlane?.close(DRAIN_MS), plane.jobs.drain(DRAIN_MS), housekeeping.stop()])
    await plane.cluster.catalog.close()
  },
}

const parent = new Channel<ParentAnswers>(process, answers)
process.once('disconnect', () => process.exit(0))

/** Whatever else the machine keeps on its disk. */
function ofCapacity(volumes: Volumes): Volumes {
  return new Proxy(volumes, {
    get(target, name: keyof Volumes) {
      if (name === 'space')
        return async () => ({ ...(await target.space()), sizeBytes: CAPACITY_BYTES, availableBytes: CAPACITY_BYTES })
      const value = target[name]
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
