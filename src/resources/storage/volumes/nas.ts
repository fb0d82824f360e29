/** How a volume is to be seen by clients of files: kept until there is file access, and where qtrees have their paths. */
import type { Cluster } from '../../../core/cluster.ts'
import { failure } from '../../../model/failure.ts'
import { count, oneOf, text } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import type { Volume, VolumeDraft } from '../../../records/rows.ts'

export const EXPORT_POLICY = 'nas.export_policy' as const

const PATH = 'nas.path'
const ID_MAX = 2 ** 32 - 1

export const nasFields = {
  [PATH]: {
    doc: 'The path in the SVM at which the volume is mounted, such as `/projects`. Empty: the volume is not mounted.',
    kind: text({
      charactersMax: 255,
      pattern: /^(?:(?:\/(?!\.{1,2}(?:\/|$))[^/]+)+)?$/,
      patternDoc: 'a path that begins with "/" and ends without one, or nothing',
    }),
    set: 'always',
  },
  nas: { doc: 'The volume as NFS and SMB clients see it.', isGroup: true },
  'nas.security_style': {
    doc: 'Which permissions protect the files of the volume. Stored for file access.',
    kind: oneOf({
      unix: 'UNIX permissions.',
      ntfs: 'NTFS permissions.',
      mixed: 'The permissions that were set last.',
      unified: 'UNIX and NTFS permissions together.',
    }),
    set: 'always',
  },
  'nas.unix_permissions': {
    doc: 'The permissions of the top folder of the volume, as octal digits such as 755. Stored for file access.',
    kind: count({ min: 0, max: 7777 }),
    set: 'always',
  },
  'nas.uid': {
    doc: 'The user ID of the owner of the top folder of the volume.',
    kind: count({ min: 0, max: ID_MAX }),
    set: 'always',
  },
  'nas.gid': {
    doc: 'The group ID of the top folder of the volume.',
    kind: count({ min: 0, max: ID_MAX }),
    set: 'always',
  },
} as const satisfies Fields

/** What a volume has of this where nothing is said: as its parent, if it has one. No two are in the same place. */
export function usualNas(parent: Volume | undefined): VolumeDraft {
  return {
    'nas.security_style': parent?.['nas.security_style'] ?? 'unix',
    'nas.unix_permissions': parent?.['nas.unix_permissions'] ?? 755,
    'nas.uid': parent?.['nas.uid'] ?? 0,
    'nas.gid': parent?.['nas.gid'] ?? 0,
  }
}

/** A volume that is mounted nowhere has no path. */
export function withPath(volume: Volume): Volume {
  const { [PATH]: path, ...rest } = volume
  return path === '' ? rest : volume
}

/** To be called with a lock held under which no other volume gets a path. */
export async function insistOnPath(cluster: Cluster, volume: Volume): Promise<void> {
  const path = volume[PATH] ?? ''
  if (path === '') return
  const others = await cluster.rows('storage/volumes', volume['svm.uuid'])
  const holder = others.find((other) => other[PATH] === path && other['uuid'] !== volume['uuid'])
  if (holder === undefined) return
  throw failure('mountPathTaken', { volume: holder['name'], path })
}
