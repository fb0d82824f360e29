/**
 * How the memory of the whole product is divided: one number, from which the bounds of pools, caches and concurrency of all
 * processes derive. What a process takes by itself is measured, not chosen: its program, compiled, and the heap it needs when
 * it has served a little. The rest is for work, and is dealt out here and nowhere else.
 *
 *     budget ─┬─ main, writer, workers: what each takes by itself
 *             └─ for work ─┬─ 1/8 caches of the catalog: a third of it in the writer, the rest in all that read
 *                          ├─ 1/6 pages of collections, at the management interface
 *                          └─ the rest, to each worker alike ─┬─ 1/4 bodies that wait
 *                                                             ├─ 1/4 bodies on their way to the disk, gathered or not
 *                                                             ├─ 1/8 bodies on their way to clients
 *                                                             └─ the rest: requests, and what nobody holds any more
 */

const KIB = 1024
const MIB = 2 ** 20

/** Proportional set sizes of the second start of two workers, 2026-11-23, and a little. */
const MAIN_MIB = 64
const WRITER_MIB = 24
const WORKER_MIB = 46
/** With less for work a process would be busy with its memory. */
const MAIN_WORK_MIB_MIN = 12
const WRITER_WORK_MIB_MIN = 4
const WORKER_WORK_MIB_MIN = 16

export const MEMORY_MIB_DEFAULT = 400
/** More would not be used. */
export const MEMORY_MIB_MAX = 65_536

/** What SQLite gains from more is too little to be measured. */
const CACHE_MIB_MAX = 64
const CACHE_MIB_MIN = 2
/** What is read from the sockets before anyone asks for it: a read of 64 KiB, or a little more. */
const OPEN_BODY_BYTES = 64 * KIB
/** Stalled clients hold less than `OPEN_BODY_BYTES` each, and must not shut out others. */
const OPEN_BODIES_MIN = 256
/** A piece that was received, and one that is being written. */
const TURN_BYTES = 256 * KIB
const TURNS_MIN = 4
const COLLECT_BYTES_MIN = 2 * MIB
const PAGE_CHARACTERS_MIN = 256 * KIB
const PAGE_CHARACTERS_MAX = 4 * MIB
/** A character of a page takes two bytes in a heap as values, and two as text; and making them leaves as much again. */
const BYTES_OF_PAGE_CHARACTER = 8
const PAGES_AT_ONCE_MIN = 4
const PAGES_AT_ONCE_MAX = 64

/** The least that so many data-plane processes can do with. */
export function memoryMibMin(workers: number): number {
  return MAIN_MIB + MAIN_WORK_MIB_MIN + WRITER_MIB + WRITER_WORK_MIB_MIN + workers * (WORKER_MIB + WORKER_WORK_MIB_MIN)
}

/** As many data-plane processes as fit, and no more than asked for; one at least. */
export function workersWithin(memoryMib: number, workers: number): number {
  const each = WORKER_MIB + WORKER_WORK_MIB_MIN
  return Math.max(1, Math.min(workers, Math.floor((memoryMib - memoryMibMin(0)) / each)))
}

/** What a data-plane process may hold. */
export interface WorkerMemory {
  /** Pages of the catalog that SQLite keeps. */
  readonly cacheKib: number
  /** Pieces of bodies that gather until they are handed on or written together, and that are being written. */
  readonly gatheredBytesMax: number
  /** Bodies whose pieces are taken from the connection at the same time; others wait. */
  readonly turnsMax: number
  /** Bodies, in either direction, count with their size or with `OPEN_BODY_BYTES`. Beyond it clients are asked to slow down. */
  readonly openBytesMax: number
  /** Buffers for pieces of answers. When all are lent, pieces are small. */
  readonly piecesBytesMax: number
  /** After so many bytes of bodies what nobody holds any more of them is looked for. */
  readonly collectEveryBytes: number
  /** With more than so much in buffers after that, old ones are looked for, too. */
  readonly buffersBytesMax: number
}

export interface MemoryShares {
  readonly worker: WorkerMemory
  readonly writerCacheKib: number
  readonly main: {
    readonly cacheKib: number
    /** As `PageBounds`. */
    readonly pages: { readonly charactersMax: number; readonly atOnce: number }
  }
}

/** Divides a budget that is at least `memoryMibMin`. */
export function divideMemory(memoryMib: number, workers: number): MemoryShares {
  const forWork = memoryMib - MAIN_MIB - WRITER_MIB - workers * WORKER_MIB
  const caches = forWork / 8
  const answers = forWork / 6
  const ofWorker = ((forWork - caches - answers) / workers) * MIB
  const cacheKib = cache((caches * 2) / 3 / (workers + 1))
  const pages = pagesWithin(answers * MIB)
  return {
    worker: {
      cacheKib,
      gatheredBytesMax: Math.floor(ofWorker / 8),
      turnsMax: Math.max(TURNS_MIN, Math.floor(ofWorker / 8 / TURN_BYTES)),
      openBytesMax: Math.max(OPEN_BODIES_MIN * OPEN_BODY_BYTES, Math.floor(ofWorker / 2)),
      piecesBytesMax: Math.floor(ofWorker / 8),
      collectEveryBytes: Math.max(COLLECT_BYTES_MIN, Math.floor(ofWorker / 16)),
      buffersBytesMax: Math.floor(ofWorker / 4),
    },
    writerCacheKib: cache(caches / 3),
    main: { cacheKib, pages },
  }
}

function pagesWithin(bytes: number): MemoryShares['main']['pages'] {
  const characters = bytes / BYTES_OF_PAGE_CHARACTER
  const charactersMax = Math.floor(within(PAGE_CHARACTERS_MIN, characters / PAGES_AT_ONCE_MIN, PAGE_CHARACTERS_MAX))
  return { charactersMax, atOnce: Math.floor(within(PAGES_AT_ONCE_MIN, characters / charactersMax, PAGES_AT_ONCE_MAX)) }
}

function cache(mib: number): number {
  return Math.round(within(CACHE_MIB_MIN, mib, CACHE_MIB_MAX) * KIB)
}

function within(least: number, value: number, most: number): number {
  return Math.min(Math.max(least, value), most)
}
