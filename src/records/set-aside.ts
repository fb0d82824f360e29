const HOUR_MS = 3_600_000

/** Has how long blobs that were set aside are kept, where it is proven that nobody was answered for them; else for good. */
export const SCRUB_SCHEDULE = 'private/scrub-schedule'
export const SET_ASIDE_HOURS = 7 * 24
export const SET_ASIDE_KEPT_MS = SET_ASIDE_HOURS * HOUR_MS
