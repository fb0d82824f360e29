/**
 * The tables of the embedded catalog, and how its file is opened.
 *
 * What decides the shape:
 * - `objects` holds only what is live, so a listing never walks over dead rows. It is clustered by (bucket, key), newest
 *   row first, so a page of keys is one run of neighbouring pages. The versions of a key are in the order of `seq`, and
 *   the first of them is the current one; nothing says so but the order.
 * - What listings show of a row stands before what they do not: SQLite then reads no further, not even the pages that a
 *   long row overflows to. That is why the checksum's algorithm has a column and is not in the JSON of `body`.
 * - `objects_by_version` has only rows written since the bucket has versions, so a bucket without pays nothing for it.
 *   The row of a key from before is the oldest of the key, and is found by that.
 * - `listed_keys` has the keys of buckets with versions that show an object, so a listing jumps over those that delete
 *   markers hide. To overwrite an object changes nothing in it, and buckets without versions have none.
 * - `object_history` holds rows that died while a snapshot saw them. Its index (volume, died, born) lets `reclaim` seek
 *   to exactly the rows that nothing sees any more; (bucket, key, …) serves reads at a snapshot.
 * - `blobs` counts references. `refs` are all rows, `live` those that are not history; so the bytes that only snapshots
 *   hold are those of blobs with live = 0. Blobs that share a file make a group, which is counted in the same way: its
 *   members are the needed blobs in it, and it lives while one of them does.
 * - `volumes` and `buckets` carry their sums. They change in the same transaction as the rows they count.
 * - `aggregates` has the sums of the volumes in each, and `volumes.snapshots` counts. Triggers keep both, so they follow
 *   whatever statement changes a row, in the same transaction.
 * - `quotas` has the sums of qtrees, users and groups, and their limits: quotas.ts.
 * - `samples` is clustered by time first: all that one round writes, rolls up or lets go of are neighbours.
 * - A page of 8 KiB holds rows of up to about 2 KB without overflow pages, which is nearly every object row.
 */
import { DatabaseSync } from 'node:sqlite'
import { OWNER } from './rows.ts'
import { ADD_CRC, arrivals, BLOBS_WITHOUT_CRC } from './schema-crc.ts'
import { ADD_KEPT, LISTED_KEYS, RECORD_HISTORY } from './schema-kept.ts'

export const SCHEMA_VERSION = 8

const APPLICATION_ID = 0x484f4c44 // 'HOLD'
const PAGE_BYTES = 8192
/** Of connections that nobody gave a share of the memory to, such as those of tests and of single commands. */
const CACHE_KIB = 32_768
/** The write-ahead log shrinks back to this after it was larger. */
const LOG_FILE_BYTES_MAX = 64 * 1024 * 1024
/** Readers wait for nothing but recovery after a crash; the writer is alone by its lock. */
const BUSY_MS = 5000

const SAMPLES = `
CREATE TABLE samples (
  step INTEGER NOT NULL,
  block INTEGER NOT NULL,
  row TEXT NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (step, block, row)
) STRICT, WITHOUT ROWID;
`

const owned = (row: string) => `${row}.used - coalesce(${row}.inherited, 0)`
const unused = (row: string) => `max(0, ${row}.size - (${owned(row)}))`

/** To be made when the columns of `volumes` that they are about are there. */
const SUMS = `
CREATE INDEX volumes_by_change ON volumes (changed);

-- Bytes that a clone has from its parent count with that.
CREATE TABLE aggregates (
  uuid TEXT PRIMARY KEY,
  volumes INTEGER NOT NULL,
  size INTEGER NOT NULL,
  used INTEGER NOT NULL,
  promised INTEGER NOT NULL -- of guaranteed volumes, what they do not use yet
) STRICT, WITHOUT ROWID;

-- What every write does.
CREATE TRIGGER volumes_summed AFTER UPDATE OF size, used, inherited ON volumes
  WHEN NEW.aggregate <> '' AND OLD.aggregate = NEW.aggregate AND OLD.guaranteed = NEW.guaranteed
BEGIN
  UPDATE aggregates SET size = size + NEW.size - OLD.size, used = used + ${owned('NEW')} - (${owned('OLD')}),
      promised = promised + NEW.guaranteed * (${unused('NEW')} - ${unused('OLD')})
    WHERE uuid = NEW.aggregate;
END;

CREATE TRIGGER volumes_placed AFTER UPDATE OF aggregate, guaranteed ON volumes
  WHEN OLD.aggregate <> NEW.aggregate OR OLD.guaranteed <> NEW.guaranteed
BEGIN
  UPDATE aggregates SET volumes = volumes - 1, size = size - OLD.size, used = used - (${owned('OLD')}),
      promised = promised - OLD.guaranteed * ${unused('OLD')}
    WHERE uuid = OLD.aggregate;
  INSERT INTO aggregates
    SELECT NEW.aggregate, 1, NEW.size, ${owned('NEW')}, NEW.guaranteed * ${unused('NEW')} WHERE NEW.aggregate <> ''
    ON CONFLICT (uuid) DO UPDATE SET volumes = volumes + 1, size = size + excluded.size, used = used + excluded.used,
      promised = promised + excluded.promised;
  DELETE FROM aggregates WHERE uuid = OLD.aggregate AND volumes = 0;
END;

CREATE TRIGGER snapshots_taken AFTER INSERT ON snapshots WHEN NEW.bucket = 0 BEGIN
  UPDATE volumes SET snapshots = snapshots + 1 WHERE id = NEW.volume;
END;
CREATE TRIGGER snapshots_dropped AFTER DELETE ON snapshots WHEN OLD.bucket = 0 BEGIN
  UPDATE volumes SET snapshots = snapshots - 1 WHERE id = OLD.volume;
END;
`

/** Trees of volumes, what clones inherited, and what is kept for snapshots. */
const ADD_TREES = `
ALTER TABLE volumes ADD COLUMN tree TEXT NOT NULL DEFAULT '';
ALTER TABLE volumes ADD COLUMN moving INTEGER NOT NULL DEFAULT 0;
ALTER TABLE volumes ADD COLUMN read_only INTEGER NOT NULL DEFAULT 0;
ALTER TABLE volumes ADD COLUMN reserve INTEGER NOT NULL DEFAULT 0;
ALTER TABLE volumes ADD COLUMN inherited INTEGER DEFAULT 0;
UPDATE volumes SET tree = coalesce(uuid, '');
CREATE INDEX volumes_by_tree ON volumes (tree);
ALTER TABLE blobs ADD COLUMN inherited INTEGER NOT NULL DEFAULT 0;
`

const BLOB_GROUPS = `
CREATE TABLE blob_groups (
  volume INTEGER NOT NULL,
  name TEXT NOT NULL,
  size INTEGER NOT NULL,
  stored INTEGER NOT NULL,
  members INTEGER NOT NULL, -- blobs of it that rows need
  live INTEGER NOT NULL, -- of these, blobs that rows need that are not history
  PRIMARY KEY (volume, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX blobs_by_digest ON blobs (volume, digest) WHERE digest IS NOT NULL;
`

/** How blobs are stored. */
const ADD_STORED = `
ALTER TABLE volumes ADD COLUMN saved_by_compression INTEGER NOT NULL DEFAULT 0;
ALTER TABLE volumes ADD COLUMN saved_by_dedupe INTEGER NOT NULL DEFAULT 0;
ALTER TABLE blobs ADD COLUMN stored INTEGER;
ALTER TABLE blobs ADD COLUMN grp TEXT;
ALTER TABLE blobs ADD COLUMN digest TEXT;
ALTER TABLE blobs ADD COLUMN tried INTEGER NOT NULL DEFAULT 0;
${BLOB_GROUPS}`

/** The sums of a catalog from before them. Setting where volumes lie makes the trigger add them up. */
const ADD_SUMS = `
ALTER TABLE volumes ADD COLUMN aggregate TEXT NOT NULL DEFAULT '';
ALTER TABLE volumes ADD COLUMN guaranteed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE volumes ADD COLUMN snapshots INTEGER NOT NULL DEFAULT 0;
ALTER TABLE volumes ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
${SUMS}
UPDATE volumes SET changed = id;
UPDATE state SET seq = max(seq, (SELECT coalesce(max(id), 0) FROM volumes));
UPDATE volumes SET snapshots = (SELECT count(*) FROM snapshots s WHERE s.volume = volumes.id AND s.bucket = 0);
UPDATE volumes SET aggregate = r.body ->> '$.aggregates[0].uuid', guaranteed = r.body ->> '$."guarantee.type"' = 'volume'
  FROM records r WHERE r.type = 'storage/volumes' AND r.key = volumes.uuid;
`

const QUOTAS = `
CREATE TABLE quotas (
  id INTEGER PRIMARY KEY,
  volume INTEGER NOT NULL,
  type TEXT NOT NULL,
  tree INTEGER NOT NULL, -- -1: the whole volume, or of type tree all that are not ruled
  target TEXT NOT NULL, -- a user or a group; '': all that are not ruled
  bytes INTEGER NOT NULL DEFAULT 0,
  files INTEGER NOT NULL DEFAULT 0,
  ruled INTEGER NOT NULL DEFAULT 0, -- 1: has limits of its own, be they that there are none
  hard_bytes INTEGER,
  soft_bytes INTEGER,
  hard_files INTEGER,
  soft_files INTEGER
) STRICT;
CREATE UNIQUE INDEX quotas_by_target ON quotas (volume, type, tree, target);
CREATE INDEX quotas_ruled ON quotas (volume) WHERE ruled = 1;
`

/** Of a catalog that has objects already. Their owners are read once. */
const QUOTAS_COUNTED = `
INSERT INTO quotas (volume, type, tree, target, bytes, files)
  WITH held (volume, owner, bytes, files) AS MATERIALIZED (
    SELECT b.volume, ${OWNER}, o.size, 1 - o.marker FROM objects o JOIN buckets b ON b.id = o.bucket
    UNION ALL
    SELECT b.volume, coalesce(u.details ->> '$.owner', ''), u.bytes, 0
      FROM uploads u JOIN buckets b ON b.id = u.bucket
  )
  SELECT volume, 'tree', 0, '', sum(bytes), sum(files) FROM held GROUP BY volume
  UNION ALL
  SELECT volume, 'user', -1, owner, sum(bytes), sum(files) FROM held WHERE owner <> '' GROUP BY volume, owner;
`

const RESTORES = `
-- Ranges of keys that are being taken back to a snapshot, and how far that is.
CREATE TABLE restores (
  bucket INTEGER PRIMARY KEY,
  volume INTEGER NOT NULL,
  epoch INTEGER NOT NULL, -- of the snapshot
  start BLOB NOT NULL, -- the first key
  until BLOB NOT NULL, -- behind the last one
  now INTEGER NOT NULL, -- locks that ended by then hold nothing
  phase TEXT NOT NULL,
  position TEXT NOT NULL, -- where the walk of the phase goes on
  used INTEGER NOT NULL DEFAULT 0, -- by how much the bucket grows by it
  objects INTEGER NOT NULL DEFAULT 0,
  versions INTEGER NOT NULL DEFAULT 0
) STRICT;
`

const SNAPSHOTS_OF_BUCKETS = `
ALTER TABLE snapshots ADD COLUMN bucket INTEGER NOT NULL DEFAULT 0;
CREATE INDEX snapshots_by_bucket ON snapshots (volume, bucket, epoch);
ALTER TABLE dropped_epochs ADD COLUMN bucket INTEGER NOT NULL DEFAULT 0;
ALTER TABLE dropped_epochs ADD COLUMN died INTEGER NOT NULL DEFAULT 0;
ALTER TABLE dropped_epochs ADD COLUMN born INTEGER NOT NULL DEFAULT 0;
ALTER TABLE dropped_epochs ADD COLUMN id INTEGER NOT NULL DEFAULT 0;
`

const TABLES = `
CREATE TABLE state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  revision INTEGER NOT NULL,
  seq INTEGER NOT NULL
) STRICT;
INSERT INTO state VALUES (1, 0, 0);

CREATE TABLE records (
  type TEXT NOT NULL,
  key TEXT NOT NULL,
  parent TEXT NOT NULL,
  revision INTEGER NOT NULL,
  body TEXT NOT NULL,
  born INTEGER, -- the epoch of its volume when it was written; null: snapshots do not show it
  PRIMARY KEY (type, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX records_by_parent ON records (type, parent);

CREATE TABLE uniques (
  scope TEXT NOT NULL,
  value TEXT NOT NULL,
  type TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (scope, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX uniques_by_record ON uniques (type, key);

CREATE TABLE changes (
  revision INTEGER PRIMARY KEY,
  type TEXT NOT NULL,
  key TEXT NOT NULL
) STRICT;

CREATE TABLE volumes (
  id INTEGER PRIMARY KEY,
  uuid TEXT UNIQUE, -- null: closed, its rows are being swept
  tree TEXT NOT NULL, -- what holds the files of its blobs; several volumes may share one
  size INTEGER NOT NULL,
  reserve INTEGER NOT NULL DEFAULT 0, -- of the size: kept for snapshots
  used INTEGER NOT NULL DEFAULT 0,
  snapshot_bytes INTEGER NOT NULL DEFAULT 0,
  epoch INTEGER NOT NULL DEFAULT 1,
  last_snapshot_epoch INTEGER NOT NULL DEFAULT 0,
  restoring INTEGER NOT NULL DEFAULT 0, -- the epoch of the snapshot it is being taken back to
  moves INTEGER NOT NULL DEFAULT 0, -- how often that has moved rows
  saved_by_compression INTEGER NOT NULL DEFAULT 0,
  saved_by_dedupe INTEGER NOT NULL DEFAULT 0,
  read_only INTEGER NOT NULL DEFAULT 0, -- 1: only replication changes it
  moving INTEGER NOT NULL DEFAULT 0, -- 1: blobs that come to it are noted in arrivals
  inherited INTEGER DEFAULT 0, -- bytes of blobs that it has from its parent; null: not told apart any more
  aggregate TEXT NOT NULL DEFAULT '', -- '': in none
  guaranteed INTEGER NOT NULL DEFAULT 0, -- 1: its whole size is promised to it
  snapshots INTEGER NOT NULL DEFAULT 0,
  changed INTEGER NOT NULL DEFAULT 0 -- the seq of the last change of its size or what it holds
) STRICT;
CREATE INDEX volumes_by_tree ON volumes (tree);
CREATE INDEX volumes_restoring ON volumes (restoring) WHERE restoring <> 0;

CREATE TABLE buckets (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL UNIQUE,
  volume INTEGER NOT NULL,
  size_limit INTEGER NOT NULL,
  used INTEGER NOT NULL DEFAULT 0,
  objects INTEGER NOT NULL DEFAULT 0, -- keys whose current row is no delete marker
  versions INTEGER NOT NULL DEFAULT 0, -- all other rows
  versioning TEXT NOT NULL DEFAULT 'off',
  closed INTEGER NOT NULL DEFAULT 0, -- 1: only snapshots still show it
  listed INTEGER NOT NULL DEFAULT 0, -- 1: it has versions, and listed_keys has all of its keys that show an object
  listed_to BLOB -- while it has only some of them: the last key that was looked at
) STRICT;
CREATE INDEX buckets_by_volume ON buckets (volume);

CREATE TABLE objects (
  bucket INTEGER NOT NULL,
  key BLOB NOT NULL,
  seq INTEGER NOT NULL,
  born INTEGER NOT NULL,
  version TEXT NOT NULL,
  versioned INTEGER NOT NULL, -- 1: written since the bucket has versions
  marker INTEGER NOT NULL,
  size INTEGER NOT NULL,
  etag TEXT NOT NULL,
  modified INTEGER NOT NULL,
  algorithm TEXT NOT NULL, -- of the checksum
  composite INTEGER NOT NULL, -- 1: the checksum is one of the parts' checksums
  class TEXT, -- null: the usual storage class
  lock_mode TEXT,
  lock_until INTEGER,
  hold INTEGER,
  checksum TEXT NOT NULL,
  blobs TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (bucket, key, seq DESC)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX objects_by_version ON objects (bucket, key, version) WHERE versioned = 1;

CREATE TABLE object_history (
  id INTEGER PRIMARY KEY,
  volume INTEGER NOT NULL,
  died INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  key BLOB NOT NULL,
  seq INTEGER NOT NULL,
  born INTEGER NOT NULL,
  version TEXT NOT NULL,
  versioned INTEGER NOT NULL, -- 1: written since the bucket has versions
  marker INTEGER NOT NULL,
  size INTEGER NOT NULL,
  etag TEXT NOT NULL,
  modified INTEGER NOT NULL,
  algorithm TEXT NOT NULL, -- of the checksum
  composite INTEGER NOT NULL, -- 1: the checksum is one of the parts' checksums
  class TEXT, -- null: the usual storage class
  lock_mode TEXT,
  lock_until INTEGER,
  hold INTEGER,
  checksum TEXT NOT NULL,
  blobs TEXT NOT NULL,
  body TEXT NOT NULL
) STRICT;
CREATE INDEX object_history_by_death ON object_history (volume, died, born);
CREATE INDEX object_history_by_key ON object_history (bucket, key, seq DESC, born, died, marker);

CREATE TABLE blobs (
  volume INTEGER NOT NULL,
  blob TEXT NOT NULL,
  size INTEGER NOT NULL,
  refs INTEGER NOT NULL,
  live INTEGER NOT NULL,
  freed INTEGER, -- when refs became 0, as a seq
  inherited INTEGER NOT NULL DEFAULT 0, -- 1: came with the clone, from its parent
  stored INTEGER, -- null: as many bytes as its size
  grp TEXT, -- the group it shares a file with; null: it has its own
  digest TEXT, -- null: not known
  tried INTEGER NOT NULL DEFAULT 0, -- 1: compression, 2: deduplication
  crc INTEGER, -- of its bytes; null: not known
  PRIMARY KEY (volume, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX blobs_unneeded ON blobs (volume, freed) WHERE refs = 0;
${BLOBS_WITHOUT_CRC}
${arrivals(' crc INTEGER,')}
CREATE TABLE snapshots (
  volume INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  uuid TEXT NOT NULL,
  created INTEGER NOT NULL,
  bucket INTEGER NOT NULL DEFAULT 0, -- of which alone it is; 0: of the whole volume
  PRIMARY KEY (volume, epoch)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX snapshots_by_uuid ON snapshots (volume, uuid);
CREATE INDEX snapshots_by_bucket ON snapshots (volume, bucket, epoch);

-- Sums of the buckets of a volume when a snapshot was taken, without uploads.
CREATE TABLE snapshot_buckets (
  volume INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  bucket INTEGER NOT NULL,
  used INTEGER NOT NULL,
  objects INTEGER NOT NULL,
  versions INTEGER NOT NULL,
  PRIMARY KEY (volume, epoch, bucket)
) STRICT, WITHOUT ROWID;

-- Epochs of dropped snapshots whose rows are still to be reclaimed, and the last row that was looked at for it.
CREATE TABLE dropped_epochs (
  volume INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  bucket INTEGER NOT NULL DEFAULT 0, -- as in snapshots
  died INTEGER NOT NULL DEFAULT 0,
  born INTEGER NOT NULL DEFAULT 0,
  id INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (volume, epoch)
) STRICT, WITHOUT ROWID;

CREATE TABLE uploads (
  id INTEGER PRIMARY KEY,
  bucket INTEGER NOT NULL,
  key BLOB NOT NULL,
  upload TEXT NOT NULL,
  started INTEGER NOT NULL,
  bytes INTEGER NOT NULL DEFAULT 0,
  details TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX uploads_by_id ON uploads (bucket, upload);
CREATE UNIQUE INDEX uploads_by_key ON uploads (bucket, key, upload);

CREATE TABLE parts (
  upload INTEGER NOT NULL,
  number INTEGER NOT NULL,
  size INTEGER NOT NULL,
  etag TEXT NOT NULL,
  modified INTEGER NOT NULL,
  checksum TEXT NOT NULL,
  blobs TEXT NOT NULL,
  PRIMARY KEY (upload, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE log (
  name TEXT NOT NULL,
  id INTEGER NOT NULL,
  time INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (name, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE counters (
  tbl TEXT NOT NULL,
  row TEXT NOT NULL,
  name TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (tbl, row, name)
) STRICT, WITHOUT ROWID;
${SUMS}${SAMPLES}${QUOTAS}${RESTORES}${BLOB_GROUPS}${LISTED_KEYS}${RECORD_HISTORY}`

/** What leads from a version to the next. */
const STEPS: Readonly<Record<number, string>> = {
  4: SAMPLES,
  5: `${SNAPSHOTS_OF_BUCKETS}${RESTORES}${ADD_TREES}${ADD_STORED}${ADD_SUMS}${QUOTAS}${QUOTAS_COUNTED}${arrivals('')}`,
  6: ADD_KEPT,
  7: ADD_CRC,
}

/** Opens the catalog for its one writer, and makes the tables when they are not there. */
export function openForWriting(file: string, cacheKib = CACHE_KIB): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: BUSY_MS })
  try {
    const version = checkedVersion(db, file)
    if (version === 0) db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA application_id = ${APPLICATION_ID}`)
    db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA journal_size_limit = ${LOG_FILE_BYTES_MAX};
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA cache_size = -${cacheKib};
      PRAGMA temp_store = MEMORY`)
    if (version === 0) db.exec(`BEGIN IMMEDIATE; ${TABLES} PRAGMA user_version = ${SCHEMA_VERSION}; COMMIT`)
    for (let at = version; at > 0 && at < SCHEMA_VERSION; at++) {
      db.exec(`BEGIN IMMEDIATE; ${STEPS[at] ?? ''} PRAGMA user_version = ${at + 1}; COMMIT`)
    }
    return db
  } catch (failure) {
    db.close()
    throw failure
  }
}

/** Opens a catalog that its writer has made. */
export function openForReading(file: string, cacheKib = CACHE_KIB): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS })
  try {
    if (checkedVersion(db, file) === 0)
      throw new Error(`The catalog ${file} has no tables yet. Start its writer first.`)
    db.exec(`PRAGMA query_only = 1; PRAGMA cache_size = -${cacheKib}; PRAGMA temp_store = MEMORY`)
    return db
  } catch (failure) {
    db.close()
    throw failure
  }
}

function checkedVersion(db: DatabaseSync, file: string): number {
  const version = Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
  if (version > SCHEMA_VERSION) {
    throw new Error(
      `The catalog ${file} has version ${version}; this release knows versions up to ${SCHEMA_VERSION}. ` +
        'Start the release that wrote it, or a newer one.',
    )
  }
  if (version > 0 && version < SCHEMA_VERSION && STEPS[version] === undefined) {
    throw new Error(
      `The catalog ${file} has version ${version}, from before the first release, and nothing leads from there to ` +
        `version ${SCHEMA_VERSION}. Copy what it holds with the build that wrote it, then start in an empty folder.`,
    )
  }
  return version
}
