import type { BlobRef, StoredBlob } from './rows.ts'

/** Blobs of volumes: which are needed, which came lately, and how they are stored. */
export interface BlobIndex {
  /**
   * Blobs that no row needs any more, of this volume nor of another that shares its tree, oldest first. They are to be
   * unlinked, then dropped with `drop-blobs`. Those that were given up come first.
   */
  unneededBlobs(volume: string, limit: number): Promise<readonly string[]>

  /** Those of the unneeded blobs that were given up with `give-up-blobs`: their files are kept, elsewhere. */
  givenUpBlobs(volume: string, limit: number): Promise<readonly string[]>

  /**
   * Which of these blobs the index knows, needed or not, of all volumes that share the tree of this one. With `trees`: of
   * this volume, and of all that have one of these.
   */
  knownBlobs(volume: string, blobs: readonly string[], trees?: readonly string[]): Promise<ReadonlySet<string>>

  /** Blobs that a volume knows, needed or not, in the order of their names, after the one named. */
  blobs(volume: string, after: string, limit: number): Promise<readonly BlobRef[]>

  /** Blobs that came to a volume since its move began, and that were not dropped from the list, in the order of names. */
  arrivals(volume: string, limit: number): Promise<readonly BlobRef[]>

  /** Needed blobs after a name, in the order of names. A page may end before its limit; `next` tells whether there is more. */
  storedBlobs(
    volume: string,
    after: string,
    limit: number,
  ): Promise<{ readonly blobs: readonly StoredBlob[]; readonly next?: string }>

  /** How a blob is stored that some row needs; nothing of others. */
  storedBlob(volume: string, blob: string): Promise<StoredBlob | undefined>

  /** How many needed blobs of all volumes have no checksum yet, as files of earlier releases; counted up to a million. */
  unverifiedBlobs(): Promise<number>

  /** Needed blobs with this digest and size, those with the last names first; or only those of one group. */
  twins(
    volume: string,
    of: { readonly digest: string; readonly sizeBytes: number; readonly group?: string },
    limit: number,
  ): Promise<readonly StoredBlob[]>
}
