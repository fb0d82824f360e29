/** Which volumes applications and consistency groups are made of, and what becomes of these when a volume goes. */
import type { Ground } from '../../core/grounds.ts'
import { belongingChanges } from '../../core/belongings.ts'
import type { Cluster } from '../../core/cluster.ts'
import { unusedSince } from '../../core/within.ts'
import { recordPages } from '../../core/read/record-pages.ts'
import type { RowOf } from '../../model/rows.ts'
import type { Change, StoredRecord } from '../../ports/catalog.ts'
import { EXPORT_POLICIES, isPolicyUsed } from '../protocols/nfs/export-policies.ts'

export const APPLICATIONS = 'application/applications'
export const GROUPS = 'application/consistency-groups'
export const GROUP_SNAPSHOTS = 'application/consistency-groups/{consistency_group.uuid}/snapshots'

/** Held while volumes come to one of them or leave it. */
export const MEMBERS_LOCK: Ground = { lock: 'application-members', types: [APPLICATIONS, GROUPS] }

/** A part of an application as its record keeps it, with the UUIDs of its volumes. */
export type Component = { readonly uuid: string; readonly name: string; readonly volumes: readonly string[] }

declare module '../../model/rows.ts' {
  interface NoteTypes {
    readonly 'application/applications': {
      readonly $components: readonly Component[]
      /** The export policy that was made for it. */
      readonly $exportPolicy?: number
    }
    readonly 'application/consistency-groups': { readonly $volumes: readonly string[] }
  }
}

export type Application = RowOf<typeof APPLICATIONS>
export type Group = RowOf<typeof GROUPS>

export function volumesOfApplication({ $components }: Application): string[] {
  return $components.flatMap(({ volumes }) => volumes)
}

/** The consistency group of a volume, if it is in one. */
export async function groupOf(cluster: Cluster, volume: string): Promise<Group | undefined> {
  return (await cluster.rows(GROUPS)).find(({ $volumes }) => $volumes.includes(volume))
}

/**
 * What follows from a volume that goes: those that it was part of go on without it, and one that has no other goes too.
 * To be committed with `MEMBERS_LOCK` and `EXPORT_POLICIES_LOCK` held.
 */
export async function departureChanges(cluster: Cluster, volume: string): Promise<Change[]> {
  const changes: Change[] = []
  for await (const page of recordPages(cluster.catalog, APPLICATIONS)) {
    for (const record of page) {
      const application = record.body
      if (!volumesOfApplication(application).includes(volume)) continue
      const components = application.$components
        .map(({ uuid, name, volumes }) => ({ uuid, name, volumes: volumes.filter((each) => each !== volume) }))
        .filter(({ volumes }) => volumes.length > 0)
      changes.push(
        ...(components.length === 0
          ? await goneApplication(cluster, record, volume)
          : [cluster.put(APPLICATIONS, { ...application, $components: components }, { expect: record.revision })]),
      )
    }
  }
  for await (const page of recordPages(cluster.catalog, GROUPS)) {
    for (const record of page) {
      const group = record.body
      if (!group.$volumes.includes(volume)) continue
      const left = group.$volumes.filter((uuid) => uuid !== volume)
      changes.push(
        ...(left.length === 0
          ? await goneGroup(cluster, record.key)
          : [cluster.put(GROUPS, { ...group, $volumes: left }, { expect: record.revision })]),
      )
    }
  }
  return changes
}

/** A consistency group is forgotten with what it knows of its snapshots; those of the volumes stay. */
export async function goneGroup(cluster: Cluster, key: string): Promise<Change[]> {
  return [...(await belongingChanges(cluster, GROUPS, key)), { do: 'remove-record', type: GROUPS, key }]
}

/** With an application goes the export policy that was made for it, unless others have taken it up. */
async function goneApplication(cluster: Cluster, record: StoredRecord<Application>, last: string): Promise<Change[]> {
  const policy = record.body.$exportPolicy
  const since = await cluster.catalog.revision()
  const isSpare =
    policy !== undefined &&
    (await cluster.find(EXPORT_POLICIES, String(policy))) !== undefined &&
    !(await isPolicyUsed(cluster, policy, last))
  return [
    ...(isSpare
      ? [
          ...unusedSince(cluster, EXPORT_POLICIES, String(policy), since),
          { do: 'remove-record', type: EXPORT_POLICIES, key: String(policy) } as const,
        ]
      : []),
    { do: 'remove-record', type: APPLICATIONS, key: record.key },
    cluster.event('application.deleted', { application: record.body['name'] }),
  ]
}
