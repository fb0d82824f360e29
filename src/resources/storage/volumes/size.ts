/** The size of a volume is said in two ways, which mean the same: `size`, and `space.size`, as some tools have it. */
import { failure } from '../../../model/failure.ts'
import type { VolumeDraft } from '../../../records/rows.ts'

const MB = 2 ** 20
export const VOLUME_BYTES_MIN = MB
export const VOLUME_BYTES_MAX = 300 * 2 ** 40

export function withSize(draft: VolumeDraft): VolumeDraft {
  const { 'space.size': said, ...rest } = draft
  if (said === undefined || said === null) return rest
  if (rest['size'] !== undefined && rest['size'] !== said) {
    throw failure('sizesDiffer')
  }
  return { ...rest, size: said }
}
