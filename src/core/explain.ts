import { Failure, failures } from '../model/failure.ts'
import { CatalogUnavailable, CommitRefused } from '../ports/catalog.ts'
import { VolumesFailure } from '../ports/volumes.ts'
import { Interrupted } from './verb.ts'

/**
 * What a failure means to who asked: the one place where those of the ports become failures of the management interface.
 * What nobody expected is internal; its cause goes along for the log alone.
 */
export function explainFailure(cause: unknown): Failure {
  if (cause instanceof Failure) return cause
  if (cause instanceof Interrupted) return failures.unavailable('The cluster is stopping.', cause)
  if (cause instanceof CatalogUnavailable) {
    return failures.unavailable(
      'The catalog cannot be reached, so it is not known whether this was done. Look, then repeat the request.',
      cause,
    )
  }
  if (cause instanceof CommitRefused && cause.reason === 'no-space') {
    return failures.catalogFull(cause)
  }
  if (cause instanceof VolumesFailure && cause.reason === 'no-space') {
    return failures.noSpace('The disk of the aggregate has no space left.', cause)
  }
  if (cause instanceof VolumesFailure && cause.reason === 'away') {
    return failures.unavailable('The aggregate is offline: its folder is not there.', cause)
  }
  if (cause instanceof VolumesFailure && cause.reason === 'read-only') {
    return failures.unavailable('The aggregate cannot be written to. Make its disk writable, then try again.', cause)
  }
  return failures.internal(cause)
}
