/** Every event the cluster can log: its severity and what it says. Names follow the dotted style of the field. */
export const events = {
  'cluster.started': { severity: 'notice', text: 'The cluster is ready.' },
  'cluster.job.failed': { severity: 'error', text: 'A job failed; its record says why.' },
  'cluster.job.resumed': { severity: 'notice', text: 'A job was resumed after an interruption.' },
  'cluster.worker.restarted': { severity: 'error', text: 'A data-plane process ended and was replaced.' },
  'aggregate.created': { severity: 'notice', text: 'An aggregate was created.' },
  'aggregate.renamed': { severity: 'notice', text: 'An aggregate was renamed.' },
  'aggregate.deleted': { severity: 'notice', text: 'An aggregate was deleted. Its folder is free again.' },
  's3.lifecycle.ended': { severity: 'notice', text: 'Lifecycle rules were applied to all buckets that were due.' },
  's3.lifecycle.removed': { severity: 'informational', text: 'Lifecycle rules removed objects of a bucket.' },
  's3.lifecycle.failed': {
    severity: 'error',
    text: 'Lifecycle rules of a bucket could not be applied; it is tried again.',
  },
  'security.login.failed': { severity: 'notice', text: 'A login failed.' },
  'svm.created': { severity: 'notice', text: 'An SVM was created.' },
  'svm.deleted': { severity: 'notice', text: 'An SVM was deleted.' },
  'volume.created': { severity: 'notice', text: 'A volume was created.' },
  'volume.modified': { severity: 'informational', text: 'A volume was changed.' },
  'volume.restored': { severity: 'notice', text: 'A volume was taken back to a snapshot.' },
  'volume.deleted': { severity: 'notice', text: 'A volume was deleted.' },
  'volume.efficiency.ended': { severity: 'informational', text: 'What a volume holds was stored in less.' },
  'volume.efficiency.failed': {
    severity: 'error',
    text: 'What a volume holds could not be stored in less; the job of the run says why.',
  },
  'volume.autosize.grown': { severity: 'notice', text: 'A volume has grown by itself.' },
  'volume.autosize.shrunk': { severity: 'notice', text: 'A volume has shrunk by itself.' },
  'volume.space.nearly_full': { severity: 'error', text: 'A volume is nearly full.' },
  'volume.space.full': { severity: 'alert', text: 'A volume is full. Delete objects or snapshots, or raise its size.' },
  'volume.space.back': { severity: 'notice', text: 'A volume has space again.' },
  'snapshot.created': { severity: 'informational', text: 'A snapshot was created.' },
  'snapshot.scheduled.skipped': {
    severity: 'error',
    text: 'A scheduled snapshot was not taken: the volume has as many snapshots as it can have.',
  },
  'snapshot.deleted': { severity: 'informational', text: 'A snapshot was deleted.' },
} as const

export type EventName = keyof typeof events
