/** Amazon S3 User Guide, "Multipart upload limits". */
const requestBytesMax = 5 * 2 ** 30

/** What one request can bring or copy. What is larger and still allowed comes in parts. */
export function requestBytesMaxOf({ objectBytesMax }: { readonly objectBytesMax: number }): number {
  return Math.min(objectBytesMax, requestBytesMax)
}

/** Amazon S3 User Guide, "Multipart upload limits". The last part may be smaller. */
export const partBytesMin = 5 * 2 ** 20
export const partsMax = 10_000

/** What is read from a blob at a time. Two of these are in memory for each answer: one being sent, one being read. */
export const readBytes = 256 * 1024
