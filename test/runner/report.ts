/** Tells what became of tests that several processes run, as Node.js tells it of one: a tree, counts, and failures again. */
import { spec } from 'node:test/reporters'

/** An event of the stream that `run` of node:test gives. */
export interface ReportEvent {
  readonly type: string
  readonly data: {
    readonly name?: string
    readonly nesting?: number
    readonly message?: string
    readonly skip?: string | boolean
    readonly todo?: string | boolean
    readonly details?: { readonly type?: string; readonly error?: Error & { readonly failureType?: string } }
  }
}

/** What each process counts by itself. The whole is counted here. */
const COUNTS = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [\d.]+$/

export class Report {
  readonly #spec = new spec()
  readonly #beganMs = performance.now()
  readonly #ended: Promise<void>
  readonly #told = new Set<string>()
  #counts = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 }

  constructor(write: (text: string) => void) {
    this.#spec.on('data', (text: unknown) => write(String(text)))
    this.#ended = new Promise((resolve) => this.#spec.once('end', resolve))
  }

  /** Whether the end of this file has been told. */
  hasTold(file: string): boolean {
    return this.#told.has(file)
  }

  /** Tells of a file: of its tests and, last, of its end. */
  take(events: readonly ReportEvent[]): void {
    const file = events.at(-1)?.data.name
    if (file !== undefined) this.#told.add(file)
    for (const event of events) this.#tell(event)
  }

  /** Tells of a file that came to no end, as far as it came, and fails it. */
  fail(file: string, why: string, events: readonly ReportEvent[] = []): void {
    const name = file
    const data = { name, nesting: 0, testNumber: 0, file: undefined, line: undefined, column: undefined }
    const cause = new Error(why)
    delete cause.stack
    const error = Object.assign(new Error(why, { cause }), { code: 'ERR_TEST_FAILURE', failureType: 'testAborted' })
    const details = { type: 'suite', duration_ms: 0, error }
    if (!events.some((event) => event.data.nesting === 0)) this.#tell({ type: 'test:start', data })
    this.take([...events, { type: 'test:fail', data: { ...data, details } }])
  }

  /** Tells the counts and repeats the failures. Tells whether there are none. */
  async end(): Promise<boolean> {
    const durationMs = performance.now() - this.#beganMs
    const lines = { ...this.#counts, duration_ms: Math.round(durationMs) }
    for (const [name, count] of Object.entries(lines)) {
      this.#spec.write({ type: 'test:diagnostic', data: { nesting: 0, message: `${name} ${count}`, level: 'info' } })
    }
    this.#spec.end()
    await this.#ended
    return this.#counts.fail === 0 && this.#counts.cancelled === 0
  }

  #tell(event: ReportEvent): void {
    const { type, data } = event
    if (type === 'test:summary' || (type === 'test:plan' && data.nesting === 0)) return
    if (type === 'test:diagnostic' && data.nesting === 0 && COUNTS.test(data.message ?? '')) return
    if (type === 'test:pass' || type === 'test:fail') this.#count(event)
    this.#spec.write(event)
  }

  #count({ type, data }: ReportEvent): void {
    const counts = this.#counts
    const failure = data.details?.error?.failureType
    if (data.details?.type === 'suite') {
      counts.suites++
      // A suite also fails by itself: by its imports, its hooks, or what it leaves behind.
      if (type === 'test:fail' && failure !== 'subtestsFailed') counts.fail++
      return
    }
    counts.tests++
    if (type === 'test:fail') counts[failure === 'cancelledByParent' ? 'cancelled' : 'fail']++
    else if (data.skip !== undefined) counts.skipped++
    else if (data.todo !== undefined) counts.todo++
    else counts.pass++
  }
}
