/** What is on the disks beside what the catalog says. To be looked at while nobody writes. */
import type { Cluster } from '../../../src/core/cluster.ts'
import { checkBlob } from '../../../src/resources/storage/damage/check-blob.ts'
import type { StoredVolume } from '../../../src/records/rows.ts'
import { placeOf } from '../../../src/storage/tree-of.ts'
import { describe } from '../../../src/core/describe.ts'

const PAGE = 500

async function storedVolumes(cluster: Cluster): Promise<StoredVolume[]> {
  return (
    await Promise.all(
      (['storage/volumes', 'private/cli/volume/recovery-queue'] as const).map((type) => cluster.rows(type)),
    )
  ).flat()
}

/** Reads all blobs that rows need. Sentences about those that are missing or not whole. */
export async function lostBlobs(cluster: Cluster): Promise<string[]> {
  const lost: string[] = []
  for (const row of await storedVolumes(cluster)) {
    const { aggregate, tree } = placeOf(row)
    const volumes = await cluster.volumesOf(aggregate)
    for (let after: string | undefined = ''; after !== undefined;) {
      const page: Awaited<ReturnType<Cluster['catalog']['storedBlobs']>> = await cluster.catalog.storedBlobs(
        row['uuid'],
        after,
        PAGE,
      )
      for (const blob of page.blobs) {
        await checkBlob({ volumes, tree }, blob, () => Promise.resolve()).catch((failure: unknown) => {
          lost.push(`volume ${row['uuid']} lacks ${blob.blob} in ${tree}: ${describe(failure)}`)
        })
      }
      after = page.next
    }
  }
  return lost
}
