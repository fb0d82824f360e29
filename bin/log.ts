/** Logs on stderr: lines for people on a terminal, JSON lines elsewhere. */
import type { Log } from '../src/core/cluster.ts'
import { logLevels, type LogLevel } from './settings.ts'

export function openLog(level: LogLevel, part: string): Log {
  const from = logLevels.indexOf(level)
  const write = (
    of: 'debug' | 'info' | 'warn' | 'error',
    message: string,
    details: Readonly<Record<string, unknown>> = {},
  ) => {
    if (logLevels.indexOf(of) < from) return
    const time = new Date().toISOString()
    const line = process.stderr.isTTY
      ? `${time} ${of.padEnd(5)} ${message}${Object.entries(details)
          .map(([name, value]) => ` ${name}=${show(value)}`)
          .join('')}`
      : JSON.stringify({ time, level: of, part, message, ...details }, plainly)
    process.stderr.write(`${line}\n`)
  }
  return {
    debug: (message, details) => write('debug', message, details),
    info: (message, details) => write('info', message, details),
    warn: (message, details) => write('warn', message, details),
    error: (message, details) => write('error', message, details),
  }
}

/** Errors that nobody expected end the process after a line in the log. Who started it starts another. */
export function endOnSurprise(log: () => Log): void {
  process.on('uncaughtException', (failure) => {
    log().error('The process met an error that nobody expected, and ends.', { cause: failure })
    process.exit(1)
  })
}

function show(value: unknown): string {
  const plain = plainly('', value)
  return typeof plain === 'string' ? plain : (JSON.stringify(plain, plainly) ?? String(plain))
}

/** An error as its stack, which JSON would show as nothing; with what caused it. */
function plainly(_name: string, value: unknown): unknown {
  if (!(value instanceof Error)) return value
  const { cause } = value
  return `${value.stack ?? value.message}${cause instanceof Error ? `\nCaused by: ${cause.stack ?? cause.message}` : ''}`
}
