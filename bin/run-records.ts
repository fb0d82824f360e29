/** Records of the catalog about its runs. */
import type { Commits, Records } from '../src/ports/catalog.ts'

/** Whether the cluster was stopped in order. */
export const RUN = ['internal/run', 'last'] as const
/** The line along which its changes are counted. */
export const LINE = ['internal/line', 'last'] as const

/** How the run before this one ended. */
interface Ended {
  readonly isClean: boolean
  /** The catalog was found to hold all that was acknowledged, at each start since the last orderly end. */
  readonly isProven: boolean
}

/** Notes whether the cluster has been stopped in order. Tells what was noted before; a first start counts as clean. */
export async function markRun(catalog: Records & Commits, isClean: boolean): Promise<Ended> {
  const found = await catalog.record(...RUN)
  const before = { isClean: found?.body['isClean'] !== false, isProven: found?.body['isProven'] !== false }
  const isProven = isClean || before.isProven
  await catalog.commit([{ do: 'put-record', type: RUN[0], key: RUN[1], body: { isClean, isProven } }])
  return before
}

/** Before the first commit of this start, after which the log looks whole to the next one. */
export async function noteUnproven(catalog: Records & Commits): Promise<void> {
  const found = await catalog.record(...RUN)
  if (found === undefined) return
  await catalog.commit([{ do: 'put-record', type: RUN[0], key: RUN[1], body: { ...found.body, isProven: false } }])
}
