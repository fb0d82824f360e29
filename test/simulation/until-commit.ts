/**
 * The end of a process at a commit, without a process of its own: what it leaves is a copy of its folder, taken between
 * two statements. The rest of its work comes to nothing: no commit of it is answered any more, whoever sleeps does not
 * wake, and nobody looks at its folder again.
 */
import { cpSync, linkSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { realSystem } from '../../src/engines/system.ts'
import type { Catalog } from '../../src/ports/catalog.ts'
import type { System } from '../../src/ports/system.ts'
import { type JobsCluster, openJobsCluster } from '../support/jobs-cluster.ts'

/** At which commit, 1 being the first, and whether that is done. */
export interface End {
  readonly commits: number
  readonly when: 'before' | 'after'
}

/**
 * Does work over a folder until the process ends. Gives the folder that it leaves; nothing when the work ended before.
 * Time passes so many times as fast there: with a high pace, what is noted every few seconds is noted each time.
 */
export async function untilCommit(
  folder: string,
  end: End,
  work: (open: JobsCluster) => Promise<void>,
  pace = 1,
): Promise<string | undefined> {
  const over = new AbortController()
  const ended = Promise.withResolvers<string>()
  const open = openJobsCluster(folder, {}, { system: systemUntil(over.signal, pace) })
  endAtCommit(open.cluster.catalog, end, () => {
    if (!over.signal.aborted) ended.resolve(leave(folder))
    over.abort()
  })
  const worked = work(open)
  // What becomes of it when it is over concerns nobody.
  worked.catch(() => undefined)
  try {
    return await Promise.race([worked.then(() => undefined), ended.promise])
  } finally {
    over.abort()
    await open.close()
  }
}

/** Calls `act` at the commit, and answers none from that on. */
export function endAtCommit(catalog: Catalog, { commits, when }: End, act: () => void): void {
  const commit = catalog.commit.bind(catalog)
  let left = commits
  let isOver = false
  catalog.commit = async (changes) => {
    if (isOver) return never()
    if (--left > 0) return commit(changes)
    if (when === 'after') await commit(changes)
    isOver = true
    act()
    return never()
  }
}

let copies = 0

/** Calls of the file system that are under way go on beside a copy, until they have ended: no new ones are made meanwhile. */
const TRIES_MAX = 50

/**
 * What a process leaves that ends now: no lock, and no memory that it shared with others. A copy is good when nothing
 * changed while it was made; files of different instants are what no process leaves.
 */
export function leave(folder: string): string {
  const left = `${folder.replace(/-left-\d+$/, '')}-left-${++copies}`
  for (let tries = 1; ; tries++) {
    try {
      const before = seen(folder)
      copy(folder, left)
      if (seen(folder) === before) return left
      if (tries === TRIES_MAX) throw new Error(`${folder} did not come to rest.`)
    } catch (failure) {
      if ((failure as NodeJS.ErrnoException).code !== 'ENOENT' || tries === TRIES_MAX) throw failure
    }
    rmSync(left, { recursive: true, force: true })
  }
}

/** Names, and what they are names of. */
function seen(folder: string): string {
  const entries = readdirSync(folder, { recursive: true, encoding: 'utf8' }).toSorted()
  return entries
    .map((name) => {
      const { ino, nlink, size, mtimeNs } = statSync(join(folder, name), { bigint: true })
      return `${name} ${ino} ${nlink} ${size} ${mtimeNs}`
    })
    .join('\n')
}

/** What is one file under several names is so afterwards. */
function copy(from: string, to: string): void {
  const copied = new Map<number, string>()
  const isCopied = (path: string, place: string): boolean => {
    if (/\.db(-shm|\.lock)$/.test(path)) return false
    const stat = statSync(path)
    if (!stat.isFile() || stat.nlink === 1) return true
    const same = copied.get(stat.ino)
    if (same === undefined) copied.set(stat.ino, place)
    else linkSync(same, place)
    return same === undefined
  }
  cpSync(from, to, { recursive: true, filter: isCopied })
}

export const never = () => new Promise<never>(() => undefined)

/** Whoever sleeps when it is over does not wake. */
export function systemUntil(over: AbortSignal, pace = 1): System {
  const { clock } = realSystem
  const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
    await clock.sleep(ms, signal === undefined ? over : AbortSignal.any([signal, over]))
    if (over.aborted) await never()
  }
  return { ...realSystem, clock: { now: () => clock.now(), elapsed: () => clock.elapsed() * pace, sleep } }
}
