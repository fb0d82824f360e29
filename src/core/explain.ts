import { Failure, failure } from '../model/failure.ts'
import { CatalogUnavailable, CommitRefused } from '../ports/catalog.ts'
import { VolumesFailure } from '../ports/volumes.ts'
import { Interrupted } from './verb.ts'

/**
 * What a failure means to who asked: the one place where those of the ports become failures of the management interface.
 * What nobody expected is internal; its cause goes along for the log alone.
 */
export function explainFailure(cause: unknown): Failure {
  if (cause instanceof Failure) return cause
  if (cause instanceof Interrupted) return failure('stopping', {}, { cause })
  if (cause instanceof CatalogUnavailable) {
    return failure('catalogUnreachable', {}, { cause })
  }
  if (cause instanceof CommitRefused && cause.reason === 'no-space') {
    return failure('catalogDiskFull', {}, { cause })
  }
  if (cause instanceof VolumesFailure && cause.reason === 'no-space') {
    return failure('aggregateDiskFull', {}, { cause })
  }
  if (cause instanceof VolumesFailure && cause.reason === 'away') {
    return failure('aggregateOffline', {}, { cause })
  }
  if (cause instanceof VolumesFailure && cause.reason === 'read-only') {
    return failure('aggregateReadOnly', {}, { cause })
  }
  return failure('internalError', {}, { cause })
}
