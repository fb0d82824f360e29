/** What happens to a cluster without anybody asking: its housekeeping, and the end of its process between two requests. */
import type { Model } from '../model.ts'
import type { Operation } from '../operation.ts'

/** Space that nothing needs any more is given back, whoever held it. */
const tidy: Operation = {
  name: 'housekeeping',
  weight: 8,
  choose: () => ({
    says: 'housekeeping',
    isHousekeeping: true,
    async act(world) {
      await world.housekeeping.round()
      return {}
    },
    mirror: settleAll,
  }),
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

export const cluster: readonly Operation[] = [tidy, end]

export function settleAll(model: Model): void {
  for (const volume of model.volumes.values()) volume.limbo.clear()
}
