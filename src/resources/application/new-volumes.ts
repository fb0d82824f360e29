/** Several volumes made by one job: their trees first, then all their records in one commit with what they are made for. */
import { lockOf } from '../../core/grounds.ts'
import type { Cluster } from '../../core/cluster.ts'
import { removeTree } from '../../storage/removed-trees.ts'
import { noParent, resolveReferences } from '../../core/read/references.ts'
import type { Plan, Step, VerbRequest, Work } from '../../core/verb.ts'
import { Failure, failure } from '../../model/failure.ts'
import { completeDraft } from '../../model/shape.ts'
import type { Change } from '../../ports/catalog.ts'
import { createVolume, makeTree, newVolumeChanges } from '../storage/volumes/create.ts'
import { isNameTaken } from '../storage/volumes/clone-buckets.ts'
import { insistOnPath } from '../storage/volumes/nas.ts'
import { insistOnRoom } from '../svm/svm-fields.ts'
import type { Volume, VolumeDraft } from '../../records/rows.ts'

const VOLUMES = 'storage/volumes'

/** What is said of a volume that is to be made. Numbered, it is called what that says, "_" and a number. */
export type NewVolume = VolumeDraft & { readonly $numbered?: string }

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
  drafts: readonly NewVolume[],
): Promise<PlannedVolumes> {
  const resource = cluster.registry.resource(VOLUMES)
  const [rows, locks]: [Volume[], string[]] = [[], []]
  const isAmong = (name: string) => rows.some((row) => row['name'] === name)
  const planned = async (draft: NewVolume): Promise<Plan<Volume>> => {
    const complete = completeDraft(resource, { 'guarantee.type': 'none', ...draft })
    const resolved = await resolveReferences(cluster, resource, complete)
    return createVolume.plan(cluster, { ...request, draft: resolved, path: {}, args: {} })
  }
  const numbered = async (draft: NewVolume, base: string): Promise<Plan<Volume>> => {
    for (const name of numberedNames(base)) {
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
    const { name = '', $numbered: base } = draft
    if (base === undefined && isAmong(name)) {
      throw failure('volumeNameTaken', { name })
    }
    const plan = await (base === undefined ? planned(draft) : numbered(draft, base))
    rows.push(plan.input)
    locks.push(...(plan.locks ?? []).map(lockOf))
  }
  return { rows, locks }
}

/** Names to try, one after the other: there are fewer volumes than that. */
function* numberedNames(base: string): Generator<string, void, void> {
  for (let n = 1; n <= NUMBERS_MAX; n++) yield `${base}_${n}`
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
      for (const other of numberedNames(base)) {
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
export async function commitWithVolumes(
  cluster: Cluster,
  work: VolumesWork,
  changes: () => Promise<Change[]>,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await cluster.commit([...(await newVolumesChanges(cluster, work)), ...(await changes())])
      return
    } catch (failure) {
      const isNumbered = work.input.$new.some((row) => row[NUMBERED] !== undefined)
      if (!isNumbered || !isNameTaken(failure) || tries >= TRIES_MAX) throw failure
    }
  }
}

/** Of a job that makes volumes: those that were planned. */
export type VolumesWork = Work<{ readonly $new: readonly Volume[] }>

export const makeTrees: Step<VolumesWork['input']> = {
  name: 'make trees',
  isCancellable: true,
  async run(cluster, work) {
    const rows = work.input.$new
    for (const [at, row] of rows.entries()) {
      await makeTree(cluster, row)
      await work.progress((at + 1) / rows.length, `${at + 1} of ${rows.length} trees are made.`)
    }
  },
  async undo(cluster, work) {
    for (const row of work.input.$new.toReversed()) await removeTree(cluster, row)
  },
}

/** What makes all of them known. To be committed with `AGGREGATES_LOCK` and `volumesOfSvm` held. */
export async function newVolumesChanges(cluster: Cluster, work: Pick<VolumesWork, 'input'>): Promise<Change[]> {
  const rows = await withFreeNames(cluster, work.input.$new)
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
