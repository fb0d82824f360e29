/** The file of a trace: lines of JSON that only its owner can read. When it is full it becomes FILE.1, and a new one begins. */
import { createWriteStream, renameSync, statSync, chmodSync, openSync, closeSync } from 'node:fs'
import type { Log } from '../src/core/cluster.ts'
import type { Trace } from '../src/faces/rest/trace.ts'
import { SettingsError } from './settings.ts'

export const TRACE_BYTES_MAX = 64 * 2 ** 20
/** Lines that wait for the disk. Further ones are left out, and counted. */
const WAITING_BYTES_MAX = 8 * 2 ** 20

export interface TraceFile {
  readonly trace: Trace
  close(): Promise<void>
}

export function openTrace(file: string, log: Log, bytesMax = TRACE_BYTES_MAX): TraceFile {
  let bytes = openSize(file)
  let stream = openStream()
  let left = 0

  function openStream() {
    const opened = createWriteStream(file, { flags: 'a', mode: 0o600 })
    opened.on('error', (failure) => log.error('The trace cannot be written.', { file, cause: String(failure) }))
    return opened
  }

  /** Where the full file cannot be put aside it goes on growing: a request does not fail for its trace. */
  function beginAnew(): void {
    bytes = 0
    try {
      renameSync(file, `${file}.1`)
    } catch (failure) {
      log.error('The full trace cannot be renamed, and goes on.', { file, cause: String(failure) })
      return
    }
    stream.end()
    stream = openStream()
  }

  return {
    trace(entry) {
      const line = `${JSON.stringify(entry)}\n`
      if (stream.writableLength > WAITING_BYTES_MAX) {
        if (left++ === 0) log.warn('The trace leaves requests out: the disk is too slow.', { file })
        return
      }
      const length = Buffer.byteLength(line)
      if (bytes > 0 && bytes + length > bytesMax) beginAnew()
      bytes += length
      stream.write(line)
    },
    close: () =>
      new Promise((resolve) => {
        if (left > 0) log.warn('The trace left requests out.', { file, requests: left })
        stream.end(() => resolve())
      }),
  }
}

function openSize(file: string): number {
  try {
    closeSync(openSync(file, 'a', 0o600))
    chmodSync(file, 0o600)
    return statSync(file).size
  } catch (failure) {
    throw new SettingsError(`The trace ${file} cannot be written: ${(failure as Error).message}`)
  }
}
