import type { LogEntry, LogName, Telemetry } from '../../ports/catalog.ts'

/** Newest entries that one request looks through. */
export const LOOKED_AT_MAX = 10_000
/** Entries read at once, where they are not so long that a page of them ends before. */
const PAGE = 200

/** The newest entries of a log, newest first, some in each turn of the event loop. */
export async function* logPages(catalog: Telemetry, name: LogName): AsyncGenerator<readonly LogEntry[], void, void> {
  let left = LOOKED_AT_MAX
  for (let before = Number.MAX_SAFE_INTEGER; left > 0;) {
    const page = await catalog.log(name, { before, limit: Math.min(PAGE, left) })
    const last = page.at(-1)
    if (last === undefined) return
    yield page
    left -= page.length
    before = last.id
  }
}

/** One entry, where it is kept still. */
export async function logEntry(catalog: Telemetry, name: LogName, id: number): Promise<LogEntry | undefined> {
  if (!Number.isSafeInteger(id + 1)) return undefined
  const [found] = await catalog.log(name, { before: id + 1, limit: 1 })
  return found?.id === id ? found : undefined
}
