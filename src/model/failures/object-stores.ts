/** Failures of object store servers, their users and policies. */
import { errno } from './errno.ts'
import { badValue, duplicate, inUse, invalid, notFound } from './forms.ts'

export const objectStores = {
  objectStoreNameTaken: duplicate('An object store server named "{name}"', 'name', { code: '92405853' }),
  objectStoreTaken: inUse(
    'svm.uuid',
    'The SVM has an object store server, and release {release} allows {max}.',
    'Use the server that there is, or another SVM.',
    { code: '92405853' },
  ),
  objectStoreNotFound: notFound('object store server'),
  dataVolumeInUse: inUse(
    'data_volumes',
    'Bucket "{bucket}" lives in a volume that would no longer be a data volume.',
    'Keep the volume as a data volume, or delete the bucket first.',
  ),
  objectStoreHasBuckets: inUse(
    undefined,
    'The object store server has buckets. Delete them first.',
    'Delete the buckets first.',
    { code: '92405864' },
  ),
  objectStorePolicyUnknown: badValue(
    'policy.name',
    'the SVM has no object store policy "{name}".',
    'Name an object store policy of the SVM.',
    { errno: errno.objectNotFound },
  ),
  objectStoreCertificateUnfit: invalid(
    'certificate',
    'The certificate must have the type "server" and belong to the SVM or the cluster.',
    'Name a certificate of the type "server", of the SVM or of the cluster.',
  ),
  dataVolumeTwice: invalid('data_volumes', 'A volume is named twice.', 'Name each volume once.', { code: '262222' }),
  dataVolumeOfOtherSvm: invalid('{field}', 'A volume belongs to another SVM.', 'Name volumes of the SVM.'),
  rootVolumeTaken: invalid(
    '{field}',
    'Volume "{volume}" is the root volume of another object store server.',
    'Choose another volume.',
  ),
  rootVolumeAsDataVolume: invalid(
    'data_volumes',
    'The root volume cannot be a data volume too.',
    'Choose another root volume.',
  ),
  rootVolumeUnfit: invalid(
    'root_volume',
    'The root volume must be empty and used by nothing else.',
    'Choose an empty volume that nothing else uses.',
  ),
  groupMemberUnknown: badValue('{field}', 'the SVM has no {noun} "{name}".', 'Name one of the SVM.', {
    errno: errno.objectNotFound,
  }),
  objectStorePolicyReadOnly: inUse('name', 'The policy is read-only.', 'Make a policy of your own.', {
    code: '92405963',
  }),
  accessKeyIncomplete: invalid(
    'secret_key',
    'Give both access_key and secret_key, or neither.',
    'Give both keys, or neither.',
    { code: '92406201' },
  ),
  accessKeyTaken: duplicate('A user with that access key', 'access_key', { code: '92406200' }),
  accessKeyConflict: invalid(
    'delete_keys',
    'Either regenerate_keys or delete_keys, not both.',
    'Send regenerate_keys or delete_keys, not both.',
  ),
  accessKeyLifetimeAlone: invalid(
    'key_time_to_live',
    'The time to live applies to new keys only. Send it with regenerate_keys.',
    'Send the time with regenerate_keys.',
  ),
  objectStoreUserNotFound: notFound('object store user', 'name'),
  objectStoreUserTaken: duplicate('A user of that name', 'name', { code: '92405817' }),
} as const
