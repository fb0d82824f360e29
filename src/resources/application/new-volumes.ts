/** Several volumes made by one job: their trees first, then all their records in one commit with what they are made for. */
import type { Cluster } from '../../core/cluster.ts'
import { removeTree } from '../../core/removed-trees.ts'
import { noParent, resolveReferences } from '../../core/references.ts'
import type { Step, VerbRequest, Work } from '../../core/verb.ts'
import { failures } from '../../model/failure.ts'
import { completeDraft } from '../../model/shape.ts'
import { type Row, textAt } from '../../model/value.ts'
import type { Change } from '../../ports/catalog.ts'
import { createVolume, makeTree, newVolumeChanges } from '../storage/volume-verbs.ts'
import { insistOnPath } from '../storage/volumes/nas.ts'
import { insistOnRoom } from '../svm/svm-fields.ts'

const VOLUMES = 'storage/volumes'

export interface PlannedVolumes {
  /** Their rows; to be kept in the input of the job as `$new`. */
  readonly rows: readonly Row[]
  readonly locks: readonly string[]
}

/** Plans volumes as requests for each of them would be; they take their space as it is used. */
export async function planVolumes(
  cluster: Cluster,
  request: VerbRequest,
  drafts: readonly Row[],
): Promise<PlannedVolumes> {
  const resource = cluster.registry.resource(VOLUMES)
  const [rows, locks]: [Row[], string[]] = [[], []]
  for (const draft of drafts) {
    const name = textAt(draft, 'name')
    if (rows.some((row) => row['name'] === name)) throw failures.duplicate(`A volume named "${name}"`, 'name', 917526)
    const complete = completeDraft(resource, { 'guarantee.type': 'none', ...draft })
    const plan = await createVolume.plan(cluster, {
      ...request,
      draft: await resolveReferences(cluster, resource, complete),
      path: {},
      args: {},
    })
    rows.push(plan.input)
    locks.push(...(plan.locks ?? []))
  }
  return { rows, locks }
}

const newOf = (work: Work) => (work.input['$new'] ?? []) as readonly Row[]

export const makeTrees: Step = {
  name: 'make trees',
  isCancellable: true,
  async run(cluster, work) {
    const rows = newOf(work)
    for (const [at, row] of rows.entries()) {
      await makeTree(cluster, row)
      await work.progress((at + 1) / rows.length, `${at + 1} of ${rows.length} trees are made.`)
    }
  },
  async undo(cluster, work) {
    for (const row of newOf(work).toReversed()) await removeTree(cluster, row)
  },
}

/** What makes all of them known. To be committed with `AGGREGATES_LOCK` held. */
export async function newVolumesChanges(cluster: Cluster, work: Work): Promise<Change[]> {
  const rows = newOf(work)
  if (rows.length === 0) return []
  const svm = await cluster.catalog.record('svm/svms', textAt(rows[0], 'svm.uuid'))
  if (svm === undefined) throw noParent(cluster, VOLUMES, textAt(rows[0], 'svm.uuid'))
  await insistOnRoom(cluster, svm.body, rows)
  for (const row of rows) await insistOnPath(cluster, row)
  return [
    { do: 'check-record', type: svm.type, key: svm.key, expect: svm.revision },
    ...rows.flatMap((row) => newVolumeChanges(cluster, row)),
  ]
}
