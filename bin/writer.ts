/** Keeps the catalog's writer running: when it ends, another is started, and commits wait for it meanwhile. */
import type { Log } from '../src/core/cluster.ts'
import type { WriterProcess, WriterReady } from '../src/engines/sqlite/start-writer.ts'

const RESTART_MS_MIN = 50
const RESTART_MS_MAX = 5000
/** A writer that served so long before it ended is replaced as quickly as the first time. */
const SETTLED_MS = 30_000
/** Starts in a row that fail before the cluster gives up. */
const FAILED_STARTS_MAX = 20

/** What the first of them found, and what holds for whichever runs. */
export interface KeptWriter extends WriterReady {
  pid(): number
  stop(): Promise<void>
}

export async function keepWriter(start: (isFirst: boolean) => Promise<WriterProcess>, log: Log): Promise<KeptWriter> {
  let current = await start(true)
  const { isProven, hasLost } = current
  let isStopping = false
  const watch = async () => {
    let pauseMs = RESTART_MS_MIN
    for (let startedMs = performance.now(); ; startedMs = performance.now()) {
      const how = await current.ended
      if (isStopping) return
      if (performance.now() - startedMs > SETTLED_MS) pauseMs = RESTART_MS_MIN
      log.error('The catalog writer ended; another takes its place.', { how, pauseMs })
      for (let failed = 0; ;) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs))
        pauseMs = Math.min(pauseMs * 2, RESTART_MS_MAX)
        if (isStopping) return
        try {
          current = await start(false)
          break
        } catch (failure) {
          if (isStopping) return
          if (++failed >= FAILED_STARTS_MAX) throw failure
          log.warn('The catalog writer could not be started; it is tried again.', { cause: String(failure), pauseMs })
        }
      }
    }
  }
  watch().catch((failure: unknown) => {
    log.error('The catalog writer cannot be started again. The cluster ends.', { cause: String(failure) })
    process.exit(1)
  })
  return {
    isProven,
    hasLost,
    pid: () => current.pid,
    async stop() {
      isStopping = true
      await current.stop()
    },
  }
}
