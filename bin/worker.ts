/** A data-plane process: reads the catalog directly, commits through the writer, shares the ports with its siblings. */
import { Jobs } from '../src/core/jobs/jobs.ts'
import { fullVolumes } from '../src/storage/full-volumes.ts'
import { Actions } from '../src/core/perform.ts'
import type { FloorSample } from '../src/core/qos/floors.ts'
import type { Charged } from '../src/core/qos/ledger.ts'
import type { Cost } from '../src/core/qos/limiters.ts'
import type { Certificate } from '../src/engines/certificate.ts'
import { bufferTrimmer, keepHeapSmall, trimHeap } from '../src/engines/heap.ts'
import { openSecrets } from '../src/engines/secrets.ts'
import { openSqliteCatalog } from '../src/engines/sqlite/catalog.ts'
import { tellParent } from '../src/engines/tell-parent.ts'
import type { WorkerMemory } from '../src/core/memory-budget.ts'
import { parseRelease, release } from '../src/model/release.ts'
import { bucketActions } from '../src/resources/protocols/s3/bucket-actions.ts'
import type { ReadDamage } from '../src/s3/objects/damage.ts'
import type { Grow } from '../src/s3/objects/growth.ts'
import type { Shaper } from '../src/s3/qos/shaper.ts'
import { startDataPlane } from '../src/s3/server.ts'
import { endOnSurprise, openLog } from './log.ts'
import { openCluster, openEngines, places } from './parts.ts'
import type { Address, LogLevel } from './settings.ts'
import { UnlinkedNotes, type UnlinkedBlobs } from './unlinked-notes.ts'

/** What the parent tells a worker, over the channel between them. */
export interface WorkerOrder {
  readonly release: string
  readonly log: LogLevel
  readonly certificate: Certificate
  /** Where the catalog's writer listens. */
  readonly socket: string
  /** The interface of the first SVM, which the environment gives its addresses. */
  readonly firstInterface: string | null
  readonly s3: Address | null
  readonly s3Http: Address | null
  readonly canBindLowPorts: boolean
  /** As in `WorkerFill`. */
  readonly full: readonly string[]
  /** What its files of small bodies are named by. */
  readonly writer: string
  readonly packedBodyBytesMax: number
  readonly memory: WorkerMemory
}

/** Which of the blobs are still being read. */
export interface WorkerQuestion {
  readonly kind: 'reading'
  readonly id: number
  readonly blobs: readonly string[]
}

/** No write of the volume is to begin to this tree any more; answered with whether one is still under way. */
export interface WorkerLeave {
  readonly kind: 'leave'
  readonly id: number
  readonly volume: string
  readonly tree: string
}

export interface WorkerLeaves {
  readonly kind: 'leaves'
  readonly id: number
  readonly isUsed: boolean
}

/** Aggregates that are to have no space for new objects. */
export interface WorkerFill {
  readonly kind: 'fill'
  readonly id: number
  readonly aggregates: readonly string[]
}

export interface WorkerFilled {
  readonly kind: 'filled'
  readonly id: number
}

/** What requests cost, to be charged to ceilings that all processes share; answered with the milliseconds to wait. */
export interface WorkerCharge {
  readonly kind: 'charge'
  readonly id: number
  readonly charged: Charged
  readonly cost: Cost
  readonly waitMsMax: number
}

export interface WorkerCharged {
  readonly kind: 'charged'
  readonly id: number
  readonly waitMs: number | undefined
}

/** What requests of objects with floors got done here. */
export interface WorkerFloors {
  readonly kind: 'floors'
  readonly samples: readonly FloorSample[]
}

/** Whether requests without a ceiling are to be charged too, for the sake of floors. */
export interface WorkerHoldBack {
  readonly kind: 'hold-back'
  readonly isOn: boolean
}

/** A write did not fit into a volume that grows by itself; answered with whether it may now. */
export interface WorkerGrow {
  readonly kind: 'grow'
  readonly id: number
  readonly volume: string
  readonly moreBytes: number
}

export interface WorkerGrown {
  readonly kind: 'grown'
  readonly id: number
  readonly fits: boolean
}

/** The addresses given by the environment that it does not serve. */
export interface WorkerUnbound {
  readonly kind: 'unbound'
  readonly addresses: readonly string[]
}

/** A read found a blob damaged or missing. */
export interface WorkerDamage {
  readonly kind: 'damage'
  readonly found: ReadDamage
}

/** Small blobs that were unlinked here, such as those of refused writes: others give their space back. */
export interface WorkerUnlinked {
  readonly kind: 'unlinked'
  readonly unlinked: readonly UnlinkedBlobs[]
}

export type WorkerReport =
  | { readonly kind: 'ready' }
  | WorkerQuestion
  | WorkerLeaves
  | WorkerFilled
  | WorkerUnbound
  | WorkerCharge
  | WorkerFloors
  | WorkerGrow
  | WorkerDamage
  | WorkerUnlinked
type ParentMessage = WorkerQuestion | WorkerLeave | WorkerFill | WorkerCharged | WorkerHoldBack | WorkerGrown

/** A little less than the parent waits. */
const DRAIN_MS = 29_000

/** As the order says, once it is there. */
let log = openLog('info', 'data plane')

if (process.send !== undefined) {
  // The parent passes Ctrl-C on as SIGTERM, when it wants this process to end.
  process.on('SIGINT', () => undefined)
  process.on('SIGHUP', () => undefined)
  process.once('disconnect', () => process.exit(1))
  endOnSurprise(() => log)
  process.once('message', (order: WorkerOrder) => {
    log = openLog(order.log, 'data plane')
    serve(order).catch((failure: unknown) => {
      log.error('A data-plane process cannot serve.', { cause: String(failure) })
      process.exit(1)
    })
  })
}

async function serve(order: WorkerOrder): Promise<void> {
  const { cacheKib, collectEveryBytes, buffersBytesMax, ...bounds } = order.memory
  const catalog = openSqliteCatalog({ file: places.catalog, commit: { socket: order.socket }, cacheKib })
  const secrets = await openSecrets(places.clusterKey)
  const notes = new UnlinkedNotes((unlinked) => {
    tellParent({ kind: 'unlinked', unlinked } satisfies WorkerReport)
  })
  const engines = openEngines({
    writer: order.writer,
    bodyBytesMax: order.packedBodyBytesMax,
    gatheredBytesMax: bounds.gatheredBytesMax,
    onUnlinked: (place, blobs) => notes.add(place, blobs),
  })
  const cluster = openCluster({
    catalog,
    secrets,
    log,
    release: parseRelease(order.release) ?? release('9.16.1'),
    engines,
  })
  let full: ReadonlySet<string> = new Set(order.full)
  const plane = await startDataPlane({
    catalog,
    system: cluster.system,
    async volumesOf(aggregate) {
      const volumes = await cluster.volumesOf(aggregate)
      return full.has(aggregate) ? fullVolumes(volumes) : volumes
    },
    unseal: (sealed) => secrets.unseal(sealed),
    control: bucketActions(new Actions(cluster, new Jobs(cluster))),
    log,
    memory: { ...bounds, collecting: { everyBytes: collectEveryBytes, collect: bufferTrimmer(buffersBytesMax) } },
    shaper: parentShaper(),
    grow: growByParent(),
    onDamage: (found) => tellParent({ kind: 'damage', found } satisfies WorkerReport),
    onUnbound: (addresses) => tellParent({ kind: 'unbound', addresses } satisfies WorkerReport),
    tls: order.certificate,
    listen: {
      canBindLowPorts: order.canBindLowPorts,
      ...(order.firstInterface === null
        ? {}
        : {
            first: { interface: order.firstInterface, https: order.s3 ?? 'off', http: order.s3Http ?? 'off' },
          }),
    },
  })
  process.once('SIGTERM', () => {
    plane
      .close(DRAIN_MS)
      .then(() => notes.flush())
      .then(() => engines.close())
      .then(() => catalog.close())
      .then(
        () => process.exit(0),
        (failure: unknown) => {
          log.error('A data-plane process did not end in order.', { cause: String(failure) })
          process.exit(1)
        },
      )
  })
  process.on('message', (asked: ParentMessage) => {
    const { kind } = asked
    const answer = (report: WorkerReport): void => tellParent(report)
    if (kind === 'reading') answer({ kind, id: asked.id, blobs: plane.stillReading(asked.blobs) })
    if (kind === 'fill') {
      full = new Set(asked.aggregates)
      answer({ kind: 'filled', id: asked.id })
    }
    if (kind === 'leave') answer({ kind: 'leaves', id: asked.id, isUsed: plane.leaveTree(asked.volume, asked.tree) })
  })
  trimHeap()
  keepHeapSmall(() => plane.trim())
  tellParent({ kind: 'ready' } satisfies WorkerReport)
}

/** The parent keeps the ledger. If it goes, so does this process, and nobody waits for the answers any more. */
function parentShaper(): Shaper {
  const waiting = new Map<number, (waitMs: number | undefined) => void>()
  let last = 0
  let isHoldingBack = false
  process.on('message', (answer: ParentMessage) => {
    if (answer.kind === 'hold-back') isHoldingBack = answer.isOn
    if (answer.kind !== 'charged') return
    waiting.get(answer.id)?.(answer.waitMs)
    waiting.delete(answer.id)
  })
  return {
    charge: (charged, cost, waitMsMax) =>
      new Promise((resolve) => {
        const id = ++last
        waiting.set(id, resolve)
        tellParent({ kind: 'charge', id, charged, cost, waitMsMax } satisfies WorkerReport)
      }),
    isHoldingBack: () => isHoldingBack,
    report: (samples) => tellParent({ kind: 'floors', samples } satisfies WorkerReport),
  }
}

/** The parent alone sets sizes, because it alone knows what aggregates have promised. */
function growByParent(): Grow {
  const waiting = new Map<number, (fits: boolean) => void>()
  let last = 0
  process.on('message', (answer: ParentMessage) => {
    if (answer.kind !== 'grown') return
    waiting.get(answer.id)?.(answer.fits)
    waiting.delete(answer.id)
  })
  return (volume, moreBytes) =>
    new Promise((resolve) => {
      const id = ++last
      waiting.set(id, resolve)
      tellParent({ kind: 'grow', id, volume, moreBytes } satisfies WorkerReport)
    })
}
