/** The rows of the speed table: what is sent, and what has to be there before. */
import type { SpeedOrder, SpeedRequest } from './order.ts'

export interface SpeedRow {
  readonly name: string
  readonly what: string
  readonly clients: number
  /** What is wanted, in the unit of the row. */
  readonly goal?: number
  /** It tells megabytes, not operations. */
  readonly isInMegabytes?: boolean
  /** Bytes of the body of one operation. */
  readonly bodyBytes?: number
  /** Sent before each round, not measured. */
  readonly before?: (from: number) => readonly SpeedRequest[]
  /** Sent once, before the first round. */
  readonly once?: readonly SpeedRequest[]
  /** So many times as many requests at most: what is new each time fills the disk. Unbounded for what only reads. */
  readonly factorMax?: number
  /** `from` is a number from which on none was used. */
  readonly requests: (from: number) => readonly SpeedRequest[]
}

const KIB = 2 ** 10
const MIB = 2 ** 20

export const BUCKET = 'speed'
const LISTED_KEYS = 10_000
const FOLDERS = 1000
const PAGES = 100

const small = { method: 'PUT', target: `/${BUCKET}/4k/{n}`, from: 0, count: 1000, bytes: 4 * KIB } as const
const medium = { method: 'PUT', target: `/${BUCKET}/1m/{n}`, from: 0, count: 64, bytes: MIB } as const
const middle = { method: 'PUT', target: `/${BUCKET}/64k/{n}`, from: 0, count: 200, bytes: 64 * KIB } as const
const listed = { method: 'PUT', target: `/${BUCKET}-list/{n}`, from: 0, count: LISTED_KEYS, bytes: 16 } as const
const large = { method: 'PUT', target: `/${BUCKET}/64m/{n}`, from: 0, count: 4, bytes: 64 * MIB } as const

export const speedRows: readonly SpeedRow[] = [
  {
    name: 'get4k',
    goal: 10000,
    what: 'GET 4 KiB, 16 clients',
    bodyBytes: 4 * KIB,
    clients: 16,
    once: [small],
    requests: () => [{ ...read(small, 'GET'), times: 3 }],
  },
  {
    name: 'head',
    goal: 13000,
    what: 'HEAD, 16 clients',
    clients: 16,
    once: [small],
    requests: () => [{ ...read(small, 'HEAD'), times: 4 }],
  },
  {
    name: 'get1m',
    goal: 1500,
    what: 'GET 1 MiB, 8 clients',
    bodyBytes: MIB,
    clients: 8,
    once: [medium],
    requests: () => [{ ...read(medium, 'GET'), times: 4 }],
  },
  {
    name: 'get64m',
    goal: 2200,
    what: 'GET 64 MiB, 4 clients, MB',
    bodyBytes: 64 * MIB,
    clients: 4,
    isInMegabytes: true,
    once: [large],
    requests: () => [{ ...read(large, 'GET'), times: 3 }],
  },
  {
    name: 'put4k',
    goal: 2700,
    what: 'PUT 4 KiB, 16 clients',
    bodyBytes: 4 * KIB,
    clients: 16,
    factorMax: 6,
    requests: (from) => [{ ...small, target: `/${BUCKET}/new/{n}`, from, count: 1500 }],
  },
  {
    name: 'put1m',
    goal: 250,
    what: 'PUT 1 MiB, 8 clients',
    bodyBytes: MIB,
    clients: 8,
    factorMax: 3,
    requests: (from) => [{ ...medium, target: `/${BUCKET}/new/{n}`, from, count: 100 }],
  },
  {
    name: 'put64m',
    goal: 300,
    what: 'PUT 64 MiB, 4 clients, MB',
    bodyBytes: 64 * MIB,
    clients: 4,
    isInMegabytes: true,
    factorMax: 1,
    requests: () => [{ ...large, times: 2 }],
  },
  {
    name: 'list',
    goal: 800,
    what: 'LIST 1,000 of 10,000, 4 clients',
    clients: 4,
    once: [listed],
    requests: () => [
      {
        method: 'GET',
        target: `/${BUCKET}-list?list-type=2&max-keys=1000&start-after={n}`,
        from: 0,
        count: PAGES,
      },
    ],
  },
  {
    name: 'listdelim',
    goal: 800,
    what: 'LIST with delimiter, 1,000 folders of 10, 4 clients',
    clients: 4,
    once: Array.from({ length: LISTED_KEYS / FOLDERS }, (_, at) => ({
      method: 'PUT',
      target: `/${BUCKET}-folders/{n}/${at}`,
      from: 0,
      count: FOLDERS,
      bytes: 16,
    })),
    requests: () => [
      { method: 'GET', target: `/${BUCKET}-folders?delimiter=%2F&list-type=2&max-keys=1000`, from: 0, count: PAGES },
    ],
  },
  {
    name: 'delete',
    goal: 5000,
    what: 'DELETE, 16 clients',
    clients: 16,
    factorMax: 2,
    before: (from) => [{ ...small, target: `/${BUCKET}/gone/{n}`, from, count: 1500 }],
    requests: (from) => [{ method: 'DELETE', target: `/${BUCKET}/gone/{n}`, from, count: 1500 }],
  },
  {
    name: 'mixed',
    what: 'mixed, 16 clients',
    clients: 16,
    factorMax: 4,
    once: [small, middle, medium, listed],
    before: (from) => [{ ...small, target: `/${BUCKET}/mixed/{n}`, from, count: 400 }],
    requests: (from) => [
      { ...read(small, 'HEAD'), kind: 'HEAD' },
      { ...read(small, 'GET'), kind: 'GET 4 KiB' },
      { ...read(middle, 'GET'), kind: 'GET 64 KiB' },
      { ...read(medium, 'GET'), kind: 'GET 1 MiB' },
      {
        method: 'GET',
        target: `/${BUCKET}-list?list-type=2&max-keys=100&start-after={n}`,
        from: 0,
        count: PAGES,
        kind: 'LIST of 100',
      },
      { ...small, target: `/${BUCKET}/mixed4k/{n}`, from, count: 500, kind: 'PUT 4 KiB' },
      { ...middle, target: `/${BUCKET}/mixed64k/{n}`, from, count: 100, kind: 'PUT 64 KiB' },
      { ...medium, target: `/${BUCKET}/mixed1m/{n}`, from, count: 30, kind: 'PUT 1 MiB' },
      { method: 'DELETE', target: `/${BUCKET}/mixed/{n}`, from, count: 400, kind: 'DELETE' },
    ],
  },
]

export const buckets: readonly SpeedRequest[] = [BUCKET, `${BUCKET}-list`, `${BUCKET}-folders`].map((name) => ({
  method: 'PUT',
  target: `/${name}`,
  from: 0,
  count: 1,
}))

/** How many clients prepare what a row needs. */
export const PREPARING_CLIENTS: SpeedOrder['clients'] = 16

function read(put: SpeedRequest, method: 'GET' | 'HEAD'): SpeedRequest {
  const { target, from, count } = put
  return { method, target, from, count }
}

const rowsNamed = (...names: string[]) => speedRows.filter(({ name }) => names.includes(name))
/** Rows that `--all` measures over TLS too, and with the digest of the body signed. */
export const secureRows = rowsNamed('get4k', 'get64m', 'put4k', 'put64m')
export const signedRows = rowsNamed('put4k', 'put64m')
