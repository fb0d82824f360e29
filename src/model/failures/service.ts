/** Failures of the service itself: starting, stopping, disks, seeds and faults on demand. */
import { badValue, full, internal, invalid, unavailable } from './forms.ts'

export const service = {
  catalogDiskFull: full(
    'The disk of the catalog is full. Delete objects or snapshots, then try again.',
    'Delete objects or snapshots, then try again.',
  ),
  internalError: internal('The request could not be carried out. The log has the details.', 'Read the log.'),
  seedingUnavailable: unavailable('Nothing can be seeded here.', 'Seed a cluster that is running.'),
  certificatesUnavailable: unavailable(
    'Certificates cannot be made here.',
    'Make the certificate on a running cluster.',
  ),
  signingRequestsUnavailable: unavailable(
    'Certificates cannot be asked for here.',
    'Make the signing request on a running cluster.',
  ),
  stopping: unavailable('The cluster is stopping.', 'Repeat the request when the cluster has started again.'),
  catalogUnreachable: unavailable(
    'The catalog cannot be reached, so the outcome of the request is unknown. Check the result, then repeat the request.',
    'Check the result, then repeat the request.',
  ),
  aggregateDiskFull: full(
    'The disk of the aggregate has no space left.',
    'Delete objects or snapshots, or enlarge the disk.',
  ),
  aggregateOffline: unavailable(
    'The aggregate is offline: its folder is not there.',
    'Bring the folder of the aggregate back.',
  ),
  aggregateReadOnly: unavailable(
    'The aggregate cannot be written to. Make its disk writable, then try again.',
    'Make the disk of the aggregate writable, then try again.',
  ),
  tooManyFaults: invalid(
    undefined,
    'The cluster has {max} faults, which is the limit. Delete some first.',
    'Delete some faults first.',
  ),
  seedUuidRefused: invalid(
    'uuid',
    '{problem} Leave "uuid" out, or start with --bare.',
    'Leave "uuid" out, or start with --bare.',
  ),
  seedNameAmbiguous: invalid(
    'name',
    'Several records have this name. Name the SVM or the parent, too.',
    'Name the SVM or the parent of the record, too.',
  ),
  seedFieldFixed: invalid(
    '{field}',
    'Field "{field}" of what is there is {value}, and cannot be changed.',
    'Leave the field as it is, or delete the record first.',
  ),
  seedJobTooSlow: unavailable('Its job takes longer than {seconds} s.', 'Look at the job, then seed again.'),
  faultFieldMeaningless: badValue('{field}', 'it means nothing for a fault of type {type}.', 'Leave the field out.'),
} as const
