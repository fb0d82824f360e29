/** Soft limits that are exceeded, as they were told. The key is the volume and the index of the quota. */
export const QUOTA_NOTES = 'internal/quota-notes'
