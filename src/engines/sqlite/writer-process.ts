/**
 * The writer process of an embedded catalog: `node writer-process.ts <database> <socket> [first] [accept-loss] [cache-kib=N]`. Tells
 * its parent when commits are taken. Ends on SIGTERM, and when its parent goes away; what had arrived is settled first.
 */
import { inspect } from 'node:util'
import { keepHeapSmall, trimHeap } from '../heap.ts'
import { WriterServer } from './server.ts'
import type { WriterReady } from './start-writer.ts'
import { tellParent } from '../tell-parent.ts'

const [file, socket, ...flags] = process.argv.slice(2)
if (file === undefined || socket === undefined) {
  process.stderr.write('Usage: node writer-process.ts <database> <socket> [first] [accept-loss] [cache-kib=N]\n')
  process.exit(2)
}

// What escapes ends this process in order to a line of the log; its parent starts another, after pauses that grow.
process.on('uncaughtException', (failure) => {
  tell('error', 'The catalog writer met an error that nobody expected, and ends.', failure)
  process.exit(1)
})

const cacheKib = flags.find((flag) => flag.startsWith('cache-kib='))?.slice('cache-kib='.length)
let server: WriterServer
try {
  server = new WriterServer(file, {
    report: (message, cause) => tell(cause === undefined ? 'info' : 'error', message, cause),
    acceptsLoss: flags.includes('accept-loss'),
    isFirst: flags.includes('first'),
    ...(cacheKib === undefined ? {} : { cacheKib: Number(cacheKib) }),
  })
  await server.listen(socket)
  trimHeap()
  keepHeapSmall()
} catch (failure) {
  process.stderr.write(`${failure instanceof Error ? failure.message : String(failure)}\n`)
  process.exit(1)
}

/** A line of the log, as the other processes write them. */
function tell(level: 'info' | 'error', message: string, cause?: unknown): void {
  const causes =
    cause === undefined ? {} : { cause: cause instanceof Error ? (cause.stack ?? cause.message) : inspect(cause) }
  const line = { time: new Date().toISOString(), level, part: 'catalog writer', message, ...causes }
  process.stderr.write(`${JSON.stringify(line)}\n`)
}

let ending = false
function end(): void {
  if (ending) return
  ending = true
  server.close().then(
    () => process.exit(0),
    (failure: unknown) => {
      process.stderr.write(`${String(failure)}\n`)
      process.exit(1)
    },
  )
}

if (process.send === undefined) {
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
  process.stdin.on('end', end).resume()
} else {
  // A signal may reach every process of a terminal or service. The parent still has commits to send, and ends the channel
  // when it is done.
  process.on('SIGTERM', () => undefined)
  process.on('SIGINT', () => undefined)
  process.on('SIGHUP', () => undefined)
  process.on('disconnect', end)
  tellParent({ isProven: server.isProven, hasLost: server.hasLost } satisfies WriterReady)
}
