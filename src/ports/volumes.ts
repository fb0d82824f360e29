/**
 * Blobs of the volumes of one aggregate. The bytes of a blob are written once under its final unique name, never changed,
 * read any number of times, unlinked at last. Only how they are stored may change: `compress` and `share` put another
 * file with the same bytes in the place of the first, at once and for good. Which blobs matter is the catalog's knowledge.
 *
 *     <aggregate>/volumes/<volume-uuid>/objects/<2 hex>/<blob-id>
 *     <aggregate>/volumes/<volume-uuid>/packs/<pack>                 many small blobs, each named by where it is
 */
export interface Volumes {
  /** Where it is, as administrators know it: a path of the machine. */
  readonly place: string

  /**
   * Takes the place for an aggregate, and makes it when it is not there. Refused `exists` when it holds anything else, is
   * another aggregate's, or lies within one of the places `apartFrom` or around it. Durable on return. Repeating it
   * changes nothing. An interrupted call leaves nothing but perhaps empty folders.
   *
   * With `adopts` the place is one that was used before places were claimed: its trees stay. Refused `away` when it is not
   * there.
   */
  claim(aggregate: string, apartFrom: readonly string[], how?: { readonly adopts: boolean }): Promise<void>

  /**
   * Gives back a place that has no trees any more: as it was before `claim`, but for blobs set aside that somebody may have
   * been answered for. Repeating it is fine.
   */
  release(aggregate: string): Promise<void>

  /** The path of the file that holds a blob, as administrators find it. It need not be there. */
  fileOf(volume: string, blob: string): string

  /** Makes an empty tree. Durable on return. Repeating it changes nothing. */
  create(volume: string): Promise<void>

  /**
   * Removes a tree with all its blobs. Repeating it, also after an interruption, ends with nothing left. Refused `away`
   * while the place is not there.
   */
  remove(volume: string): Promise<void>

  /** The trees that are there, in no order. */
  list(): Promise<readonly string[]>

  /**
   * Begins a blob. Refused `exists` when the name was used, `missing` without the tree. Leaves nothing when it fails.
   * The name that counts is the one that `commit` gives: with `packs`, a small blob is stored with others in one file and
   * named by its place there. Names that were given so are kept by who copies such a blob to another tree.
   */
  write(volume: string, blob: string, how?: WriteHow): Promise<BlobWriter>

  /**
   * Opens a blob for reading. `missing` when it is not there, `damaged` when it is not what is expected: the file of
   * another blob, or an older copy.
   */
  open(volume: string, blob: string, expected?: ExpectedBlob): Promise<BlobReader>

  /**
   * Stores a blob in less than it is, where that can be, and tells the bytes that it is stored in. Who has it open reads on.
   * Durable on return; repeating it changes nothing; an interrupted call leaves the blob as it was or as it will be.
   */
  compress(volume: string, blob: string, manner?: Manner): Promise<number>

  /**
   * Stores a blob in the same place as its twin when both have the same bytes, so that the space of one is free. The label
   * is the twin's then. Otherwise as `compress`. Blobs in packs have no place that others could share: `unable`.
   */
  share(volume: string, blob: string, twin: string, manner?: Manner): Promise<Sharing>

  /**
   * Writes the file of a blob anew, in the present format, with bytes read from its own file or from that of a twin: what
   * is damaged, missing or of an earlier format is sound then. Refused `damaged` where these are not the bytes that are
   * expected. It is stored in less where the other is. Otherwise as `compress`.
   */
  rewrite(volume: string, blob: string, from: BlobReader, as: Rewriting, manner?: Manner): Promise<Committed>

  /** Removes a blob. Removing what is not there is fine. */
  unlink(volume: string, blob: string): Promise<void>

  /**
   * Takes a blob that no row knows out of its tree, and keeps it elsewhere in the place of the aggregate under a name that
   * tells what it was. One that is not there is fine: `false`.
   */
  setAside(volume: string, blob: string, found: Found): Promise<boolean>

  /** Removes blobs set aside before that time that nobody was answered for. Gives their number. The others are kept. */
  removeSetAside(beforeMs: number): Promise<number>

  /**
   * All blobs of a volume, in no order, also those being written. What interrupted calls of `compress` and `share` left is
   * removed on the way; the calls of other engines over the same storage may fail by it. Files of many blobs are read for
   * it: with `between`, that is awaited again and again, with the bytes read since; its failure ends the listing.
   */
  blobs(volume: string, manner?: Pick<Manner, 'between'>): AsyncIterable<string>

  /** Another process unlinked these: the next `compact` looks at their packs. It is no harm to say so twice, or of others. */
  noteUnlinked(volume: string, blobs: readonly string[]): void

  /**
   * Gives the space back of blobs in packs that were unlinked, where they are so much of a pack that it is worth it. Who
   * reads, writes or unlinks meanwhile does not notice; an interrupted call leaves everything readable, and the next one
   * goes on. One process of all that have the storage open may call it.
   */
  compact(volume: string, manner: CompactManner): Promise<Compacted>

  /** What all packs come to, as of a count not long ago; nothing before the first one. Only who compacts knows what is dead. */
  packs(): Promise<PackSums | undefined>

  /** The space of the disk that the aggregate is on. */
  space(): Promise<DiskSpace>

  /** Lets go of all files, when what was begun has ended. Nobody may write any more. */
  close(): Promise<void>
}

export interface WriteHow {
  /** It is stored in less than it is, where that can be. */
  readonly compress?: boolean
  /** How long it will be, at most. Needed for blobs in packs. */
  readonly sizeBytes?: number
  /** It need not have a file of its own, and so will not share one with a twin, or take less of the disk later. */
  readonly packs?: boolean
}

export interface CompactManner {
  /** The part of a pack that nothing needs any more from which on the rest is copied, in 0..1. */
  readonly deadShare: number
  /** Looks at all packs, as after a start, and not only at those of which something was unlinked since then. */
  readonly all?: boolean
  /**
   * Names of blobs that are needed and begin so, each once, in any order. Nothing is dropped that holds one of them, and
   * one that is not there is told of. Without it, what is unlinked is all that is known.
   */
  readonly needed?: (beginning: string) => AsyncIterable<string>
  /** As in `Manner`. */
  readonly between?: (bytes: number) => Promise<void>
}

export interface Compacted {
  readonly freedBytes: number
  /** What is damaged in packs, up to a bound. Such packs stay as they are, until nobody needs what was there. */
  readonly damaged: readonly DamagedPlace[]
  /** Marks and headers that were damaged without harm to a blob: such packs are written anew. */
  readonly misread: number
  /** Files of damaged bytes that nobody needs and that were moved to lost-and-found. */
  readonly setAside: number
  /** Packs that cannot be copied yet, because somebody may still append to them. */
  readonly waiting: number
}

export interface PackSums {
  /** Files of packs, and their bytes. */
  readonly files: number
  readonly bytes: number
  /** Those that nothing needs, as far as is known. */
  readonly deadBytes: number
  /** When space was given back last, if it was since the engine was opened. */
  readonly compactedMs?: number
}

/** A blob that is needed and of which nothing sound is there; or bytes that are none, named as a blob in their place. */
export interface DamagedPlace {
  readonly blob: string
  readonly isNeeded: boolean
}

/** When a blob without a row was found, and whether it is proven that nobody was answered for it. */
export interface Found {
  readonly nowMs: number
  readonly isUnacknowledged: boolean
}

/** How a long call goes about its work. A failure of either ends the call, which has then changed nothing. */
export interface Manner {
  /** Awaited again and again, with the bytes looked at since: the place to wait, so that others have their turn. */
  readonly between?: (bytes: number) => Promise<void>
  /**
   * Awaited before another file takes the place of the blob's. Whoever unlinks blobs meanwhile is to be kept from it: the
   * file would be there again, and nobody would know of it.
   */
  readonly beforePlacing?: () => Promise<void>
}

/** What a file that is written anew has to be. At least one of the two digests proves it. */
export interface Rewriting {
  readonly label: Uint8Array
  readonly crc?: number
  /** Hex MD5 of the bytes. */
  readonly md5?: string
}

/** `unable`: the disk cannot have it so, or one file of it cannot stand for more blobs. */
export type Sharing = 'shared' | 'different' | 'unable'

export interface DiskSpace {
  /** The same for aggregates that lie on one file system, and so have the same bytes to give. */
  readonly disk: string
  readonly sizeBytes: number
  readonly usedBytes: number
  readonly availableBytes: number
  /** The bytes in which it counts. */
  readonly blockBytes: number
  /** Files that it can have; 0 where there is no such limit. */
  readonly filesMax: number
  readonly filesUsed: number
}

export interface BlobWriter {
  /**
   * Appends bytes. Waits while the disk is behind. The chunk is the blob's from then on: nobody may change it before `spent`
   * was called, which may be never.
   */
  write(chunk: Uint8Array, spent?: () => void): Promise<void>
  /**
   * Ends the blob: durable on return, with its name. The label (at most 32 KiB) is kept with the blob, apart from its
   * bytes, so that a lost index can be rebuilt from the files.
   */
  commit(label: Uint8Array): Promise<Committed>
  /** Gives up: nothing of it is left. Does nothing after `commit`. */
  abort(): Promise<void>
}

/** What a blob came to. */
export interface Committed {
  /** Its name from now on, which need not be the one that it was begun with. */
  readonly blob: string
  /** The bytes that it is stored in, label and checksums apart. */
  readonly storedBytes: number
  /** The CRC-32 of its bytes, however they are stored. */
  readonly crc: number
}

/** What the catalog says of a blob. */
export interface ExpectedBlob {
  readonly sizeBytes: number
  /** The CRC-32 of its bytes. Missing for blobs from before it was kept. */
  readonly crc?: number
}

export interface BlobReader {
  /** Bytes of the blob itself, without its label. */
  readonly sizeBytes: number
  /** The CRC-32 of all its bytes. Missing in files of earlier releases, of which reads are not verified. */
  readonly crc?: number
  /** Those that it is stored in: fewer when it is compressed. */
  readonly storedBytes: number
  label(): Promise<Uint8Array>
  /**
   * Reads `length` bytes from `start`, and verifies all checksums of them. Fails `damaged` where one does not fit. The
   * bytes may be put `into` a buffer of the caller, where it has room for all blocks that they touch; the result is then a
   * part of it. After a failure that buffer may still be written to.
   */
  read(start: number, length: number, into?: Buffer): Promise<Buffer>
  close(): Promise<void>
}

/**
 * `away`: the place of the aggregate is not there, as when its disk is not mounted. What it holds is not lost.
 * `read-only`: it may not be written to, as when its disk was mounted so after an error.
 */
export type VolumesReason = 'exists' | 'missing' | 'away' | 'no-space' | 'read-only' | 'damaged' | 'io'

/**
 * How a file is damaged. `flipped`: a checksum does not fit. `truncated`: its end is not there. `misplaced`: it is whole,
 * but that of another blob, or an older copy.
 */
export type FileDamage = 'flipped' | 'truncated' | 'misplaced'

export class VolumesFailure extends Error {
  readonly reason: VolumesReason
  /** Set when the reason is `damaged`. */
  readonly damage?: FileDamage
  constructor(reason: VolumesReason, message: string, options?: ErrorOptions & { readonly damage?: FileDamage }) {
    super(message, options)
    this.name = 'VolumesFailure'
    this.reason = reason
    if (options?.damage !== undefined) this.damage = options.damage
  }
}
