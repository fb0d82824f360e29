/**
 * Whether records of a type are what the cluster notes of its own work, and not what users keep in it: its jobs, and what
 * is internal to it. They are taken also while the disk of the catalog is full, or nobody could have anything deleted.
 */
export function isOwnWork(type: string): boolean {
  return type === 'cluster/jobs' || type.startsWith('internal/')
}
