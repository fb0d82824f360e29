/** The data-plane processes: started together, and each replaced when it ends. */
import { fork, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { QosLedger } from '../src/core/qos/ledger.ts'
import type { Log } from '../src/core/cluster.ts'
import type {
  WorkerCharge,
  WorkerCharged,
  WorkerFill,
  WorkerFilled,
  WorkerGrow,
  WorkerGrown,
  WorkerHoldBack,
  WorkerLeave,
  WorkerLeaves,
  WorkerOrder,
  WorkerQuestion,
  WorkerReport,
} from './worker.ts'
import type { UnlinkedBlobs } from './unlinked-notes.ts'
import { mallocEnvironment, workerHeapFlags } from '../src/engines/heap.ts'
import { programBeside } from '../src/engines/program-beside.ts'
import type { Clock } from '../src/ports/system.ts'
import type { TellDamage } from '../src/s3/objects/damage.ts'
import type { Grow } from '../src/s3/objects/growth.ts'

/** What all of them are told. */
export type CommonOrder = Omit<WorkerOrder, 'full' | 'writer'>

const PROGRAM = programBeside(import.meta.filename, 'worker')
/** Threads for file work in each process: the default of 4 is a third slower with many clients. */
const FILE_THREADS = 16
const RESTART_MS_MIN = 50
const RESTART_MS_MAX = 5000
/** A process that served so long before it ended is replaced without waiting longer than the first time. */
const SETTLED_MS = 30_000
const READY_MS = 30_000
const ANSWER_MS = 5000

type Question = WorkerQuestion | WorkerLeave | WorkerFill
type Answer = WorkerQuestion | WorkerLeaves | WorkerFilled

const ANSWERS: ReadonlySet<string> = new Set<Answer['kind']>(['reading', 'leaves', 'filled'])
const isAnswer = (report: WorkerReport): report is Answer => ANSWERS.has(report.kind)

export class Workers {
  readonly #order: Promise<CommonOrder>
  readonly #log: Log
  readonly #children = new Map<number, ChildProcess>()
  /** What the files of those that run are named by. */
  readonly #writers = new Set<string>()
  readonly #onLoss: () => void
  #isStopping = false
  #full: readonly string[] = []
  readonly #unbound = new Map<ChildProcess, readonly string[]>()
  #questions = 0
  readonly #ledger: QosLedger
  readonly #grow: Grow
  readonly #onDamage: TellDamage
  readonly #onUnlinked: (unlinked: readonly UnlinkedBlobs[]) => void

  constructor(
    order: Promise<CommonOrder>,
    log: Log,
    parts: {
      clock: Clock
      grow: Grow
      onDamage: TellDamage
      onUnlinked: (unlinked: readonly UnlinkedBlobs[]) => void
      onLoss: () => void
    },
  ) {
    this.#ledger = new QosLedger(parts.clock, (isOn) => this.#holdBack(isOn))
    this.#grow = parts.grow
    this.#onDamage = parts.onDamage
    this.#onUnlinked = parts.onUnlinked
    this.#order = order
    this.#log = log
    this.#onLoss = parts.onLoss
  }

  /** Starts so many, which load their programs until the order comes, and waits until each serves. */
  async start(count: number): Promise<void> {
    await Promise.all(Array.from({ length: count }, (_, at) => this.#start(at, RESTART_MS_MIN)))
  }

  /**
   * Asks all of them which of the blobs they still read. A process that does not answer in time makes it fail: nobody
   * knows then what it reads.
   */
  async stillReading(blobs: readonly string[]): Promise<ReadonlySet<string>> {
    const answers = await this.#askAll((id) => ({ kind: 'reading', id, blobs }))
    return new Set(answers.flatMap((answer) => (answer?.kind === 'reading' ? answer.blobs : [])))
  }

  /** Has all of them begin no more writes of a volume to a tree, and tells whether one still writes there. Fails as `stillReading`. */
  async leaveTree(volume: string, tree: string): Promise<boolean> {
    const answers = await this.#askAll((id) => ({ kind: 'leave', id, volume, tree }))
    return answers.some((answer) => answer?.kind === 'leaves' && answer.isUsed)
  }

  /** Has all of them find no space in these aggregates. One that is about to serve is told when it does. */
  async fill(aggregates: readonly string[]): Promise<void> {
    this.#full = aggregates
    await this.#askAll((id) => ({ kind: 'fill', id, aggregates })).catch(() => undefined)
  }

  #askAll(question: (id: number) => Question): Promise<readonly (Answer | undefined)[]> {
    return Promise.all([...this.#children.values()].map((child) => this.#ask(child, question(++this.#questions))))
  }

  /** Nothing when the process ends: with it end all its requests. */
  #ask(child: ChildProcess, question: Question): Promise<Answer | undefined> {
    const answer = Promise.withResolvers<Answer | undefined>()
    const onMessage = (report: WorkerReport): void => {
      if (isAnswer(report) && report.id === question.id) answer.resolve(report)
    }
    const onExit = (): void => answer.resolve(undefined)
    child.on('message', onMessage).once('exit', onExit)
    const late = setTimeout(() => answer.reject(new Error('A data-plane process did not answer.')), ANSWER_MS)
    if (child.connected) child.send(question, () => undefined)
    else onExit()
    return answer.promise.finally(() => {
      clearTimeout(late)
      child.off('message', onMessage).off('exit', onExit)
    })
  }

  #holdBack(isOn: boolean): void {
    for (const child of this.#children.values()) tellHoldBack(child, isOn)
  }

  #charge(child: ChildProcess, { id, charged, cost, waitMsMax }: WorkerCharge): void {
    const waitMs = this.#ledger.charge(charged, cost, waitMsMax)
    if (child.connected) child.send({ kind: 'charged', id, waitMs } satisfies WorkerCharged, () => undefined)
  }

  #answerGrow(child: ChildProcess, { id, volume, moreBytes }: WorkerGrow): void {
    const answer = (fits: boolean): void => {
      if (child.connected) child.send({ kind: 'grown', id, fits } satisfies WorkerGrown, () => undefined)
    }
    this.#grow(volume, moreBytes).then(answer, (failure: unknown) => {
      this.#log.warn('A volume could not be grown for a write.', { volume, cause: String(failure) })
      answer(false)
    })
  }

  /** Whether one that runs may append to files of this writer. */
  isWriting(writer: string): boolean {
    return this.#writers.has(writer)
  }

  /** Whether some process serves, and all that do serve every address that the environment gives. */
  get isServing(): boolean {
    return this.#children.size > 0 && [...this.#unbound.values()].every((addresses) => addresses.length === 0)
  }

  get pids(): number[] {
    return [...this.#children.values()].flatMap((child) => child.pid ?? [])
  }

  /** Lets requests in progress end, then ends all. */
  async stop(drainMs: number): Promise<void> {
    this.#isStopping = true
    await Promise.all(
      [...this.#children.values()].map(
        (child) =>
          new Promise<void>((resolve) => {
            const timer = setTimeout(() => child.kill('SIGKILL'), drainMs)
            child.once('exit', () => {
              clearTimeout(timer)
              resolve()
            })
            child.kill('SIGTERM')
          }),
      ),
    )
  }

  #start(at: number, waitMs: number): Promise<void> {
    const startedMs = Date.now()
    const child = fork(PROGRAM, [], {
      env: { ...mallocEnvironment, ...process.env, UV_THREADPOOL_SIZE: String(FILE_THREADS) },
      execArgv: [...process.execArgv, ...workerHeapFlags],
      serialization: 'advanced',
    })
    const writer = randomBytes(4).toString('hex')
    this.#writers.add(writer)
    this.#children.set(at, child)
    const ready = Promise.withResolvers<void>()
    let late: NodeJS.Timeout | undefined
    let full = this.#full
    const give = (order: CommonOrder): void => {
      late = setTimeout(() => ready.reject(new Error('A data-plane process was not ready in time.')), READY_MS)
      full = this.#full
      if (child.connected) child.send({ ...order, full, writer } satisfies WorkerOrder)
    }
    this.#order.then(give, ready.reject)
    child.on('message', (report: WorkerReport) => {
      if (report.kind === 'ready') {
        ready.resolve()
        if (this.#ledger.isHoldingBack) tellHoldBack(child, true)
        const fill = { kind: 'fill', id: ++this.#questions, aggregates: this.#full } satisfies WorkerFill
        if (this.#full !== full && child.connected) child.send(fill, () => undefined)
      }
      if (report.kind === 'unbound') this.#unbound.set(child, report.addresses)
      if (report.kind === 'charge') this.#charge(child, report)
      if (report.kind === 'floors') this.#ledger.report(child.pid ?? 0, report.samples)
      if (report.kind === 'damage') this.#onDamage(report.found)
      if (report.kind === 'unlinked') this.#onUnlinked(report.unlinked)
      if (report.kind === 'grow') this.#answerGrow(child, report)
    })
    child.once('error', ready.reject)
    child.once('exit', (code, signal) => {
      clearTimeout(late)
      this.#children.delete(at)
      this.#writers.delete(writer)
      this.#unbound.delete(child)
      ready.reject(new Error(`A data-plane process ended (${code ?? signal}) before it was ready.`))
      if (this.#isStopping) return
      this.#log.error('A data-plane process ended; another takes its place.', { pid: child.pid, code, signal })
      this.#onLoss()
      const nextMs = Date.now() - startedMs > SETTLED_MS ? RESTART_MS_MIN : Math.min(waitMs * 2, RESTART_MS_MAX)
      setTimeout(() => {
        if (!this.#isStopping) this.#start(at, nextMs).catch(() => undefined)
      }, waitMs)
    })
    return ready.promise.finally(() => clearTimeout(late))
  }
}

function tellHoldBack(child: ChildProcess, isOn: boolean): void {
  if (child.connected) child.send({ kind: 'hold-back', isOn } satisfies WorkerHoldBack, () => undefined)
}
