/** Events of buckets and their lifecycle rules. */
import type { EventEntry } from './entry.ts'

/** What lifecycle rules did to the objects they looked at. */
const counts = {
  examined: 'count',
  expired_objects: 'count',
  deleted_versions: 'count',
  deleted_markers: 'count',
  aborted_uploads: 'count',
  kept_locked: 'count',
  kept_changed: 'count',
} as const

export const buckets = {
  's3.lifecycle.ended': {
    severity: 'notice',
    message: 'A lifecycle run applied the rules of all buckets that were due.',
    action: 'None.',
    parameters: { run: 'text', buckets: 'count', failed_buckets: 'count', ...counts },
    trap: 400,
  },
  's3.lifecycle.removed': {
    severity: 'informational',
    message: 'Lifecycle rules removed objects from a bucket.',
    action: 'None.',
    parameters: { bucket: 'text', bucket_name: 'text', ...counts },
    trap: 401,
  },
  's3.lifecycle.failed': {
    severity: 'error',
    message: 'The lifecycle rules of a bucket could not be applied. The cluster retries them in an hour.',
    action: 'Read the log. The rules are tried again in an hour.',
    parameters: { bucket: 'text', bucket_name: 'text' },
    trap: 402,
  },
  'bucket.snapshot.created': {
    severity: 'informational',
    message: 'A snapshot of a bucket was created.',
    action: 'None.',
    parameters: { bucket: 'text', snapshot: 'text' },
    trap: 403,
  },
  'bucket.snapshot.deleted': {
    severity: 'informational',
    message: 'A snapshot of a bucket was deleted.',
    action: 'None.',
    parameters: { bucket: 'text', snapshot: 'text' },
    trap: 404,
  },
  'bucket.snapshot.skipped': {
    severity: 'error',
    message:
      'A scheduled snapshot of a bucket was skipped: the bucket has the maximum number of snapshots, or the name would be too long.',
    action: 'Delete snapshots of the bucket, or shorten the prefix of the schedule.',
    parameters: { bucket: 'text', snapshot: 'text' },
    trap: 405,
  },
  'bucket.restored': {
    severity: 'notice',
    message: 'A bucket, or a part of it, was restored from a snapshot.',
    action: 'None.',
    parameters: { bucket: 'text', snapshot: 'text', path: 'text' },
    trap: 406,
  },
} as const satisfies Readonly<Record<string, EventEntry>>
