/**
 * The most bytes an object may have, where its server says nothing else (the specification, section 8). A multipart upload
 * does not raise it, but a server may be told to take more in parts.
 */
export const objectBytesDefault = 5 * 2 ** 30
