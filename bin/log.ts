/** Logs on stderr: lines for people on a terminal, JSON lines elsewhere. */
import type { Log } from '../src/core/cluster.ts'
import { logLevels, type LogLevel } from './settings.ts'

export function openLog(level: LogLevel, part: string): Log {
  const from = logLevels.indexOf(level)
  const write = (of: 'info' | 'warn' | 'error', message: string, details: Readonly<Record<string, unknown>> = {}) => {
    if (logLevels.indexOf(of) < from) return
    const time = new Date().toISOString()
    const line = process.stderr.isTTY
      ? `${time} ${of.padEnd(5)} ${message}${Object.entries(details)
          .map(([name, value]) => ` ${name}=${show(value)}`)
          .join('')}`
      : JSON.stringify({ time, level: of, part, message, ...details })
    process.stderr.write(`${line}\n`)
  }
  return {
    info: (message, details) => write('info', message, details),
    warn: (message, details) => write('warn', message, details),
    error: (message, details) => write('error', message, details),
  }
}

function show(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
}
