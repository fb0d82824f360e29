/** Types of volumes that only replication changes: destinations (`dp`) and load-sharing mirrors (`ls`). */
export const replicaTypes = ['dp', 'ls'] as const
