import type { Catalog, SnapshotAt } from '../../ports/catalog.ts'
import type { System } from '../../ports/system.ts'
import type { BucketSettings } from '../tenancy/bucket-settings.ts'
import type { VersioningState } from '../config/versioning.ts'
import type { TellDamage } from './damage.ts'
import type { Grow } from './growth.ts'
import type { PieceBuffers } from './piece-buffers.ts'
import type { Pins } from './pins.ts'
import type { VolumePlace } from './place.ts'
import type { TreeUses } from './tree-uses.ts'
import type { Storing } from './storing.ts'
import type { Transfers } from '../body/transfers.ts'

/** What the functions of this folder work with. */
export interface ObjectStore {
  readonly catalog: Catalog
  readonly system: System
  readonly pins: Pins
  readonly buffers: PieceBuffers
  /** For pieces of bodies that come. */
  readonly bodyBuffers: PieceBuffers
  readonly transfers: Transfers
  readonly trees: TreeUses
  readonly grow: Grow
  /** Told of a blob that a read found damaged or missing. */
  readonly tellDamage: TellDamage
  /** Counts that a body of a volume was compressed, and whether it became smaller. */
  readonly countCompression: (volume: string, isSmaller: boolean) => void
}

/** A bucket with the volume it lives in and the place of the volume's blobs. */
export interface OpenBucket {
  readonly uuid: string
  readonly name: string
  readonly svm: string
  readonly volume: string
  /** Where the volume's blobs are. */
  readonly place: VolumePlace
  /** The size up to which the volume grows by itself, if it does. */
  readonly growsToBytes?: number
  readonly storing?: Storing
  /** Small blobs may be stored together. */
  readonly mayPack: boolean
  /** Quotas of the volume are on. */
  readonly hasQuotas: boolean
  /** Tells which blobs of the volume are known to be damaged. Missing where none are. */
  readonly isDamaged?: IsDamaged
  readonly createdMs: number
  /** The most bytes an object in it may have, also when it comes in parts. */
  readonly objectBytesMax: number
  readonly versioning: VersioningState
  readonly settings: BucketSettings
  /** Present where it is shown as a snapshot has it. */
  readonly at?: SnapshotAt
}

/** Whether a blob is known to be damaged. */
export type IsDamaged = (blob: string) => Promise<boolean>
