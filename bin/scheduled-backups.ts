/**
 * Backups of a cluster that runs, again and again. Each is made by a process of its own: what it does takes its time, and
 * must not lie in the way of requests, nor of the connections that this process has to the catalog (see catalog-pages.ts).
 * When the next one is due is told by those that are there, so a restart neither repeats one nor leaves one out.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import type { Task } from '../src/core/tasks/background.ts'
import type { Cluster } from '../src/core/cluster.ts'
import { timeOf } from '../src/engines/backup/store.ts'
import { programBeside } from '../src/engines/program-beside.ts'
import type { Change } from '../src/ports/catalog.ts'
import type { ScheduledBackup } from './settings.ts'

const PROGRAM = programBeside(import.meta.filename, 'holdfast')
const HOUR_MS = 3_600_000
/** One that failed is tried again after so long, or after the whole time where that is shorter. */
const RETRY_MS = HOUR_MS
/** Timers of Node.js wait no longer. */
const WAIT_MS_MAX = 24 * HOUR_MS
/** A little less urgent than requests. */
const PRIORITY = 10
const SAID_MAX = 4096

export class ScheduledBackups {
  readonly #cluster: Cluster
  readonly #order: ScheduledBackup
  readonly #data: string
  readonly #task: Task
  #child: ChildProcess | undefined
  #waitMs = 0

  constructor(cluster: Cluster, order: ScheduledBackup, data: string) {
    this.#cluster = cluster
    this.#order = order
    this.#data = data
    this.#task = cluster.background.task({
      name: 'backup',
      doc: `Backs up the catalog, keys and configuration to the folder ${order.folder}.`,
      bound: 'Runs in a process of its own, of low priority. Writes what changed since the last backup.',
      scope: 'node',
      everyMs: order.everyHours * HOUR_MS,
      restMs: () => this.#waitMs,
      failed: 'A scheduled backup failed. It is retried.',
      act: (task) => this.#look(task),
    })
  }

  start(): void {
    this.#task.start()
  }

  /** One that is being made is given up, which leaves the others whole. */
  async stop(): Promise<void> {
    const stopped = this.#task.stop()
    this.#child?.kill('SIGTERM')
    await stopped
  }

  async #look(task: Task): Promise<void> {
    const everyMs = this.#order.everyHours * HOUR_MS
    this.#waitMs = Math.min(everyMs, RETRY_MS)
    try {
      const dueMs = (await this.#lastMs()) + everyMs
      const nowMs = this.#cluster.now()
      if (dueMs <= nowMs) {
        task.says('Making a backup.')
        await this.#make()
      }
      this.#waitMs = Math.min(dueMs <= nowMs ? everyMs : dueMs - nowMs, WAIT_MS_MAX)
    } catch (failure) {
      if (task.isStopping) return
      const reason = failure instanceof Error ? failure.message : String(failure)
      await this.#tell(this.#cluster.event('cluster.backup.failed', { reason }))
      throw failure
    }
  }

  /** 0 where there is none yet. */
  async #lastMs(): Promise<number> {
    const names = await readdir(join(this.#order.folder, 'backups')).catch((failure: NodeJS.ErrnoException) => {
      if (failure.code === 'ENOENT' || failure.code === 'ENOTDIR') return []
      throw failure
    })
    return Math.max(0, ...names.filter((name) => name.endsWith('.json')).map((name) => timeOf(name.slice(0, -5)) || 0))
  }

  async #make(): Promise<void> {
    const { folder, keep } = this.#order
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const child = spawn(
      process.execPath,
      [PROGRAM, 'backup', '--data', this.#data, '--to', folder, '--keep', `${keep}`],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { PATH, NODE_COMPILE_CACHE, NODE_NO_WARNINGS: '1' },
      },
    )
    this.#child = child
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-SAID_MAX)))
    try {
      if (child.pid !== undefined) setPriority(child.pid, PRIORITY)
    } catch {
      // It has ended, or may not be told; then it is as urgent as requests.
    }
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    this.#child = undefined
    if (code !== 0) throw new Error(said.trim() || `The process that made it ended (${code ?? 'killed'}).`)
    await this.#tell(this.#cluster.event('cluster.backup.made', { folder }))
  }

  async #tell(event: Change): Promise<void> {
    await this.#cluster.commit([event]).catch((failure: unknown) => {
      this.#cluster.log.warn('An event could not be logged.', { cause: String(failure) })
    })
  }
}
