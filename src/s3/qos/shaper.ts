import type { FloorSample } from '../../core/qos/floors.ts'
import type { Charged } from '../../core/qos/ledger.ts'
import { QosLedger } from '../../core/qos/ledger.ts'
import type { Cost } from '../../core/qos/limiters.ts'
import type { Clock } from '../../ports/system.ts'

/** What all data-plane processes share to shape their traffic. */
export interface Shaper {
  /** Charges a cost, and tells how long to wait. Nothing: longer than `waitMsMax`, and nothing was charged. */
  charge(charged: Charged, cost: Cost, waitMsMax: number): Promise<number | undefined>
  /** Whether requests are to be charged that have no ceiling, for the sake of floors. */
  isHoldingBack(): boolean
  report(samples: readonly FloorSample[]): void
}

/** For a process that is the only one. */
export function ownShaper(clock: Clock): Shaper {
  const ledger = new QosLedger(clock)
  return {
    charge: (charged, cost, waitMsMax) => Promise.resolve(ledger.charge(charged, cost, waitMsMax)),
    isHoldingBack: () => ledger.isHoldingBack,
    report: (samples) => ledger.report(0, samples),
  }
}
