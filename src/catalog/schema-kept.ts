/** Tables for what must not be walked over: keys that delete markers hide, and records that only snapshots show. */

export const LISTED_KEYS = `
-- In buckets with versions, keys whose current row is an object: listings jump over the others from one of these to the
-- next. A key that is overwritten stays as it is here.
CREATE TABLE listed_keys (
  bucket INTEGER NOT NULL,
  key BLOB NOT NULL,
  PRIMARY KEY (bucket, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX buckets_unlisted ON buckets (id) WHERE versioning <> 'off' AND listed = 0;
`

export const RECORD_HISTORY = `
-- Records as snapshots of their volume show them, once they were changed or removed: those with born <= epoch < died.
CREATE TABLE record_history (
  volume INTEGER NOT NULL,
  type TEXT NOT NULL,
  key TEXT NOT NULL,
  born INTEGER NOT NULL,
  died INTEGER NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (volume, type, key, born)
) STRICT, WITHOUT ROWID;
CREATE INDEX record_history_by_death ON record_history (volume, died, born);
`

const SNAPSHOTS = "'storage/volumes/{volume.uuid}/snapshots'"
const BUCKET_SNAPSHOTS = "'protocols/s3/services/{svm.uuid}/buckets/{s3_bucket.uuid}/snapshots'"
const BUCKETS = "'protocols/s3/buckets'"

/**
 * Before, the record of a snapshot had those of the buckets in it. They become rows of the history that this snapshot
 * alone sees. Lists of keys are made by the writer, a little at a time.
 */
export const ADD_KEPT = `
ALTER TABLE buckets ADD COLUMN listed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE buckets ADD COLUMN listed_to BLOB;
${LISTED_KEYS}${RECORD_HISTORY}
ALTER TABLE records ADD COLUMN born INTEGER;
INSERT INTO record_history (volume, type, key, born, died, body)
  SELECT s.volume, ${BUCKETS}, b.value ->> '$.uuid', s.epoch, s.epoch + 1, b.value
    FROM records r JOIN volumes v ON v.uuid = r.parent
      JOIN snapshots s ON s.volume = v.id AND s.uuid = r.key, json_each(r.body, '$."$buckets"') b
    WHERE r.type = ${SNAPSHOTS};
UPDATE records SET body = json_remove(body, '$."$buckets"') WHERE type = ${SNAPSHOTS};
UPDATE records SET body = json_remove(body, '$."$bucket"') WHERE type = ${BUCKET_SNAPSHOTS};
UPDATE records SET born = (SELECT epoch FROM volumes v WHERE v.uuid = records.parent) WHERE type = ${BUCKETS};
`
