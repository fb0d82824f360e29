import type { Cluster } from '../../../core/cluster.ts'
import { isLoss, type FoundDamage } from '../../../storage/damage.ts'
import type { TellPackDamage } from '../../../storage/pack-damage.ts'
import { nameLosses } from '../scrub/name-losses.ts'

/** Passes on the damage that compaction meets, with the names of the objects that have it. */
export function namingPackDamage(cluster: Cluster, report: (found: FoundDamage) => void): TellPackDamage {
  return async (volume, { aggregate, tree }, found) => {
    const losses = found.filter(({ kind }) => isLoss(kind))
    const files = { volumes: await cluster.volumesOf(aggregate), tree }
    for (const one of await nameLosses(cluster, volume, files, losses)) report(one)
    for (const one of found) if (!isLoss(one.kind)) report(one)
  }
}
