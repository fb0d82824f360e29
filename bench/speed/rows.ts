/** The rows of the speed table: what is sent, and what has to be there before. */
import type { SpeedOrder, SpeedRequest } from './order.ts'

export interface SpeedRow {
  readonly name: string
  readonly what: string
  readonly clients: number
  /** Bytes of one operation, where the row is about megabytes. */
  readonly bytes?: number
  /** Sent before each round, not measured. */
  readonly before?: (from: number) => readonly SpeedRequest[]
  /** Sent once, before the first round. */
  readonly once?: readonly SpeedRequest[]
  /** `from` is a number from which on none was used. */
  readonly requests: (from: number) => readonly SpeedRequest[]
}

const KIB = 2 ** 10
const MIB = 2 ** 20

export const BUCKET = 'speed'
const LISTED_KEYS = 10_000
const FOLDERS = 1000
const PAGES = 300

const small = { method: 'PUT', target: `/${BUCKET}/4k/{n}`, from: 0, count: 1000, bytes: 4 * KIB } as const
const medium = { method: 'PUT', target: `/${BUCKET}/1m/{n}`, from: 0, count: 64, bytes: MIB } as const
const large = { method: 'PUT', target: `/${BUCKET}/64m/{n}`, from: 0, count: 4, bytes: 64 * MIB } as const

export const speedRows: readonly SpeedRow[] = [
  {
    name: 'get4k',
    what: 'GET 4 KiB, 16 clients',
    clients: 16,
    once: [small],
    requests: () => [{ ...read(small, 'GET'), times: 3 }],
  },
  {
    name: 'head',
    what: 'HEAD, 16 clients',
    clients: 16,
    once: [small],
    requests: () => [{ ...read(small, 'HEAD'), times: 4 }],
  },
  {
    name: 'get1m',
    what: 'GET 1 MiB, 8 clients',
    clients: 8,
    once: [medium],
    requests: () => [{ ...read(medium, 'GET'), times: 4 }],
  },
  {
    name: 'get64m',
    what: 'GET 64 MiB, 4 clients, MB',
    clients: 4,
    bytes: 64 * MIB,
    once: [large],
    requests: () => [{ ...read(large, 'GET'), times: 3 }],
  },
  {
    name: 'put4k',
    what: 'PUT 4 KiB, 16 clients',
    clients: 16,
    requests: (from) => [{ ...small, target: `/${BUCKET}/new/{n}`, from, count: 1500 }],
  },
  {
    name: 'put1m',
    what: 'PUT 1 MiB, 8 clients',
    clients: 8,
    requests: (from) => [{ ...medium, target: `/${BUCKET}/new/{n}`, from, count: 100 }],
  },
  {
    name: 'put64m',
    what: 'PUT 64 MiB, 4 clients, MB',
    clients: 4,
    bytes: 64 * MIB,
    requests: () => [{ ...large, times: 2 }],
  },
  {
    name: 'list',
    what: 'LIST 1,000 of 10,000, 4 clients',
    clients: 4,
    once: [{ method: 'PUT', target: `/${BUCKET}-list/{n}`, from: 0, count: LISTED_KEYS, bytes: 16 }],
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
    what: 'DELETE, 16 clients',
    clients: 16,
    before: (from) => [{ ...small, target: `/${BUCKET}/gone/{n}`, from, count: 1500 }],
    requests: (from) => [{ method: 'DELETE', target: `/${BUCKET}/gone/{n}`, from, count: 1500 }],
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
