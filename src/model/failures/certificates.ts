/** Failures of certificates. */
import { badValue, duplicate, inUse, invalid } from './forms.ts'

export const certificates = {
  keyStrengthUnfit: invalid(
    'security_strength',
    'Keys of {algorithm} have one of {strengths}.',
    'Choose one of these strengths.',
    { code: '3735741' },
  ),
  subjectPartUnknown: invalid(
    'subject_name',
    '"{part}" is not one of {parts} with a value.',
    'Use these parts alone, each with a value.',
    { code: '3735713' },
  ),
  subjectCountryMalformed: invalid(
    'subject_name',
    'C is a country in two letters.',
    'Give the country in two letters.',
    { code: '3735713' },
  ),
  subjectMailMalformed: invalid(
    'subject_name',
    'emailAddress has printable characters.',
    'Give an address of printable characters.',
    { code: '3735713' },
  ),
  clusterCertificateInUse: inUse(
    undefined,
    'The cluster uses the certificate. Give the cluster another certificate first.',
    'Give the cluster another certificate first.',
  ),
  objectStoreCertificateInUse: inUse(
    undefined,
    'The object store server "{server}" uses the certificate. Give it another certificate first.',
    'Give the object store server another certificate first.',
  ),
  certificateTypeInstalled: invalid(
    'type',
    'A certificate of this type is installed: give public_certificate.',
    'Give public_certificate.',
    { code: '3735622' },
  ),
  certificateFieldAlone: badValue(
    '{field}',
    'it goes with public_certificate.',
    'Give public_certificate, too, or leave the field out.',
  ),
  certificateNameTaken: duplicate('A certificate named "{name}"', 'name'),
  expiryOutOfBounds: badValue(
    'expiry_time',
    'it is not within a day and {max} days from now.',
    'Choose a time within the bounds.',
  ),
  expiryOfInstalled: badValue('expiry_time', 'the certificate says it itself.', 'Leave expiry_time out.'),
  certificateFieldMismatch: badValue('{field}', 'the certificate says {value}.', 'Leave the field out.'),
  certificateMalformed: invalid('{field}', 'It is not a certificate in PEM.', 'Send a certificate in PEM.', {
    code: '52559975',
  }),
  certificateNotYetValid: invalid(
    'public_certificate',
    'The certificate is not valid yet.',
    'Install the certificate when it is valid.',
    { code: '52559972' },
  ),
  certificateExpired: invalid(
    'public_certificate',
    'The certificate has expired.',
    'Send a certificate that has not expired.',
    { code: '52559973' },
  ),
  trustedKeyNeedless: invalid(
    'private_key',
    'A trusted certificate is installed without a private key.',
    'Leave the private key out.',
    { code: '3735618' },
  ),
  trustedChainNeedless: invalid(
    'intermediate_certificates',
    'Install each certificate in a request of its own.',
    'Install each certificate in a request of its own.',
    { code: '3735696' },
  ),
  privateKeyMissing: invalid(
    'private_key',
    'The certificate needs its private key.',
    'Send the private key of the certificate.',
    { code: '3735693' },
  ),
  privateKeyMalformed: invalid(
    'private_key',
    'It is not a private key in PEM without a passphrase.',
    'Send a private key in PEM without a passphrase.',
    { code: '52560123' },
  ),
  privateKeyMismatch: invalid(
    'private_key',
    'It is not the key of the certificate.',
    'Send the private key of the certificate.',
    { code: '52559976' },
  ),
  commonNameMissing: invalid('common_name', 'The certificate has no common name; give one.', 'Give a common name.', {
    code: '3735676',
  }),
} as const
