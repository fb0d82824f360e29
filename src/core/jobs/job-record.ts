import type { Row } from '../../model/value.ts'

/** The type of the records of jobs. */
export const JOBS = 'cluster/jobs'

export function isActive(job: Row): boolean {
  return job['state'] === 'queued' || job['state'] === 'running' || job['state'] === 'paused'
}
