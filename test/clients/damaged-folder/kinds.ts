/**
 * Every kind of file that a data folder may have, and what its damage comes to. A file that is of no kind fails the test, so
 * whoever adds one says here how its damage is found.
 *
 *     refused   a start ends with one sentence that names the file, and changes nothing
 *     renewed   what it says is made anew, or is known from elsewhere: everything is served as before
 *     offline   its aggregate is offline, the others are served
 *     objects   reads of the objects in it fail, a scrub lists them, all others are served; see `VICTIMS`
 *     unread    only people read it
 */
export type End = 'refused' | 'renewed' | 'offline' | 'objects' | 'unread'

export interface Kind {
  readonly name: string
  /** Of the path within the data folder. */
  readonly path: RegExp
  readonly end: End
  /** What it is swapped with. Files of objects have partners of their own. */
  readonly partner?: string
  /** A file of this kind that is damaged, where it is always at the same place. */
  readonly file?: string
  /** What the sentence says. */
  readonly says?: RegExp
  /** As in `Others`. Pages of SQLite have no checksums: a bit that is flipped in a value is taken for the value. */
  readonly flips?: number
  /** Text in which some bits mean nothing. The rest of it is verified. */
  readonly mayMeanTheSame?: boolean
}

const TREE = '(?:aggr1|aggregate-[0-9a-f-]{36})/volumes/[0-9a-f-]{36}'

export const KINDS: readonly Kind[] = [
  {
    name: 'key',
    path: /^cluster\.key$/,
    end: 'refused',
    file: 'cluster.key',
    partner: 'certificates/server.key',
    says: /cluster\.key|certificates/,
  },
  {
    name: 'certificate',
    path: /^certificates\/server\.crt$/,
    end: 'refused',
    file: 'certificates/server.crt',
    mayMeanTheSame: true,
    partner: 'certificates/server.key',
    says: /certificates/,
  },
  {
    name: 'key of the certificate',
    path: /^certificates\/server\.key$/,
    end: 'refused',
    file: 'certificates/server.key',
    mayMeanTheSame: true,
    partner: 'certificates/server.crt',
    says: /certificates/,
  },
  {
    name: 'catalog',
    path: /^catalog\/catalog\.db$/,
    end: 'refused',
    file: 'catalog/catalog.db',
    partner: 'catalog/catalog.db-mark',
    says: /catalog\.db/,
    flips: 16,
  },
  {
    name: 'log',
    path: /^catalog\/catalog\.db-wal$/,
    end: 'refused',
    file: 'catalog/catalog.db-wal',
    partner: 'catalog/catalog.db-mark',
    says: /catalog\.db/,
  },
  // It proves the log. Without it nothing is refused, and blobs that no row knows are kept for good.
  {
    name: 'mark',
    path: /^catalog\/catalog\.db-mark$/,
    end: 'renewed',
    file: 'catalog/catalog.db-mark',
    partner: 'endpoints.json',
  },
  {
    name: 'shared memory',
    path: /^catalog\/catalog\.db-shm$/,
    end: 'renewed',
    file: 'catalog/catalog.db-shm',
    partner: 'endpoints.json',
  },
  {
    name: 'reserve',
    path: /^catalog\/catalog\.db-reserve$/,
    end: 'renewed',
    file: 'catalog/catalog.db-reserve',
    partner: 'endpoints.json',
  },
  {
    name: 'lock of the catalog',
    path: /^catalog\/catalog\.db\.lock$/,
    end: 'renewed',
    file: 'catalog/catalog.db.lock',
    partner: 'aggr1/spare',
  },
  { name: 'lock', path: /^holdfast\.lock$/, end: 'renewed', file: 'holdfast.lock', partner: 'aggr1/spare' },
  { name: 'addresses', path: /^endpoints\.json$/, end: 'renewed', file: 'endpoints.json', partner: 'holdfast.lock' },
  { name: 'passwords and keys of the first start', path: /^credentials\.env$/, end: 'unread' },
  { name: 'log that was given up', path: /^catalog\/catalog\.db-wal\.damaged-\d+$/, end: 'unread' },
  { name: 'report', path: /^(?:restore|rebuild)-report\.txt$/, end: 'unread' },
  { name: 'label of an aggregate', path: /^(?:aggr1|aggregate-[0-9a-f-]{36})\/aggregate\.json$/, end: 'offline' },
  {
    name: 'age',
    path: /^(?:aggr1|aggregate-[0-9a-f-]{36})\/catalog-age\.json$/,
    end: 'renewed',
    file: 'aggr1/catalog-age.json',
    partner: 'endpoints.json',
  },
  {
    name: 'spare',
    path: /^(?:aggr1|aggregate-[0-9a-f-]{36})\/spare$/,
    end: 'renewed',
    file: 'aggr1/spare',
    partner: 'endpoints.json',
  },
  { name: 'body', path: new RegExp(`^${TREE}/objects/[0-9a-f]{2}/[0-9a-f]{32}$`), end: 'objects' },
  { name: 'pack', path: new RegExp(`^${TREE}/packs/[0-9a-f]{24}(?:\\.[0-9a-f]{12})?$`), end: 'objects' },
  {
    name: 'body set aside',
    path: /^(?:aggr1|aggregate-[0-9a-f-]{36})\/lost-and-found\/(?:unknown|unacknowledged)\/[0-9a-f-]{36}\/[0-9a-f-]{32,39}\.\d+$/,
    end: 'unread',
  },
]

export function kindOf(path: string): Kind | undefined {
  return KINDS.find((kind) => kind.path.test(path))
}

/**
 * What needs the file of an object that is damaged. Each has a key of its own, whose file is the only one that is touched,
 * but for a pack, whose objects are all victims.
 */
export const VICTIMS = ['large', 'compressed', 'part', 'deduplicated', 'kept', 'pack'] as const
export type Victim = (typeof VICTIMS)[number]
