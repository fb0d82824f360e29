/** Numbers that clients of the XML interface decide by, where the REST interface has a code. Names are the field's. */
export const errno = {
  apiError: 13001,
  authentication: 13002,
  privilege: 13003,
  apiNotFound: 13005,
  volumeOffline: 13042,
  internal: 13114,
  invalidInput: 13115,
  duplicate: 13130,
  volumeNotClone: 13170,
  aggregateNotFound: 14420,
  objectNotFound: 15661,
  svmNotFound: 15698,
} as const
