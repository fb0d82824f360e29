/** The snapshots that show a bucket: those of its volume. */
import type { Cluster } from '../../../core/cluster.ts'
import { failures } from '../../../model/failure.ts'
import { type Row, textAt } from '../../../model/value.ts'
import { SNAPSHOTS } from '../../storage/volumes/snapshot-changes.ts'

export async function findSnapshot(
  cluster: Cluster,
  bucket: Row,
  { name, uuid }: { readonly name?: string | undefined; readonly uuid?: string | undefined },
): Promise<string> {
  const volume = textAt(bucket, 'volume.uuid')
  const key = uuid ?? (await cluster.keyOfName(SNAPSHOTS, name ?? '', volume))
  const row = key === undefined ? undefined : await cluster.find(SNAPSHOTS, key)
  if (row?.['volume.uuid'] !== volume || (name !== undefined && row['name'] !== name)) {
    throw failures.invalid('restore_to.snapshot.name', 'The bucket has no such snapshot.', 524487)
  }
  return textAt(row, 'uuid')
}
