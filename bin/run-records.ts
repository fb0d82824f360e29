/** Records of the catalog about its runs. */

/** Whether the cluster was stopped in order. */
export const RUN = ['internal/run', 'last'] as const
/** The line along which its changes are counted. */
export const LINE = ['internal/line', 'last'] as const
