/**
 * Held while files of a volume's unneeded blobs are removed, while another file takes the place of one of its blobs, and
 * while it is switched from one tree to another.
 */
export const blobsLock = (volume: string): string => `volume-blobs:${volume}`
