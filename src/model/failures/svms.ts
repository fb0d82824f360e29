/** Failures of SVMs. */
import { duplicate, inUse, invalid } from './forms.ts'

export const svms = {
  storageLimitExceeded: invalid(
    'size',
    'The SVM "{svm}" has {left} of its storage limit left. Choose a smaller size, or raise the limit.',
    'Choose a smaller size, or raise the limit.',
  ),
  storageLimitTooLow: invalid(
    'storage.limit',
    'The sizes of its volumes add up to {allocated}, which is more.',
    'Choose a larger limit.',
  ),
  svmHasMoreVolumes: inUse(
    undefined,
    'The SVM "{svm}" has {count} volumes and is limited to {max}.',
    'Raise the limit, or delete volumes first.',
  ),
  svmNameTaken: duplicate('An SVM named "{name}"', 'name', { code: '13434908' }),
  svmNotEmpty: inUse(undefined, 'The SVM still has {things}. Delete them first.', 'Delete them first.', {
    code: '2621525',
  }),
  svmVolumesGoing: inUse(
    undefined,
    'The volumes of deleted buckets are still being removed from the SVM. Try again later.',
    'Try again when the volumes have been removed.',
    { code: '2621525' },
  ),
} as const
