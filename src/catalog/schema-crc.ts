/** The tables that know the checksums of blobs. */
/** `more`: columns that came later. */
export const arrivals = (more: string) => `
-- Blobs that came to a volume since its move began, and are not copied yet.
CREATE TABLE arrivals (
  volume INTEGER NOT NULL,
  blob TEXT NOT NULL,
  size INTEGER NOT NULL,${more}
  PRIMARY KEY (volume, blob)
) STRICT, WITHOUT ROWID;
`

/** Those that are needed and whose reads are not verified yet: after an upgrade all of them, later none. */
export const BLOBS_WITHOUT_CRC = `
CREATE INDEX blobs_without_crc ON blobs (volume, blob) WHERE crc IS NULL AND refs > 0;
`

/** The checksums of blobs. Rows from before have none. */
export const ADD_CRC = `
ALTER TABLE blobs ADD COLUMN crc INTEGER;
ALTER TABLE arrivals ADD COLUMN crc INTEGER;
${BLOBS_WITHOUT_CRC}`
