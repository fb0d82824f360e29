/**
 * Every kind of file that a data folder may have, and what its damage comes to. A file that is of no kind fails the test, so
 * whoever adds one says here how its damage is found.
 *
 *     refused   a start ends with one sentence that names the file, and changes nothing
 *     renewed   what it says is made anew, or is known from elsewhere: everything is served as before
 *     offline   its aggregate is offline, the others are served
 *     objects   reads of the objects in it fail, a scrub lists them, all others are served; see `VICTIMS`
 *     unread    only people read it
 *     left      of something that was interrupted half-done, or was moved aside: everything is served, whatever it holds
 */
export type End = 'refused' | 'renewed' | 'offline' | 'objects' | 'unread' | 'left'

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
  /** Of what is left: it goes soon, as nothing would ever take its place. */
  readonly goes?: boolean
  /** Text in which some bits mean nothing. The rest of it is verified. */
  readonly mayMeanTheSame?: boolean
}

const AGGREGATE = '(?:aggr1|aggregate-[0-9a-f-]{36})'
const TREE = `${AGGREGATE}/volumes/[0-9a-f-]{36}`

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

/** What is left of something interrupted, where it is made by `damaged-folder/left.ts`. */
export const LEFT: readonly Kind[] = [
  { name: 'key on its way in', path: /^cluster\.key\.new$/, end: 'left' },
  { name: 'certificate on its way in', path: /^certificates\.new\/server\.(?:crt|key)$/, end: 'left' },
  { name: 'addresses on their way in', path: /^endpoints\.json\.new$/, end: 'left', goes: true },
  { name: 'passwords on their way in', path: /^credentials\.env\.new$/, end: 'left' },
  { name: 'report on its way in', path: /^(?:restore|rebuild)-report\.txt\.new$/, end: 'left' },
  { name: 'reserve on its way in', path: /^catalog\/catalog\.db-reserve\.new$/, end: 'left', goes: true },
  { name: 'label on its way in', path: new RegExp(`^${AGGREGATE}/aggregate\\.json\\.new$`), end: 'left' },
  { name: 'age on its way in', path: new RegExp(`^${AGGREGATE}/catalog-age\\.json\\.new$`), end: 'left', goes: true },
  { name: 'spare on its way in', path: new RegExp(`^${AGGREGATE}/spare\\.new$`), end: 'left' },
  {
    name: 'body about to take the place of one with the same bytes',
    path: new RegExp(`^${TREE}/objects/[0-9a-f]{2}/[0-9a-f]{32}\\.[0-9a-f]{16}$`),
    end: 'left',
    goes: true,
  },
  {
    name: 'pack that was being compacted',
    path: new RegExp(`^${TREE}/packs/[0-9a-f]{24}\\.[0-9a-f]{12}\\.new$`),
    end: 'left',
    goes: true,
  },
  {
    name: 'body of a volume on its way out',
    path: new RegExp(`^${AGGREGATE}/removing/[0-9a-zA-Z-]+\\.\\d+/objects/[0-9a-f]{2}/[0-9a-f]{32}$`),
    end: 'left',
    goes: true,
  },
  {
    name: 'pack of a volume on its way out',
    path: new RegExp(`^${AGGREGATE}/removing/[0-9a-zA-Z-]+\\.\\d+/packs/[0-9a-f]{24}(?:\\.[0-9a-f]{12})?$`),
    end: 'left',
    goes: true,
  },
  { name: 'file that a restore moved aside', path: /^replaced-\d+\/.+$/, end: 'left' },
  { name: 'file of a restore that was interrupted', path: /^restoring\/.+$/, end: 'left' },
]

export function kindOf(path: string): Kind | undefined {
  return [...KINDS, ...LEFT].find((kind) => kind.path.test(path))
}

/**
 * What needs the file of an object that is damaged. Each has a key of its own, whose file is the only one that is touched,
 * but for a pack, whose objects are all victims.
 */
export const VICTIMS = ['large', 'compressed', 'part', 'deduplicated', 'kept', 'pack'] as const
export type Victim = (typeof VICTIMS)[number]
