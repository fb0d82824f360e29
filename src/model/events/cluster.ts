/** Events of the cluster, its jobs, backups and logins. */
import type { EventEntry } from './entry.ts'

export const cluster = {
  'cluster.started': {
    severity: 'notice',
    message: 'The cluster is ready.',
    action: 'None.',
    parameters: { release: 'text' },
    trap: 100,
  },
  'cluster.job.failed': {
    severity: 'error',
    message: 'A job failed. The record of the job names the cause.',
    action: "Read the job's record, then repeat the request.",
    parameters: { job: 'text', message: 'text' },
    trap: 101,
  },
  'cluster.job.left': {
    severity: 'error',
    message:
      'A job could not continue. The cluster retries it every minute and after a restart; the log names the cause.',
    action: 'Read the log. The job is tried again every minute.',
    parameters: { job: 'text' },
    trap: 102,
  },
  'cluster.job.resumed': {
    severity: 'notice',
    message: 'A job was resumed after an interruption.',
    action: 'None.',
    parameters: { job: 'text' },
    trap: 103,
  },
  'cluster.worker.restarted': {
    severity: 'error',
    message: 'A data-plane process ended unexpectedly and was replaced.',
    action: 'Read the log when it happens again.',
    parameters: {},
    trap: 104,
  },
  'cluster.blobs.set_aside': {
    severity: 'error',
    message: 'Files that no object needs were moved to the folder lost-and-found of their aggregate.',
    action: 'Look into lost-and-found, and delete the files when nothing is missing.',
    parameters: { blobs: 'count', volumes: 'count', proven: 'flag' },
    trap: 105,
  },
  'cluster.loss.accepted': {
    severity: 'alert',
    message: 'The cluster was started without the commits in the damaged part of the catalog log.',
    action: 'Compare what clients wrote last with what the cluster has.',
    parameters: {},
    trap: 106,
  },
  'cluster.backup.made': {
    severity: 'notice',
    message: 'A scheduled backup of the catalog, keys and configuration was completed.',
    action: 'None.',
    parameters: { folder: 'text' },
    trap: 107,
  },
  'cluster.backup.failed': {
    severity: 'error',
    message: 'A scheduled backup failed. It is retried within an hour; the event names the cause.',
    action: 'Remove the cause. The backup is retried within an hour.',
    parameters: { reason: 'text' },
    trap: 108,
    clearedBy: 'cluster.backup.made',
  },
  'cluster.fault.begun': {
    severity: 'notice',
    message: 'Fault injection started: affected requests or jobs fail on purpose.',
    action: 'Delete the fault when the test is over.',
    parameters: { fault: 'text', type: 'text', method: 'text', path: 'text' },
    trap: 109,
    clearedBy: 'cluster.fault.ended',
  },
  'cluster.fault.ended': {
    severity: 'notice',
    message: 'Fault injection ended.',
    action: 'None.',
    parameters: { fault: 'text', type: 'text', method: 'text', path: 'text' },
    trap: 110,
  },
  'security.login.failed': {
    severity: 'notice',
    message: 'A login failed.',
    action: 'Check who tries to log in when there are many.',
    parameters: { from: 'text', count: 'count' },
    trap: 111,
  },
} as const satisfies Readonly<Record<string, EventEntry>>
