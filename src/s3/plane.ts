/** What the data plane is made of, and where its connections come in. */
import type { Sparingly } from '../core/time/sparingly.ts'
import type { System } from '../ports/system.ts'
import type { Volumes } from '../ports/volumes.ts'
import type { SigningKeys } from './auth/sigv4.ts'
import type { BucketControl } from './exchange/call.ts'
import type { Counters } from './counters.ts'
import type { ObjectStore } from './objects/store.ts'
import type { FloorMeter } from './qos/floor-meter.ts'
import type { Shaper } from './qos/shaper.ts'
import type { RequestIds } from './exchange/request-ids.ts'
import type { Tenancy } from './tenancy/tenancy.ts'

/** What every answer is made with. */
export interface Plane {
  readonly store: ObjectStore
  readonly system: System
  readonly tenancy: Tenancy
  readonly volumesOf: (aggregate: string) => Promise<Volumes>
  readonly control: BucketControl
  readonly counters: Counters
  /** Charges what requests cost to ceilings that all processes share. */
  readonly shaper: Shaper
  readonly meter: FloorMeter
  readonly signingKeys: SigningKeys
  readonly requestIds: RequestIds
  readonly log: Log
  /** Bounds what failed requests write to the log: a client may repeat one thousands of times. */
  readonly failures: Sparingly
  readonly isDraining: () => boolean
  /** Whether commits can be made, and the addresses that the environment gives are served. */
  readonly isReady: () => Promise<boolean>
}

export interface Log {
  debug(message: string, details?: Readonly<Record<string, unknown>>): void
  info(message: string, details?: Readonly<Record<string, unknown>>): void
  warn(message: string, details?: Readonly<Record<string, unknown>>): void
  error(message: string, details?: Readonly<Record<string, unknown>>): void
}

/** Where a connection came in: which SVM it is for, and which of its servers are served there. */
export interface Endpoint {
  readonly svm: string
  readonly servers: readonly string[]
  /** UUID of the network interface. */
  readonly interface: string
  readonly isClosing: boolean
}
