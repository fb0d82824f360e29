/** Keeps the catalog's writer running: when it ends, another is started, and commits wait for it meanwhile. */
import type { Log } from '../src/core/cluster.ts'
import type { WriterProcess } from '../src/engines/sqlite/start-writer.ts'

const RESTART_MS = 100
/** Restarts in a row that fail before the cluster gives up. */
const RESTARTS_MAX = 20

export async function keepWriter(
  start: () => Promise<WriterProcess>,
  log: Log,
): Promise<{ stop(): Promise<void>; pid(): number }> {
  let current = await start()
  let isStopping = false
  const watch = async () => {
    for (;;) {
      const how = await current.ended
      if (isStopping) return
      log.error('The catalog writer ended; another takes its place.', { how })
      for (let tries = 1; ; tries++) {
        try {
          current = await start()
          break
        } catch (failure) {
          if (isStopping) return
          if (tries >= RESTARTS_MAX) throw failure
          await new Promise((resolve) => setTimeout(resolve, RESTART_MS * tries))
        }
      }
    }
  }
  watch().catch((failure: unknown) => {
    log.error('The catalog writer cannot be started again. The cluster ends.', { cause: String(failure) })
    process.exit(1)
  })
  return {
    pid: () => current.pid,
    async stop() {
      isStopping = true
      await current.stop()
    },
  }
}
