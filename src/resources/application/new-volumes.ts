/** Several volumes made by one job: their trees first, then all their records in one commit with what they are made for. */
import type { Cluster } from '../../core/cluster.ts'
import { removeTree } from '../../storage/removed-trees.ts'
import { noParent, resolveReferences } from '../../core/read/references.ts'
import type { Plan, Step, VerbRequest, Work } from '../../core/verb.ts'
import { Failure, failure } from '../../model/failure.ts'
import { completeDraft } from '../../model/shape.ts'
import { type Row, textAt, textOf, type Value } from '../../model/value.ts'
import type { Change } from '../../ports/catalog.ts'
import { createVolume, makeTree, newVolumeChanges } from '../storage/volumes/create.ts'
import { isNameTaken } from '../storage/volumes/clone-buckets.ts'
import { insistOnPath } from '../storage/volumes/nas.ts'
import { insistOnRoom } from '../svm/svm-fields.ts'
import type { Volume } from '../../records/rows.ts'

const VOLUMES = 'storage/volumes'

export interface PlannedVolumes {
  /** Their rows; to be kept in the input of the job as `$new`. */
  readonly rows: readonly Volume[]
  readonly locks: readonly string[]
}

/**
 * Set in a volume that is called what this says, "_" and a number that no other has. The number is chosen when it is
 * planned, and again when its record is written: others who were given the same meanwhile were quicker.
 */
export const NUMBERED = '$numbered'
/** How often names are chosen again that another process was quicker to take. */
const TRIES_MAX = 20

/** Plans volumes as requests for each of them would be; they take their space as it is used. */
export async function planVolumes(
  cluster: Cluster,
  request: VerbRequest,
  drafts: readonly Row[],
): Promise<PlannedVolumes> {
  const resource = cluster.registry.resource(VOLUMES)
  const [rows, locks]: [Volume[], string[]] = [[], []]
  const isAmong = (name: Value) => rows.some((row) => row['name'] === name)
  const planned = async (draft: Row): Promise<Plan<Volume>> => {
    const complete = completeDraft(resource, { 'guarantee.type': 'none', ...draft })
    const resolved = await resolveReferences(cluster, resource, complete)
    return createVolume.plan(cluster, { ...request, draft: resolved, path: {}, args: {} })
  }
  const numbered = async (draft: Row): Promise<Plan<Volume>> => {
    for (const name of numberedNames(draft)) {
      if (isAmong(name)) continue
      try {
        return await planned({ ...draft, name })
      } catch (failure) {
        if (!(failure instanceof Failure)) throw failure
        // The name is taken, or is being taken.
        if (!failure.is('volumeNameTaken') && !failure.is('volumeBeingMade')) throw failure
      }
    }
    throw failure('numberedVolumeTaken')
  }
  for (const draft of drafts) {
    const name = draft['name'] ?? ''
    if (draft[NUMBERED] === undefined && isAmong(name)) {
      throw failure('volumeNameTaken', { name: textOf(name) })
    }
    const plan = await (draft[NUMBERED] === undefined ? planned(draft) : numbered(draft))
    rows.push(plan.input)
    locks.push(...(plan.locks ?? []))
  }
  return { rows, locks }
}

/** Names to try, one after the other: there are fewer volumes than that. */
function* numberedNames(row: Row): Generator<string, void, void> {
  for (let n = 1; n <= NUMBERS_MAX; n++) yield `${textAt(row, NUMBERED)}_${n}`
}

const NUMBERS_MAX = 100_000

/** The same rows; those that are numbered have names that are free now. */
async function withFreeNames(cluster: Cluster, rows: readonly Volume[]): Promise<Volume[]> {
  const names = new Set(rows.filter((row) => row[NUMBERED] === undefined).map((row) => row['name']))
  const isTaken = async (row: Volume, name: string) =>
    names.has(name) || (await cluster.keyOfName(VOLUMES, name, row['svm.uuid'])) !== undefined
  const named: Volume[] = []
  for (const row of rows) {
    const { [NUMBERED]: base, ...rest } = row
    let name = row['name']
    if (base !== undefined && (await isTaken(row, name))) {
      for (const other of numberedNames(row)) {
        name = other
        if (!(await isTaken(row, other))) break
      }
    }
    names.add(name)
    named.push({ ...rest, name })
  }
  return named
}

/** Makes a commit with new volumes, again where a name that was free has been taken meanwhile by another process. */
export async function commitWithVolumes(cluster: Cluster, work: Work, changes: () => Promise<Change[]>): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await cluster.commit([...(await newVolumesChanges(cluster, work)), ...(await changes())])
      return
    } catch (failure) {
      const isNumbered = newOf(work).some((row) => row[NUMBERED] !== undefined)
      if (!isNumbered || !isNameTaken(failure) || tries >= TRIES_MAX) throw failure
    }
  }
}

/** The volumes that the plan of a job is to make. */
export const newOf = (work: Work) => (work.input['$new'] ?? []) as readonly Volume[]

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
  const rows = await withFreeNames(cluster, newOf(work))
  if (rows.length === 0) return []
  const svm = await cluster.record('svm/svms', rows[0]?.['svm.uuid'] ?? '')
  if (svm === undefined) throw noParent(cluster, VOLUMES, rows[0]?.['svm.uuid'] ?? '')
  await insistOnRoom(cluster, svm.body, rows)
  for (const row of rows) await insistOnPath(cluster, row)
  return [
    { do: 'check-record', type: svm.type, key: svm.key, expect: svm.revision },
    ...rows.flatMap((row) => newVolumeChanges(cluster, row)),
  ]
}
