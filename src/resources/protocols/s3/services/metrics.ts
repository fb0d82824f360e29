import { defineMetrics } from '../../../metrics.ts'

export const serviceHistory = defineMetrics({
  path: '/protocols/s3/services/{svm.uuid}/metrics',
  doc: 'What the operations of the object store servers of an SVM amounted to, for up to a year.',
  since: '9.8',
  of: { field: 'svm', ref: 'svm/svms', doc: 'The SVM.' },
})
