import type { StoredVolume, Volume } from '../records/rows.ts'
import { aggregateOf, type Placed } from './aggregate-of.ts'

/** A tree of blobs in an aggregate, both by UUID. */
export type TreePlace = { readonly aggregate: string; readonly tree: string }

declare module '../model/rows.ts' {
  interface NoteTypes {
    readonly 'storage/volumes': {
      /** Its tree, where that is not of its own name. */
      readonly $tree?: string
      /** Where a move brings it, and where the move before the end of it has it from. */
      readonly $next?: TreePlace
      readonly $before?: TreePlace
      /** The bucket that it was made for, and goes with. */
      readonly $madeFor?: string
      /** A clone: its base was taken for it, and goes with it. */
      readonly $baseTaken?: boolean
      /** Planned with others: what stands before the number in its name. */
      readonly $numbered?: string
    }
  }
}

/** What says where the blobs of a volume are. Volumes in the recovery queue have it too. */
export type InTree = Placed & Pick<Volume, 'uuid' | '$tree'>

/** What says whether a volume is between two places. */
export type InMove = Pick<Volume, '$next' | '$before'>

/**
 * The tree in its aggregate that holds a volume's blobs. A volume begins with one of its own name; a clone shares that of
 * its parent, and a move makes a new one.
 */
export function treeOf(volume: Pick<InTree, 'uuid' | '$tree'>): string {
  return volume.$tree ?? volume['uuid']
}

export function placeOf(volume: InTree): TreePlace {
  return { aggregate: aggregateOf(volume), tree: treeOf(volume) }
}

/** Where a volume that is being moved goes, and is not yet: nobody reads or writes there but who moves it. */
export function nextOf(volume: InMove): TreePlace | undefined {
  return volume.$next
}

/** Where a volume that has just been moved was: what is not in its new place yet is still there. */
export function beforeOf(volume: InMove): TreePlace | undefined {
  return volume.$before
}

/** All trees that may hold something of a volume. */
export function placesOf(volume: StoredVolume): readonly TreePlace[] {
  return [placeOf(volume), nextOf(volume), beforeOf(volume)].filter((place) => place !== undefined)
}
