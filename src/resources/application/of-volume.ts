/** What a volume says about the application and the consistency group that it is a part of. */
import type { Derivation } from '../../core/behaviour.ts'
import { ofRows } from '../../core/read/of-rows.ts'
import { text, uuid } from '../../model/kinds/index.ts'
import type { Fields } from '../../model/resource.ts'
import type { RowOf } from '../../model/rows.ts'
import type { Volume } from '../../records/rows.ts'
import { APPLICATIONS, GROUPS, volumesOfApplication } from './members.ts'

export const membershipFields = {
  application: { doc: 'The application that the volume belongs to.', isGroup: true },
  'application.name': { doc: 'The application it is a part of. Its name.', kind: text(), isExpensive: true },
  'application.uuid': { doc: 'The application it is a part of. Its UUID.', kind: uuid(), isExpensive: true },
  consistency_group: { doc: 'The consistency group that the volume belongs to.', isGroup: true },
  'consistency_group.name': { doc: 'The consistency group it is in. Its name.', kind: text(), since: '9.10.1' },
  'consistency_group.uuid': { doc: 'The consistency group it is in. Its UUID.', kind: uuid(), since: '9.10.1' },
} as const satisfies Fields

export const membership: readonly Derivation<Volume>[] = [
  holderReading('application', APPLICATIONS, volumesOfApplication),
  holderReading('consistency_group', GROUPS, ({ $volumes }) => $volumes),
]

function holderReading<Type extends typeof APPLICATIONS | typeof GROUPS>(
  base: 'application' | 'consistency_group',
  type: Type,
  volumesOf: (holder: RowOf<Type>) => readonly string[],
): Derivation<Volume> {
  const byVolume = ofRows(
    (all: readonly RowOf<Type>[]) =>
      new Map(all.flatMap((holder) => volumesOf(holder).map((volume) => [volume, holder]))),
  )
  return {
    gives: [base],
    async from(cluster, rows, once) {
      const holders = await once(`volumes of ${type}`, async () => byVolume(await cluster.rows(type)))
      return rows.map((row) => {
        const holder = holders.get(row['uuid'])
        return { [`${base}.name`]: holder?.['name'] ?? null, [`${base}.uuid`]: holder?.['uuid'] ?? null }
      })
    },
  }
}
