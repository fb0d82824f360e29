import { VolumesFailure } from '../../ports/volumes.ts'

/** What a failed call of the file system means to those who use volumes. */
export function volumesFailure(failure: unknown, what: string): VolumesFailure {
  if (failure instanceof VolumesFailure) return failure
  const options = { cause: failure }
  switch (codeOf(failure)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new VolumesFailure('no-space', `${what}: no space is left.`, options)
    case 'EROFS':
    case 'EACCES':
    case 'EPERM':
      return new VolumesFailure('read-only', `${what}: it may not be written to.`, options)
    case 'ENOENT':
      return new VolumesFailure('missing', `${what}: it is not there.`, options)
    case 'EEXIST':
      return new VolumesFailure('exists', `${what}: it is there already.`, options)
    default:
      return new VolumesFailure(
        'io',
        `${what}: ${failure instanceof Error ? failure.message : String(failure)}`,
        options,
      )
  }
}

export function codeOf(failure: unknown): string {
  return failure instanceof Error && 'code' in failure && typeof failure.code === 'string' ? failure.code : ''
}
