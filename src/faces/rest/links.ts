export const jobPath = (uuid: string) => `/api/cluster/jobs/${uuid}`
