/** What is told of the files that small objects are stored in together. */
import type { Derivation } from '../../../core/behaviour.ts'
import { bytes, count, time } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import { namesOf, type Row } from '../../../model/value.ts'
import { VolumesFailure, type PackSums } from '../../../ports/volumes.ts'
import type { Aggregate } from '../../../records/rows.ts'

export const packFields = {
  packs: { doc: 'The files that small objects are stored in together.', isGroup: true },
  'packs.files': { doc: 'The number of pack files, in which small objects are stored together.', kind: count() },
  'packs.size': {
    doc: 'Bytes of all pack files, as counted some seconds ago.',
    kind: bytes(),
  },
  'packs.live': {
    doc: 'Bytes of pack files that hold objects, including their labels and checksums.',
    kind: bytes(),
  },
  'packs.dead': {
    doc: 'Bytes of deleted objects in pack files. Compaction frees them when enough of a file is dead.',
    kind: bytes(),
  },
  'packs.compacted_time': {
    doc: 'When pack files were last compacted since the cluster started.',
    kind: time(),
  },
} as const satisfies Fields

export const packReadings: Derivation<Aggregate> = {
  gives: namesOf(packFields),
  from: (cluster, rows) =>
    Promise.all(rows.map(async (row) => ofSums(await sumsOf(() => cluster.engineOf(row).packs())))),
}

function ofSums(sums: PackSums | undefined): Row {
  if (sums === undefined) return {}
  const { files, bytes: size, deadBytes, compactedMs } = sums
  return {
    'packs.files': files,
    'packs.size': size,
    'packs.live': size - deadBytes,
    'packs.dead': deadBytes,
    ...(compactedMs === undefined ? {} : { 'packs.compacted_time': compactedMs }),
  }
}

/** Nothing while its disk is not there. */
async function sumsOf(read: () => Promise<PackSums | undefined>): Promise<PackSums | undefined> {
  try {
    return await read()
  } catch (failure) {
    if (failure instanceof VolumesFailure) return undefined
    throw failure
  }
}
