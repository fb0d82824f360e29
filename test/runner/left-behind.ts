/** What of a process may differ after a file of tests: everything that could disturb the next file. */
import { setTimeout as wait } from 'node:timers/promises'

/** How long a file may take to let go of sockets, timers and processes that it has closed. */
const SETTLE_MS = 2000
const LOOK_MS = 20
/** Resources that come and go by themselves: work of the thread pool, the streams of this process. */
const TRANSIENT = new Set(['PipeWrap', 'TTYWrap', 'FSReqCallback', 'FSReqPromise', 'CloseReq', 'TickObject'])
const EVENTS = ['uncaughtException', 'unhandledRejection', 'warning', 'message'] as const
const GLOBALS = { Date, setTimeout, setInterval, setImmediate, fetch, queueMicrotask, random: Math.random }

export class LeftBehind {
  readonly #environment = { ...process.env }
  readonly #folder = process.cwd()
  #globals = globals()
  readonly #resources = resources()
  readonly #listeners = EVENTS.map((event) => process.listenerCount(event))

  /** To be called when the file has been loaded: some packages set globals when they are. */
  hasLoaded(): void {
    this.#globals = globals()
  }

  /** Names what is there that was not, as soon as nothing is, or after a while. */
  async compare(): Promise<readonly string[]> {
    let left = this.#left()
    for (let waitedMs = 0; left.length > 0 && waitedMs < SETTLE_MS; waitedMs += LOOK_MS) {
      await wait(LOOK_MS)
      left = this.#left()
    }
    return left
  }

  #left(): readonly string[] {
    const left: string[] = []
    for (const name of new Set([...Object.keys(this.#environment), ...Object.keys(process.env)])) {
      if (process.env[name] !== this.#environment[name]) left.push(`the environment variable ${name}`)
    }
    if (process.cwd() !== this.#folder) left.push('another current folder')
    for (const name of globals()) {
      if (!this.#globals.has(name)) left.push(`the global ${name}`)
    }
    for (const [name, original] of Object.entries(GLOBALS)) {
      const now = name === 'random' ? Math.random : globalThis[name as 'fetch']
      if (now !== original) left.push(`a replaced ${name}`)
    }
    for (const [at, event] of EVENTS.entries()) {
      if (process.listenerCount(event) > (this.#listeners[at] ?? 0)) left.push(`a listener for ${event}`)
    }
    for (const [type, count] of resources()) {
      const more = count - (this.#resources.get(type) ?? 0)
      if (more > 0) left.push(`${more} ${type}`)
    }
    return left
  }
}

/** Without helpers like `__awaiter`: a package that a compiler made defines them when it is first loaded, at any time. */
const globals = () => new Set(Object.getOwnPropertyNames(globalThis).filter((name) => !name.startsWith('__')))

function resources(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const type of process.getActiveResourcesInfo()) {
    if (!TRANSIENT.has(type)) counts.set(type, (counts.get(type) ?? 0) + 1)
  }
  return counts
}
