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
 * - `object_history` holds rows that died while a snapshot saw them. Its index (volume, died, born) lets `reclaim` seek
 *   to exactly the rows that nothing sees any more; (bucket, key, …) serves reads at a snapshot.
 * - `blobs` counts references. `refs` are all rows, `live` those that are not history; so the bytes that only snapshots
 *   hold are those of blobs with live = 0. Blobs that share a file make a group, which is counted in the same way: its
 *   members are the needed blobs in it, and it lives while one of them does.
 * - `volumes` and `buckets` carry their sums. They change in the same transaction as the rows they count.
 * - `samples` is clustered by time first: all that one round writes, rolls up or lets go of are neighbours.
 * - A page of 8 KiB holds rows of up to about 2 KB without overflow pages, which is nearly every object row.
 */
import { DatabaseSync } from 'node:sqlite'

export const SCHEMA_VERSION = 6

const APPLICATION_ID = 0x484f4c44 // 'HOLD'
const PAGE_BYTES = 8192
const WRITER_CACHE_KIB = 65_536
const READER_CACHE_KIB = 32_768
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
  size INTEGER NOT NULL,
  used INTEGER NOT NULL DEFAULT 0,
  snapshot_bytes INTEGER NOT NULL DEFAULT 0,
  epoch INTEGER NOT NULL DEFAULT 1,
  last_snapshot_epoch INTEGER NOT NULL DEFAULT 0,
  restoring INTEGER NOT NULL DEFAULT 0, -- the epoch of the snapshot it is being taken back to
  moves INTEGER NOT NULL DEFAULT 0, -- how often that has moved rows
  saved_by_compression INTEGER NOT NULL DEFAULT 0,
  saved_by_dedupe INTEGER NOT NULL DEFAULT 0
) STRICT;
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
  closed INTEGER NOT NULL DEFAULT 0 -- 1: only snapshots still show it
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
  stored INTEGER, -- null: as many bytes as its size
  grp TEXT, -- the group it shares a file with; null: it has its own
  digest TEXT, -- null: not known
  tried INTEGER NOT NULL DEFAULT 0, -- 1: compression, 2: deduplication
  PRIMARY KEY (volume, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX blobs_unneeded ON blobs (volume, freed) WHERE refs = 0;

CREATE TABLE snapshots (
  volume INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  uuid TEXT NOT NULL,
  created INTEGER NOT NULL,
  PRIMARY KEY (volume, epoch)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX snapshots_by_uuid ON snapshots (volume, uuid);

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

-- Epochs of dropped snapshots whose rows are still to be reclaimed.
CREATE TABLE dropped_epochs (
  volume INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
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
${SAMPLES}${BLOB_GROUPS}`

/** What leads from a version to the next. */
const STEPS: Readonly<Record<number, string>> = {
  4: SAMPLES,
  5: `
    ALTER TABLE volumes ADD COLUMN saved_by_compression INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE volumes ADD COLUMN saved_by_dedupe INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE blobs ADD COLUMN stored INTEGER;
    ALTER TABLE blobs ADD COLUMN grp TEXT;
    ALTER TABLE blobs ADD COLUMN digest TEXT;
    ALTER TABLE blobs ADD COLUMN tried INTEGER NOT NULL DEFAULT 0;
    ${BLOB_GROUPS}`,
}

/** Opens the catalog for its one writer, and makes the tables when they are not there. */
export function openForWriting(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { timeout: BUSY_MS })
  try {
    const version = checkedVersion(db, file)
    if (version === 0) db.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA application_id = ${APPLICATION_ID}`)
    db.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA journal_size_limit = ${LOG_FILE_BYTES_MAX};
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA cache_size = -${WRITER_CACHE_KIB};
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
export function openForReading(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS })
  try {
    if (checkedVersion(db, file) === 0)
      throw new Error(`The catalog ${file} has no tables yet. Start its writer first.`)
    db.exec(`PRAGMA query_only = 1; PRAGMA cache_size = -${READER_CACHE_KIB}; PRAGMA temp_store = MEMORY`)
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
