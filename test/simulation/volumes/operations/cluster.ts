/** What happens to a cluster without anybody asking: its housekeeping, and the end of its process between two requests. */
import type { Model } from '../model.ts'
import type { Deed, Operation } from '../operation.ts'

/** Space that nothing needs any more is given back, whoever held it. */
const tidy: Operation = { name: 'housekeeping', weight: 5, choose: () => round }

/** There is something to be given back, so there are calls to break. */
const reclaim: Operation = {
  name: 'housekeeping with space to give back',
  weight: 3,
  choose: (model) => ([...model.volumes.values()].some(({ limbo }) => limbo.size > 0) ? round : undefined),
}

const round: Deed = {
  says: 'housekeeping',
  isHousekeeping: true,
  async act(world) {
    await world.housekeeping.round()
    await world.housekeeping.removeTrees()
    return {}
  },
  mirror: settleAll,
}

const end: Operation = {
  name: 'restart',
  weight: 1,
  choose: () => ({
    says: 'end and start again',
    isHousekeeping: true,
    async act(world) {
      world.life.end()
      return await new Promise<never>(() => {})
    },
    mirror: settleAll,
  }),
}

/** What seldom has calls that could be broken, and is broken in random runs alone. */
export const leftToChance: readonly string[] = [tidy.name, reclaim.name, end.name]

export const cluster: readonly Operation[] = [tidy, reclaim, end]

export function settleAll(model: Model): void {
  for (const volume of model.volumes.values()) volume.limbo.clear()
}
