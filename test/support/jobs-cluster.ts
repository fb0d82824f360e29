/** A cluster over the real engines in a folder, all in this process, whose jobs can be broken. */
import { join } from 'node:path'
import type { Behaviour } from '../../src/core/behaviour.ts'
import { Cluster, type LeaveTree } from '../../src/core/cluster.ts'
import { Jobs, type JobHooks } from '../../src/core/jobs/jobs.ts'
import { Actions, type Performed } from '../../src/core/perform.ts'
import type { Verb } from '../../src/core/verb.ts'
import { argumentsOf } from '../../src/model/arguments.ts'
import { DirectoryVolumes } from '../../src/engines/directory/volumes.ts'
import { openSqliteCatalog } from '../../src/engines/sqlite/catalog.ts'
import { realSystem } from '../../src/engines/system.ts'
import { release } from '../../src/model/release.ts'
import { flatten } from '../../src/model/shape.ts'
import { type Row, textAt } from '../../src/model/value.ts'
import type { System } from '../../src/ports/system.ts'
import type { Volumes } from '../../src/ports/volumes.ts'
import { behaviours } from '../../src/resources/index.ts'
import { QuickSecrets } from './cluster.ts'

export interface JobsCluster {
  readonly cluster: Cluster
  readonly jobs: Jobs
  readonly actions: Actions
  /** Waits until no job is active. */
  ended(): Promise<void>
  close(): Promise<void>
}

export function openJobsCluster(
  folder: string,
  hooks: JobHooks = {},
  parts: { readonly leaveTree?: LeaveTree; readonly system?: System } = {},
): JobsCluster {
  const catalog = openSqliteCatalog({ file: join(folder, 'catalog.db'), commit: 'in-process' })
  const engines = new Map<string, Volumes>()
  const cluster = new Cluster({
    system: realSystem,
    ...parts,
    catalog,
    behaviours: new Map(behaviours.map((behaviour) => [behaviour.resource.type, behaviour])),
    release: release('9.16.1'),
    volumesOf(aggregate) {
      const place = join(folder, textAt(aggregate, '$folder'))
      const owner = aggregate['$claimed'] === true ? textAt(aggregate, 'uuid') : undefined
      const engine = engines.get(place) ?? new DirectoryVolumes(place, owner)
      engines.set(place, engine)
      return engine
    },
    log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
    secrets: new QuickSecrets(),
  })
  const jobs = new Jobs(cluster, hooks)
  const ended = async () => {
    while (jobs.activeCount > 0) await cluster.system.clock.sleep(ENDED_WAIT_MS)
  }
  return { cluster, jobs, actions: new Actions(cluster, jobs), ended, close: () => catalog.close() }
}

const ENDED_WAIT_MS = 2

/** Waits until no job runs. To stop the cluster instead would interrupt those that can be. */
export async function settled({ jobs }: JobsCluster): Promise<void> {
  for (let waits = 0; jobs.activeCount > 0; waits++) {
    if (waits === SETTLE_WAITS_MAX) throw new Error('A job has not ended.')
    await realSystem.clock.sleep(SETTLE_WAIT_MS)
  }
}

const SETTLE_WAIT_MS = 1
const SETTLE_WAITS_MAX = 60_000

export interface Chosen {
  /** The record that the verb is about. */
  readonly key?: string | undefined
  /** One of its further examples. */
  readonly example?: string | undefined
  readonly args?: Row | undefined
}

/**
 * Calls a verb with its example, or another that it has, under the first record of each parent, on the record with the key
 * if one is named.
 */
export async function performExample(
  { cluster, actions }: JobsCluster,
  behaviour: Behaviour,
  verb: string,
  { key, example, args = {} }: Chosen = {},
): Promise<Performed> {
  const { resource } = behaviour
  const action = behaviour.actions?.[verb]
  const body =
    example === undefined ? verbOf(behaviour, verb)?.example : verbOf(behaviour, verb)?.moreExamples?.[example]?.body
  const path: Record<string, string> = {}
  for (const pathKey of resource.pathKeys) {
    const type = resource.fields.get(pathKey)?.reference?.type
    const [parent] = type === undefined ? [] : await cluster.catalog.records(type)
    if (parent === undefined) throw new Error(`There is no record for {${pathKey}} in ${resource.path}.`)
    path[pathKey] = parent.key
  }
  const row = key === undefined ? undefined : await cluster.row(resource.rowsOf, key)
  const caller = { user: 'admin', role: 'admin', from: 'test' }
  const call = { caller, path, description: `${verb} ${resource.path}` }
  if (action !== undefined && row !== undefined) {
    const given = flatten({ fields: argumentsOf(action.args) }, action.example, () => true, cluster.release)
    return actions.act(behaviour, verb, { ...call, row, args: given })
  }
  if (verb !== 'create' && verb !== 'modify' && verb !== 'remove') throw new Error(`${verb} needs a record.`)
  const draft: Row = verb === 'remove' ? {} : flatten(resource, body ?? {}, verb, cluster.release)
  return actions.perform(behaviour, verb, { ...call, draft, ...(row === undefined ? {} : { row }), args })
}

/** A verb, or an action, by its name. */
export function verbOf(behaviour: Behaviour, name: string): Verb | undefined {
  const { create, modify, remove, actions } = behaviour
  return { create, modify, remove, ...actions }[name]
}

/** Makes a record of these fields. */
export function performDraft({ actions }: JobsCluster, behaviour: Behaviour, draft: Row): Promise<Performed> {
  return actions.perform(behaviour, 'create', {
    caller: { user: 'admin', role: 'admin', from: 'test' },
    draft,
    path: {},
    args: {},
    description: `create ${behaviour.resource.path}`,
  })
}
