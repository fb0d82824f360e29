/** What an operation of the table is: chosen by chance, done to the cluster, and done to the model. */
import type { SimulatedRandom } from '../../../src/engines/simulated/random.ts'
import type { Bucket, Model, Volume } from './model.ts'
import type { Answer, World } from './world.ts'

export interface Operation {
  readonly name: string
  /** How often it is chosen, against the others. */
  readonly weight: number
  /** What has to have been done before, where chance alone would take long to come to it. */
  readonly follows?: readonly string[]
  /** Chooses what it is done to. Nothing where there is nothing it could be done to. */
  choose(model: Model, random: SimulatedRandom): Deed | undefined
}

/**
 * One thing that is done, all of it or nothing unless it has stages. Whatever it needs to know of chance is settled: it may be done to the model
 * before or after it is done to the cluster, and looks up by name what it is about.
 */
export interface Deed {
  /** For the trail of a run that failed. */
  readonly says: string
  act(world: World): Promise<Answer>
  /** The same in the model; throws `Refusal` where the cluster has to refuse. */
  mirror(model: Model, answer: Answer): void
  /** Where it is done by several requests: the model after each of them. What is broken off may have come to any. */
  readonly stages?: (model: Model) => Model[]
  /** What else it may answer when a disk fails, where it says what that means. */
  readonly failsWith?: RegExp
  /** Nobody asked for it: that it failed is no failure, and afterwards it is done once more. */
  readonly isHousekeeping?: boolean
}

/** What the cluster has to answer instead of doing it: the S3 error, or how the status and error of an answer begin. */
export class Refusal extends Error {
  readonly code: string
  constructor(code: string) {
    super(code)
    this.code = code
  }
}

export function refuse(code: string): never {
  throw new Refusal(code)
}

export function oneOf<Item>(random: SimulatedRandom, items: readonly Item[]): Item | undefined {
  return items[random.below(items.length)]
}

/** Buckets that clients reach. */
export function reachable(model: Model): { readonly bucket: Bucket; readonly volume: Volume }[] {
  return model.buckets().filter(({ volume }) => volume.isOnline)
}

export const VOLUMES = '/storage/volumes'

export async function volumePath(world: World, volume: string): Promise<string> {
  return `${VOLUMES}/${await world.volumeUuid(volume)}`
}
