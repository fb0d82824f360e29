/** What went wrong, for the log: with its stack where it has one. */
export function describe(cause: unknown): string {
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause)
}
