import type { Plane } from '../plane.ts'
import { s3Error } from '../errors.ts'
import { objectBytesDefault } from '../../records/object-servers.ts'
import { VolumePlace } from '../objects/place.ts'
import type { OpenBucket } from '../objects/store.ts'
import { findRow } from '../tenancy/stored-rows.ts'
import { readVolume, recordTypes } from '../tenancy/records.ts'
import type { Bucket } from '../tenancy/records.ts'
import type { TenancyView } from '../tenancy/tenancy.ts'

/** A bucket with the place of its volume. Fails where that is not online. Whoever has it lets go of its place. */
export async function openBucket(
  plane: Pick<Plane, 'volumesOf' | 'store'>,
  view: TenancyView,
  record: Bucket,
): Promise<OpenBucket> {
  const volume = await view.volume(record.volume)
  if (volume === undefined || !volume.isOnline) {
    throw s3Error('ServiceUnavailable', { message: 'The volume of the bucket is not online.' })
  }
  const place = new VolumePlace({
    volume: record.volume,
    known: volume.here,
    volumesOf: plane.volumesOf,
    readingFrom: (aggregate) => view.readingEngine(aggregate, plane.volumesOf),
    trees: plane.store.trees,
    async look() {
      const found = await findRow(plane.store.catalog, recordTypes.volumes, record.volume)
      return found === undefined ? undefined : readVolume(found)
    },
  })
  const { uuid, name, svm, createdMs, versioning, settings } = record
  const server = (await view.servers(svm)).find((one) => one.uuid === record.server)
  const objectBytesMax = server?.objectBytesMax ?? objectBytesDefault
  const isDamaged = await view.damaged(record.volume)
  return {
    uuid,
    name,
    svm,
    volume: record.volume,
    place,
    createdMs,
    objectBytesMax,
    versioning,
    settings,
    mayPack: volume.mayPack,
    hasQuotas: volume.hasQuotas,
    ...(isDamaged === undefined ? {} : { isDamaged }),
    ...(volume.storing === undefined ? {} : { storing: volume.storing }),
    ...(volume.growsToBytes === undefined ? {} : { growsToBytes: volume.growsToBytes }),
    ...(record.snapshot === undefined ? {} : { at: record.snapshot.at }),
  }
}
