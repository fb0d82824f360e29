/** Records of the catalog about its runs. */

/** Whether the cluster was stopped in order. */
export const RUN = ['internal/run', 'last'] as const
/** The line along which its changes are counted. */
export const LINE = ['internal/line', 'last'] as const
/** When the catalog was put back from a backup, and of when its state is: blobs that are older may be of objects that it does not know. */
export const RESTORED = ['internal/restored', 'last'] as const
