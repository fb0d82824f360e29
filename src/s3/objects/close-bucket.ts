import type { Change, Commits, ObjectIndex } from '../../ports/catalog.ts'

/** Uploads that one commit aborts. */
const abortsPerCommit = 100

/**
 * Closes a bucket that has no objects, and makes the changes that go along in the same commit. Open uploads go with it, as
 * at Amazon: few programs that empty a bucket know of them. The last of them go in that commit too, so whoever puts an
 * object meanwhile keeps the bucket. Refused `not-empty` where there are rows.
 */
export async function closeBucket(
  {
    catalog,
    prepare,
  }: { readonly catalog: ObjectIndex & Commits; readonly prepare: (changes: readonly Change[]) => Promise<unknown> },
  bucket: string,
  along: readonly Change[],
): Promise<void> {
  for (;;) {
    const uploads = await catalog.uploads(bucket, undefined, abortsPerCommit)
    const aborts = uploads.map(({ upload }): Change => ({ do: 'abort-upload', bucket, upload }))
    const counters = await catalog.bucket(bucket)
    const holdsRows = counters !== undefined && counters.objects + counters.versions > 0
    if (holdsRows || uploads.length < abortsPerCommit) {
      await catalog.commit([...aborts, { do: 'close-bucket', bucket }, ...along])
      return
    }
    await prepare(aborts)
  }
}
