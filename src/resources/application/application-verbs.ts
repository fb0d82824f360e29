import type { Fields } from '../../model/resource.ts'
import { flag } from '../../model/kinds/index.ts'
import type { Acl } from '../protocols/cifs/shares/acl-list.ts'
import type { ExportRule } from '../protocols/nfs/export-policies/rule-list.ts'
import { alone, lockOf } from '../../core/grounds.ts'
import type { Cluster } from '../../core/cluster.ts'
import { job, uuidOfNew, type Work, type Changing, type Making } from '../../core/verb.ts'
import { failure } from '../../model/failure.ts'
import type { NewOf } from '../../model/rows.ts'
import type { Change } from '../../ports/catalog.ts'
import { CIFS_SHARES, newShare } from '../protocols/cifs/shares.ts'
import { EXPORT_POLICIES, EXPORT_POLICIES_LOCK, newExportPolicy } from '../protocols/nfs/export-policies.ts'
import { AGGREGATES_LOCK, volumesOfSvm } from '../storage/aggregates/space.ts'
import { type RemovedVolume, removeVolume } from '../storage/volumes/remove.ts'
import { type Application, APPLICATIONS, MEMBERS_LOCK, volumesOfApplication } from './members.ts'
import { makeTrees, newVolumesChanges, type VolumesWork } from './new-volumes.ts'
import { planNas } from './nas-template.ts'
import type { Volume, VolumeDraft } from '../../records/rows.ts'

const VOLUMES = 'storage/volumes'

export const createApplication = job({
  example: {
    name: 'app_example',
    'svm.name': 'svm1',
    smart_container: true,
    nas: {
      application_components: [{ name: 'app_volume', total_size: '64m', share_count: 2 }],
      nfs_access: [{ host: '192.0.2.0/24', access: 'rw' }],
    },
  },
  async plan(cluster, request: Making<'application/applications'>) {
    const { draft } = request
    await insistOnName(cluster, draft)
    const planned = await planNas(cluster, request)
    const key = uuidOfNew(cluster, draft)
    const lock = `application-name:${draft['svm.uuid']}/${draft['name']}`
    if (cluster.locks.isHeld(lock)) {
      throw failure('applicationBeingMade', { name: draft['name'] })
    }
    return {
      key,
      input: {
        ...draft,
        uuid: key,
        'template.name': 'nas' as const,
        creation_timestamp: cluster.now(),
        $components: planned.components,
        $new: planned.rows,
      },
      locks: [lock, ...planned.locks],
    }
  },
  steps: [
    makeTrees,
    {
      // All of it or nothing is there, so there is nothing to undo.
      name: 'write records',
      async run(cluster, work) {
        if ((await cluster.find(APPLICATIONS, work.key)) !== undefined) return
        const volumes = volumesOfSvm(work.input['svm.uuid'])
        await alone(cluster, [AGGREGATES_LOCK, volumes, EXPORT_POLICIES_LOCK, MEMBERS_LOCK], async (cluster) => {
          await insistOnName(cluster, work.input)
          await cluster.commit(await recordChanges(cluster, work))
        })
      },
    },
  ],
})

type ApplicationToBe = NewOf<typeof APPLICATIONS> & Pick<Application, 'uuid' | '$components'>
type MakingWork = Pick<Work<ApplicationToBe & VolumesWork['input']>, 'input'>

async function recordChanges(cluster: Cluster, work: MakingWork): Promise<Change[]> {
  const { $new: _, ...application } = work.input
  const exported = await exportChanges(cluster, application)
  const volumes = work.input.$new.map((row): Volume => ({ ...row, ...exported.fields }))
  const shares: Change[] = []
  for (const volume of volumes) shares.push(...(await shareChanges(cluster, application, volume)))
  return [
    ...exported.changes,
    ...(await newVolumesChanges(cluster, { input: { $new: volumes } })),
    ...shares,
    cluster.put(APPLICATIONS, { ...application, ...exported.noted }, { expect: 'absent' }),
    cluster.event('application.created', { application: application['name'] }),
  ]
}

/** Who may mount the volumes: a policy of its own, where that is said. */
async function exportChanges(
  cluster: Cluster,
  application: ApplicationToBe,
): Promise<{ changes: Change[]; fields: VolumeDraft; noted: Pick<Application, '$exportPolicy'> }> {
  const access = application['nas.nfs_access']
  if (access === undefined || access.length === 0) return { changes: [], fields: {}, noted: {} }
  const svm = application['svm.uuid']
  const name = await freePolicyName(cluster, svm, application['name'])
  const rules = access
    .filter((one) => one.access !== 'none')
    .map((one): ExportRule => ({
      clients: [{ match: one.host ?? '0.0.0.0/0' }],
      ro_rule: ['any'],
      rw_rule: [one.access === 'ro' ? 'never' : 'any'],
      superuser: ['any'],
    }))
  const { id, change } = await newExportPolicy(cluster, { name, 'svm.uuid': svm, rules })
  return { changes: [change], fields: { 'nas.export_policy.id': id }, noted: { $exportPolicy: id } }
}

const NAMES_MAX = 100

async function freePolicyName(cluster: Cluster, svm: string, base: string): Promise<string> {
  for (let n = 0; n < NAMES_MAX; n++) {
    const name = n === 0 ? base : `${base}_${n}`
    if ((await cluster.keyOfName(EXPORT_POLICIES, name, svm)) === undefined) return name
  }
  throw failure('exportPolicyTaken', { name: base })
}

async function shareChanges(cluster: Cluster, application: ApplicationToBe, volume: Volume): Promise<Change[]> {
  const access = application['nas.cifs_access']
  if (access === undefined || access.length === 0) return []
  const acls = access.map((one): Acl => ({
    user_or_group: one.user_or_group ?? 'Everyone',
    type: 'windows',
    permission: one.access ?? 'full_control',
  }))
  const { name, 'nas.path': path = '' } = volume
  return [await newShare(cluster, { 'svm.uuid': application['svm.uuid'], name, path, acls })]
}

async function insistOnName(cluster: Cluster, draft: Pick<Application, 'name' | 'svm.uuid'>): Promise<void> {
  const { name } = draft
  if ((await cluster.keyOfName(APPLICATIONS, name, draft['svm.uuid'])) !== undefined) {
    throw failure('applicationNameTaken', { name })
  }
}

/** A volume that goes with its application, and where it was mounted. */
type OldVolume = RemovedVolume & { readonly uuid: string; readonly path: string }

const removalArgs = {
  delete_data: {
    doc: 'Whether to delete the volumes of the application. Default: true. `false` keeps the volumes without an application.',
    kind: flag(),
    default: true,
  },
} as const satisfies Fields

export const removeApplication = job({
  args: removalArgs,
  exampleArgs: [{}, { delete_data: false }],
  async plan(cluster, request: Changing<'application/applications', typeof removalArgs>) {
    const { row, args } = request
    const key = row['uuid']
    const [volumes, locks]: [OldVolume[], string[]] = [[], []]
    for (const uuid of args.delete_data ? volumesOfApplication(row) : []) {
      const volume = await cluster.find(VOLUMES, uuid)
      if (volume === undefined) continue
      const plan = await removeVolume.plan(cluster, { ...request, row: volume, args: { force: false }, path: {} })
      volumes.push({ ...plan.input, uuid, path: volume['nas.path'] ?? '' })
      locks.push(...(plan.locks ?? []).map(lockOf))
    }
    const input = { 'svm.uuid': row['svm.uuid'], name: row['name'], $old: volumes }
    return { key, input, locks: [`application:${key}`, ...locks] }
  },
  steps: [
    {
      // One after the other: what cannot be deleted stays, and stays a part of the application.
      name: 'remove volumes',
      async run(cluster, work) {
        const volumes = work.input.$old
        for (const [at, volume] of volumes.entries()) {
          const its: Work<OldVolume> = { ...work, key: volume.uuid, input: volume, memo: {} }
          for (const step of removeVolume.steps) await step.run(cluster, its)
          await removeShares(cluster, volume)
          await work.progress((at + 1) / volumes.length, `${at + 1} of ${volumes.length} volumes are removed.`)
        }
      },
    },
    {
      name: 'remove record',
      async run(cluster, { key }) {
        await alone(cluster, [MEMBERS_LOCK], async (cluster) => {
          // It goes with its last volume.
          const application = await cluster.find(APPLICATIONS, key)
          if (application === undefined) return
          await cluster.commit([
            { do: 'remove-record', type: APPLICATIONS, key },
            cluster.event('application.deleted', { application: application['name'] }),
          ])
        })
      },
    },
  ],
})

/** The share that was made with a volume goes after it. */
async function removeShares(cluster: Cluster, { 'svm.uuid': svm, name, path }: OldVolume): Promise<void> {
  const shares = await cluster.rows(CIFS_SHARES, svm)
  if (path === '' || !shares.some((share) => share['name'] === name && share['path'] === path)) return
  await cluster.commit([{ do: 'remove-record', type: CIFS_SHARES, key: `${svm}/${name}` }])
}
