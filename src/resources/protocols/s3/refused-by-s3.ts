import { failure } from '../../../model/failure.ts'
import { S3Error } from '../../../s3/errors.ts'

/** What the object store refuses is refused here too, with its sentence. */
export function asOfS3(field: string, name: 'bucketSettingUnfit' | 'versioningUnfit', check: () => void): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof S3Error)) throw error
    throw failure(name, { field, problem: error.message })
  }
}
