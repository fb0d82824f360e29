/** What can be watched by which protocol: operations on files, and filters on these. */
export const PROTOCOLS = ['cifs', 'nfsv3', 'nfsv4'] as const

type Protocol = (typeof PROTOCOLS)[number]

const files: readonly Protocol[] = PROTOCOLS
const nfs: readonly Protocol[] = ['nfsv3', 'nfsv4']
const cifs: readonly Protocol[] = ['cifs']
/** Those whose files are opened and closed. */
const opened: readonly Protocol[] = ['cifs', 'nfsv4']

/** The operations, and the protocols that have them. */
export const operationProtocols = {
  access: nfs,
  close: opened,
  create: files,
  create_dir: files,
  delete: files,
  delete_dir: files,
  getattr: opened,
  link: nfs,
  lookup: nfs,
  open: opened,
  read: files,
  write: files,
  rename: files,
  rename_dir: files,
  setattr: files,
  symlink: nfs,
} as const satisfies Readonly<Record<string, readonly Protocol[]>>

export type Operation = keyof typeof operationProtocols

/** The filters, and the protocols that they say something about. */
export const filterProtocols = {
  monitor_ads: cifs,
  close_with_modification: opened,
  close_without_modification: opened,
  close_with_read: opened,
  first_read: opened,
  first_write: opened,
  offline_bit: files,
  open_with_delete_intent: cifs,
  open_with_write_intent: cifs,
  write_with_size_change: files,
  setattr_with_owner_change: files,
  setattr_with_group_change: files,
  setattr_with_sacl_change: opened,
  setattr_with_dacl_change: opened,
  setattr_with_modify_time_change: files,
  setattr_with_access_time_change: files,
  setattr_with_creation_time_change: cifs,
  setattr_with_mode_change: nfs,
  setattr_with_size_change: files,
  setattr_with_allocation_size_change: cifs,
  exclude_directory: cifs,
} as const satisfies Readonly<Record<string, readonly Protocol[]>>

/** The operations that a filter is about, where it is not about all. */
export const filterOperations: Readonly<Partial<Record<keyof typeof filterProtocols, readonly Operation[]>>> = {
  close_with_modification: ['close'],
  close_without_modification: ['close'],
  close_with_read: ['close'],
  first_read: ['read'],
  first_write: ['write'],
  open_with_delete_intent: ['open'],
  open_with_write_intent: ['open'],
  write_with_size_change: ['write'],
  setattr_with_owner_change: ['setattr'],
  setattr_with_group_change: ['setattr'],
  setattr_with_sacl_change: ['setattr'],
  setattr_with_dacl_change: ['setattr'],
  setattr_with_modify_time_change: ['setattr'],
  setattr_with_access_time_change: ['setattr'],
  setattr_with_creation_time_change: ['setattr'],
  setattr_with_mode_change: ['setattr'],
  setattr_with_size_change: ['setattr'],
  setattr_with_allocation_size_change: ['setattr'],
}
