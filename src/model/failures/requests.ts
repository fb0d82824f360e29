/** Failures of requests: addresses, arguments, bodies, fields and records of any type. */
import { errno } from './errno.ts'
import { badArgument, badValue, duplicate, entry, inUse, invalid, malformed, notFound, tooMany } from './forms.ts'

export const requests = {
  apiNotFound: {
    ...entry('not-found', '3', undefined, 'API not found: {path:short}.', 'Check the path against the documentation.', {
      errno: errno.apiNotFound,
    }),
    givens: ['{path:short}'],
  },
  methodUnsupported: {
    ...entry(
      'unsupported',
      '3',
      undefined,
      '{method} is not supported on {path:short}.',
      'Use one of the methods in the header Allow.',
      {},
    ),
    givens: ['{method}', '{path:short}'],
  },
  argumentUnexpected: malformed('{name:short}', 'Unexpected argument "{name:short}".', 'Leave the argument out.', {
    code: '262179',
  }),
  argumentInvalid: badArgument('{field}', '{problem}', 'Correct the value, then repeat the request.'),
  filterLacksValue: badArgument('{field}', '{problem}', 'Give the operator a value.', { code: '262194' }),
  orderByUnfit: badArgument('order_by', '{problem}', 'Name fields that can be sorted by.', { code: '262268' }),
  searchMalformed: badArgument('query', '{problem}', 'Correct the query.', { code: '262272' }),
  fieldInvalid: badValue('{field}', '{problem}', 'Correct the value, then repeat the request.'),
  fieldTakesOne: badValue('{field}', '{problem}', 'Send one value, not a list.', { code: '262255' }),
  fieldRequired: invalid('{field}', 'Field "{field}" is required.', 'Send the field.', { code: '262212' }),
  fieldUnknown: invalid('{field:short}', 'Unexpected argument "{field:short}".', 'Leave the field out.', {
    code: '262179',
  }),
  fieldNotCreatable: invalid('{field}', 'Field "{field}" cannot be set in this operation.', 'Leave the field out.', {
    code: '262196',
  }),
  fieldNotModifiable: invalid('{field}', 'Field "{field}" cannot be set in this operation.', 'Leave the field out.', {
    code: '262203',
  }),
  nothingToApply: invalid(undefined, 'The body names no field to change.', 'Send at least one field.', {
    code: '262190',
  }),
  requestUnreadable: malformed(undefined, '{problem}', 'Send an HTTP request that the interface understands.'),
  tooManyRequests: tooMany('Too many requests are in progress.', 'Repeat the request later.', 1),
  bodyTooDeep: malformed(undefined, 'The body is nested deeper than {max} levels.', 'Nest the body less deeply.'),
  recordNotFound: notFound('{noun}'),
  referenceUnknown: invalid('{field}', 'There is no {noun} "{name}".', 'Name one that exists.', {
    code: '262185',
    errno: errno.objectNotFound,
  }),
  svmUnknown: invalid('{field}', 'There is no {noun} "{name}".', 'Name an SVM that exists.', {
    code: '2621462',
    errno: errno.svmNotFound,
  }),
  aggregateUnknown: invalid('{field}', 'There is no {noun} "{name}".', 'Name an aggregate that exists.', {
    code: '917508',
    errno: errno.aggregateNotFound,
  }),
  volumeUnknown: invalid('{field}', 'There is no {noun} "{name}".', 'Name a volume that exists.', {
    code: '917525',
    errno: errno.objectNotFound,
  }),
  snapshotPolicyUnknown: invalid('{field}', 'There is no {noun} "{name}".', 'Name a snapshot policy that exists.', {
    code: '917551',
    errno: errno.objectNotFound,
  }),
  scopeSvmUnknown: malformed('svm', 'There is no SVM "{name}".', 'Name an SVM that exists in the header.', {
    code: '2621462',
    errno: errno.svmNotFound,
  }),
  scopeHeadersDiffer: malformed(
    'svm',
    'The headers X-Dot-SVM-Name and X-Dot-SVM-UUID name different SVMs.',
    'Send one of the headers.',
    { code: '2621706' },
  ),
  scopeSvmMismatch: malformed(
    'svm',
    'The body and the headers name different SVMs.',
    'Leave the SVM out of the body.',
    { code: '2621706' },
  ),
  clusterLimitReached: invalid(
    undefined,
    'The cluster has {max} {things}, which is the limit.',
    'Delete some of them first.',
  ),
  dataProtected: inUse(
    undefined,
    'Only replication changes what the volume holds.',
    'Change the source of the replication.',
    { code: '1638461' },
  ),
  tooManyTags: badValue('{field}', '{problem}', 'Delete tags first.', { code: '263149' }),
  childrenRemain: inUse(
    undefined,
    'The record still has a {noun}. Delete that first.',
    'Delete the records below it first.',
  ),
  aggregateSizesOverLimit: invalid(
    'size',
    'The sizes of the volumes in the aggregate add up to the limit of 4 EiB. Choose a smaller size, or another aggregate.',
    'Choose a smaller size, or another aggregate.',
  ),
  recordNameTaken: duplicate('A {noun} of that name', '{field}'),
  recordChanged: inUse(
    undefined,
    'The {noun} was changed by another request. Read it again, then repeat.',
    'Read the record again, then repeat the request.',
  ),
  recordNotEmpty: inUse(undefined, 'The {noun} is not empty.', 'Empty it first.'),
  volumeBeingRestored: inUse(
    undefined,
    'The volume is being restored to a snapshot. Try again when that has ended.',
    'Try again when the restore has ended.',
  ),
  volumeMoved: inUse(
    undefined,
    'The volume has been moved to another aggregate. Repeat the request.',
    'Repeat the request.',
  ),
  recordRefuses: invalid(
    undefined,
    'The {noun} does not allow it: {reason}.',
    'Check the state of the record, then repeat the request.',
  ),
  flagMalformed: badArgument('{name}', 'it is neither true nor false.', 'Send true or false.'),
  namedRecordTaken: duplicate('A {noun} named "{name}"', 'name'),
  listLimitReached: invalid(undefined, 'There are {max} of them, which is the limit.', 'Delete some of them first.'),
  objectRefuses: inUse(
    undefined,
    'The object does not allow it: {reason}.',
    'Check the state of the object, then repeat the request.',
  ),
  referenceMismatch: invalid(
    '{field}',
    '"{field}" and "{other}" name different objects.',
    'Send the name or the UUID, or both of one object.',
    { code: '2621706' },
  ),
  referenceIncomplete: badValue(
    '{field}',
    'each element needs a name or a uuid.',
    'Give each element a name or a UUID.',
  ),
  ownerNotFound: invalid(
    '{target}',
    'There is no cluster or SVM "{name}".',
    'Name the cluster or an SVM that exists.',
    { code: '2621706', errno: errno.objectNotFound },
  ),
  svmNotFound: notFound('SVM', 'vserver', { errno: errno.svmNotFound }),
  partNameTaken: duplicate('The {part}', 'name'),
  commandTargetMissing: badArgument(
    'query',
    'name what is to be changed, as in ?vserver=svm1&volume=vol1.',
    'Name in the query the records to change.',
  ),
  bodyNotObject: malformed(undefined, 'The body is not a JSON object.', 'Send a JSON object as the body.'),
  allFieldsRefused: malformed('fields', '"*" is not allowed here. Name the fields.', 'Name the fields.', {
    code: '262220',
  }),
  orderByUnknown: badArgument('order_by', 'nothing can be sorted by "{name}".', 'Name a field of the command.'),
  pageUnknown: badArgument(
    'start',
    'it is not the place of a page. Follow the link to the next one.',
    'Follow the link to the next page.',
  ),
  addressTooLong: badArgument('query', 'the address is too long.', 'Shorten the address.'),
  secretInAddress: malformed(
    undefined,
    'A secret must not be in the address. Send it in the body.',
    'Send the secret in the body.',
    { code: '262202' },
  ),
  addressEscapeInvalid: malformed(
    undefined,
    'The address has an invalid escape.',
    'Escape the address as RFC 3986 says.',
    { code: '39387137' },
  ),
  bodyNotTaken: malformed(
    undefined,
    'A {method} request has no body. Send the arguments in the query.',
    'Send the arguments in the query.',
    { code: '262198' },
  ),
  fieldsInQuery: badArgument(
    '{name}',
    'a write of one object takes its fields in the body, not in the query.',
    'Send the fields in the body.',
    { code: '262211' },
  ),
  writeWithoutFilter: malformed(
    undefined,
    'The query must select records by at least one field.',
    'Name at least one field in the query.',
    { code: '262212' },
  ),
  startUnknown: badArgument(
    'start',
    'it is not a place that a next link gave.',
    'Follow the next link of the page before.',
  ),
  argumentEmpty: badArgument('{name}', 'it lacks a value.', 'Give the argument a value.', { code: '262177' }),
  argumentOutOfBounds: badArgument(
    '{name}',
    'it takes an integer in {min}..{max}.',
    'Send an integer within the bounds.',
  ),
  argumentNotFlag: badArgument('{name}', 'it takes true or false.', 'Send true or false.'),
  tooManyArguments: badArgument('query', 'the query has more than {max} arguments.', 'Send fewer arguments.'),
  bodyMissing: malformed(undefined, 'The body is missing. Send a JSON object.', 'Send a JSON object as the body.'),
  propertyRepeated: malformed('{name}', 'The property "{name}" is given twice.', 'Give the property once.', {
    code: '262282',
  }),
  bodyNotJson: malformed(undefined, 'The body is not valid JSON: {problem}', 'Send valid JSON.'),
  secretInList: invalid(
    'records',
    'A record with a field that is shown only once must be created by a request of its own.',
    'Create the record by a request of its own.',
  ),
  recordNotObject: malformed(undefined, 'A record is not a JSON object.', 'Send a JSON object for each record.'),
  keyMismatch: badValue(
    '{field}',
    'it is another than that of the path.',
    'Leave the field out, or give the value in the path.',
  ),
  jobNotFound: notFound('job', 'job_results_uuid'),
  fieldNeverShown: badArgument('fields', '"{field}" is never shown again.', 'Leave the field out of "fields".', {
    code: '262249',
  }),
  fieldsUnknown: badArgument('fields', '"{field}" is not a field of {noun}.', 'Name fields of the resource.', {
    code: '262197',
  }),
  bracesTooDeep: badArgument('fields', 'braces are nested too deeply.', 'Nest braces less deeply.', { code: '262286' }),
  braceNotOpened: badArgument('fields', 'a closing brace has no opening one.', 'Balance the braces.', {
    code: '262286',
  }),
  braceNotClosed: badArgument('fields', 'an opening brace is not closed.', 'Balance the braces.', { code: '262286' }),
  filterTooLong: badArgument('{argument}', 'it is longer than {max} characters.', 'Shorten the filter.'),
  fieldNotFilterable: badArgument('{name}', 'it is secret and cannot be filtered by.', 'Filter by other fields.', {
    code: '262250',
  }),
  searchWithoutQuery: badArgument(
    'query_fields',
    'say in "query" what to look for.',
    'Say in "query" what to look for.',
    { code: '262274' },
  ),
  searchWithoutFields: badArgument(
    'query',
    'say in "query_fields" where to look, such as *.',
    'Say in "query_fields" where to look, such as *.',
    { code: '262273' },
  ),
  searchFieldUnknown: badArgument(
    'query_fields',
    'it names what is not a field of {noun}.',
    'Name fields of the resource.',
    { code: '262275' },
  ),
  fieldRepeated: malformed('{field}', 'Field "{field}" was given twice.', 'Give the field once.', { code: '262188' }),
  fieldEmpty: badValue('{field}', 'it cannot be empty.', 'Give the field a value.'),
  actionAlone: invalid(
    '{field}',
    '"{field}" cannot be combined with other changes. Send it in a request of its own.',
    'Send the field in a request of its own.',
  ),
} as const
