/** The types of the object store's records, where more than one file needs them. */
export const SERVERS = 'protocols/s3/services'
export const BUCKETS = 'protocols/s3/buckets'
export const LIFECYCLE_RUNS = 'protocols/s3/lifecycle-runs'
