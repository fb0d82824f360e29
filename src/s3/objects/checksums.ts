import type { ObjectChecksum } from '../../ports/catalog.ts'
import { decodeChecksum, findChecksumAlgorithm } from '../checksums/algorithms.ts'
import type { ChecksumAlgorithm } from '../checksums/algorithms.ts'

/** The algorithm of a stored checksum. Rows are written by this code, so another name means damage. */
export function algorithmOf(checksum: Pick<ObjectChecksum, 'algorithm'>): ChecksumAlgorithm {
  const algorithm = findChecksumAlgorithm(checksum.algorithm)
  if (algorithm === undefined) throw new Error(`A stored checksum has the unknown algorithm ${checksum.algorithm}.`)
  return algorithm
}

export function checksumBytes(checksum: ObjectChecksum): Buffer {
  const bytes = decodeChecksum(algorithmOf(checksum), checksum.value)
  if (bytes === undefined) throw new Error(`A stored ${checksum.algorithm} checksum is not base64.`)
  return bytes
}
