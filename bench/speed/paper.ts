/** What would limit on a larger machine, computed from what was measured on this one. */
import { significant, type Kept } from './results.ts'
import { speedRows } from './rows.ts'
import { find, markdown, PRODUCT, thousands } from './tables.ts'

/** Supposed, not measured: a server with data-centre NVMe that has power-loss protection. */
const CORES = 32
const SYNC_US = 30
const READS_PER_SECOND = 1_000_000
const READ_MB = 7_000
const WRITE_MB = 5_000
const NETWORK_MB = 12_500
/** Clients that wait for a commit at the same time. */
const WAITING = 256
/** Cores that the catalog writer and the main process have. */
const OTHER_CORES = 2

interface Limit {
  readonly what: string
  readonly perSecond: number
}

export function onPaper(kept: Kept): string {
  const workers = CORES - OTHER_CORES
  const ofSmall = find(kept, 'put4k', PRODUCT, false, 'unsigned')?.microseconds['writer'] ?? Number.POSITIVE_INFINITY
  const rows = speedRows.flatMap((row) => {
    const result = find(kept, row.name, PRODUCT, false, 'unsigned')
    if (result === undefined || row.name === 'mixed') return []
    const { worker = 0, writer = 0, main = 0 } = result.microseconds
    const limits: Limit[] = [{ what: 'workers', perSecond: (workers * 1e6) / worker }]
    const bytes = row.bodyBytes ?? 0
    const isRead = row.name.startsWith('get')
    const isWrite = row.name.startsWith('put') || row.name === 'delete'
    if (isWrite) {
      // What it does for a PUT does not depend on the body: with large ones, fewer commits share a transaction here.
      const commit = row.name.startsWith('put') ? Math.min(writer, ofSmall) : writer
      limits.push({ what: 'catalog writer', perSecond: 1e6 / (commit + SYNC_US / WAITING) })
      // What little it does elsewhere is housekeeping.
      limits.push({ what: 'main process', perSecond: 1e6 / main })
    }
    if (isRead) limits.push({ what: 'reads of the disk', perSecond: READS_PER_SECOND })
    if (bytes > 0) {
      limits.push({ what: 'bytes of the disk', perSecond: ((isRead ? READ_MB : WRITE_MB) * 1e6) / bytes })
      limits.push({ what: 'network', perSecond: (NETWORK_MB * 1e6) / bytes })
    }
    const sorted = limits
      .filter(({ perSecond }) => Number.isFinite(perSecond))
      .toSorted((a, b) => a.perSecond - b.perSecond)
    const tell = (limit: Limit | undefined) =>
      limit === undefined ? '' : `${limit.what}: ${thousands(significant(limit.perSecond, 2))}`
    const [first, second] = sorted
    const rate =
      first === undefined || bytes === 0 ? '' : `${thousands(significant((first.perSecond * bytes) / 1e6, 2))} MB`
    return [[row.what.replace(', MB', ''), tell(first), tell(second), rate]]
  })
  return `Computed, not measured. Supposed: ${CORES} cores that are each as quick as one of this machine, of which ${OTHER_CORES} are for the catalog writer and the main process; ${CORES - OTHER_CORES} workers; a disk that syncs in ${SYNC_US} µs, reads ${thousands(READS_PER_SECOND)} times and ${thousands(READ_MB)} MB in a second and writes ${thousands(WRITE_MB)} MB; a network of ${thousands(NETWORK_MB)} MB in a second; ${WAITING} clients that wait at the same time. What threads of several cores take from each other (caches, memory, locks of the kernel) is not in it, so these are bounds from above.

\`\`\`text
workers         = ${workers} ÷ processor time of an operation in the worker
catalog writer  = 1 ÷ (its processor time of a commit, for a PUT that of 4 KiB, + ${SYNC_US} µs ÷ ${WAITING} commits that share a sync)
main process    = 1 ÷ its processor time of an operation
reads of disk   = ${thousands(READS_PER_SECOND)}, one for each GET of an object that is not cached
bytes           = MB in a second of disk or network ÷ MB of a body
an operation    = the least of these
\`\`\`

Operations in a second, the tightest bound and the next one:

${markdown(['', 'limit', 'next', 'that is'], rows)}

A PUT waits for two syncs, one of its pack or file and one of the catalog's log, ${2 * SYNC_US} µs in place of ${thousands(significant(2000 * kept.machine.syncMs, 2))} µs on this machine.`
}
