/** Failures of jobs, and of requests for many records. */
import { badArgument, inUse, internal, invalid, tooMany, unavailable } from './forms.ts'

export const jobs = {
  jobFailed: internal('The job failed.', 'Read the log.'),
  jobBeingCancelled: inUse('action', 'The job is being cancelled.', 'Wait for the end of the job.', { code: '458776' }),
  jobNotCancellable: inUse(
    'action',
    'The job cannot be cancelled at this point. Wait for its end.',
    'Wait for the end of the job.',
    { code: '458784' },
  ),
  jobPaused: inUse('action', 'The job is paused.', 'Resume or cancel the job.', { code: '458776' }),
  jobNotBegun: inUse('action', 'The job is not running yet.', 'Wait until the job runs.', { code: '458776' }),
  jobNotPausable: inUse('action', 'The job cannot be paused at this point.', 'Wait for the end of the job.', {
    code: '458783',
  }),
  jobNotPaused: inUse('action', 'The job is not paused.', 'Pause the job first.', { code: '458771' }),
  jobEnded: inUse('action', 'The job has ended.', 'Start it again when it is wanted.', { code: '458762' }),
  bulkRecordsOutOfBounds: badArgument('records', 'it takes 1 to {max} records.', 'Send fewer records in each request.'),
  tooManyBulkRecords: tooMany(
    'Too many records of other requests wait. Repeat the request later.',
    'Repeat the request later.',
    10,
  ),
  bulkInterrupted: unavailable(
    'The cluster was started anew before all records were done.',
    'List the records and repeat the request for those that are missing.',
  ),
  fieldShownOnce: invalid(
    '{path}',
    '"{path}" is shown only in the response to a request for one record. Send one request for each record.',
    'Send one request for each record.',
  ),
  jobVerbUnknown: unavailable(
    'Another release started the job, and this release cannot continue it. Check the object of the job.',
    'Check the object of the job, and repeat the request if needed.',
  ),
  jobStepsChanged: unavailable(
    'An earlier release started the job in other steps. Its changes were undone. Repeat the request.',
    'Repeat the request.',
  ),
  jobCancelled: inUse(undefined, 'The job was cancelled.', 'Repeat the request if it is still wanted.', {
    code: '460770',
  }),
  tooManyJobs: tooMany('Too many jobs are active. Repeat the request later.', 'Repeat the request later.', 5),
  tooManyWaiting: tooMany(
    'Too many requests wait for {what}. Repeat the request later.',
    'Repeat the request later.',
    5,
  ),
} as const
