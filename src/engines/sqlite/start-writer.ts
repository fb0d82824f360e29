import { fork } from 'node:child_process'
import { mallocEnvironment, writerHeapFlags } from '../heap.ts'
import { programBeside } from '../program-beside.ts'

/** What the process says when it takes commits. */
export interface WriterReady {
  /** All that was ever acknowledged is in the catalog. */
  readonly isProven: boolean
  /** It goes on without commits that were lost, as was accepted. */
  readonly hasLost: boolean
}

export interface WriterProcess extends WriterReady {
  readonly pid: number
  /** Settles when the process has ended, for whatever reason, with its exit code or the signal's name. */
  readonly ended: Promise<number | string>
  /** Asks it to settle what has arrived and to end; settles when it has. */
  stop(): Promise<void>
}

export interface WriterOrder {
  readonly file: string
  readonly socket: string
  /** Goes on with a log that was cut short, which is kept aside, without the commits that were in the rest. */
  readonly acceptsLoss?: boolean
  /** Looks into the catalog, too: the first one of a start. */
  readonly isFirst?: boolean
  /** Pages of the catalog that it keeps. */
  readonly cacheKib?: number
}

/** How long a process that was asked to end may take, before it is killed. */
const STOP_MS = 10_000

/**
 * Starts the writer of a catalog and waits until it takes commits. Rejects with what it said when it does not, for
 * example because another writer has the catalog. To start it again after it ended is the caller's part.
 */
export function startWriter({ file, socket, acceptsLoss, isFirst, cacheKib }: WriterOrder): Promise<WriterProcess> {
  const flags = [
    ...(isFirst === true ? ['first'] : []),
    ...(acceptsLoss === true ? ['accept-loss'] : []),
    ...(cacheKib === undefined ? [] : [`cache-kib=${cacheKib}`]),
  ]
  const child = fork(programBeside(import.meta.filename, 'writer-process'), [file, socket, ...flags], {
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    execArgv: [...process.execArgv, ...writerHeapFlags],
    env: { ...mallocEnvironment, ...process.env },
  })
  const ready = Promise.withResolvers<WriterProcess>()
  const ended = Promise.withResolvers<number | string>()
  let isReady = false
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    // Until it is ready, what it says is why it is not.
    if (isReady) process.stderr.write(text)
    else said = (said + text).slice(-4096)
  })
  child.once('error', ready.reject)
  // Not 'close', which does not come when it was this side that ended the channel.
  child.once('exit', (code, signal) => ended.resolve(code ?? signal ?? 'unknown'))
  // Not 'exit', after which some of what it said may still be on its way.
  child.once('close', (code, signal) => {
    ready.reject(new Error(said.trim() || `The catalog writer ended (${code ?? signal}) before it was ready.`))
  })
  child.once('message', ({ isProven, hasLost }: WriterReady) => {
    isReady = true
    ready.resolve({
      isProven,
      hasLost,
      pid: child.pid ?? 0,
      ended: ended.promise,
      stop: async () => {
        // Signals may reach it together with its parent, who still has commits to send: it ends when the channel does.
        if (child.connected) child.disconnect()
        const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
        await ended.promise
        clearTimeout(timer)
      },
    })
  })
  return ready.promise
}
