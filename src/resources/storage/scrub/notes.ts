import type { Change } from '../../../ports/catalog.ts'

export const SCRUBS = 'private/scrubs'

/** Held by the scrub that is on; another one of the aggregate waits. */
export const scrubLock = (aggregate: string): string => `scrub:${aggregate}`

/** When the last scrub of an aggregate began. The key is that of the aggregate. */
export const SCRUB_NOTES = 'internal/scrubs'

declare module '../../../model/rows.ts' {
  interface RowTypes {
    readonly 'internal/scrubs': { readonly aggregate: string; readonly begunMs: number }
  }
}

export function changeScrubNotes(aggregate: string, notes: { readonly begunMs: number }): Change {
  return { do: 'put-record', type: SCRUB_NOTES, key: aggregate, body: { aggregate, ...notes } }
}
