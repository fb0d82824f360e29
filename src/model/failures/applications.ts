/** Failures of applications and consistency groups. */
import { errno } from './errno.ts'
import { duplicate, inUse, invalid, notFound } from './forms.ts'

export const applications = {
  applicationBeingMade: duplicate('An application named "{name}", still being made,', 'name'),
  exportPolicyTaken: duplicate('An export policy named "{name}"', 'name'),
  applicationNameTaken: duplicate('An application named "{name}"', 'name'),
  groupWithoutVolumes: invalid('volumes', 'A consistency group needs a volume.', 'Name at least one volume.', {
    code: '53411864',
  }),
  groupNotFound: notFound('consistency group', 'uuid'),
  groupNameTaken: duplicate('A consistency group named "{name}"', 'name', { code: '53411852' }),
  memberOffline: inUse(undefined, '{volume} is offline.', 'Bring the volume online.', {
    code: '524479',
    errno: errno.volumeOffline,
  }),
  memberSnapshotTaken: duplicate('{volume} has a snapshot of that name. Such a snapshot', 'name', { code: '53411921' }),
  memberSnapshotLimit: invalid(
    undefined,
    '{volume} has {max} snapshots, which is the limit.',
    'Delete snapshots of the volume first.',
    { code: '525062' },
  ),
  groupSnapshotTaken: duplicate('A snapshot of the group named "{name}"', 'name', { code: '53411921' }),
  memberVolumeNotFound: invalid('volumes.name', 'There is no volume "{name}".', 'Name a volume that exists.', {
    code: '917525',
    errno: errno.objectNotFound,
  }),
  volumeNotMember: invalid('volumes.name', '"{name}" is not in the group.', 'Name a volume of the group.', {
    code: '53411861',
  }),
  tooManyMembers: invalid('volumes', 'A consistency group has {max} volumes at most.', 'Make several groups.', {
    code: '53411853',
  }),
  newMemberIncomplete: invalid(
    'volumes.space.size',
    'A new volume needs a name and a size.',
    'Give the new volume a name and a size.',
    { code: '53411864' },
  ),
  memberNameMismatch: invalid(
    'volumes.name',
    'The name and the UUID name different volumes.',
    'Send the name or the UUID, or both of one volume.',
    { code: '53411853' },
  ),
  memberFieldFixed: invalid(
    'volumes.{field}',
    '"{field}" of the volume "{volume}" has another value. Change it at /storage/volumes.',
    'Change the field at /storage/volumes.',
    { code: '53411856' },
  ),
  volumeInAnotherGroup: inUse(
    'volumes.name',
    'The volume "{volume}" is in the consistency group "{group}".',
    'Take the volume out of the other group first.',
    { code: '53411865' },
  ),
  memberReadOnly: invalid(
    'volumes.name',
    'Only replication changes the volume "{volume}".',
    'Name a volume that is not the destination of replication.',
    { code: '1638461' },
  ),
  componentNameTaken: duplicate('A part named "{name}"', 'nas.application_components.name'),
  cloudTierMissing: invalid(
    'nas.application_components.tiering.control',
    'There is no cloud tier, so it cannot be required.',
    'Choose a tiering that needs no cloud tier.',
    { errno: errno.objectNotFound },
  ),
  componentExportPolicyTwice: invalid(
    'nas.nfs_access',
    'A component names its export policy, and the application its NFS access. Give only one of them.',
    'Give the export policy or the access, not both.',
  ),
  numberedVolumeTaken: duplicate('A volume of each number', 'name', { code: '917526' }),
} as const
