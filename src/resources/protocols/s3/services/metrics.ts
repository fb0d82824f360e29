import { defineMetrics } from '../../../metrics.ts'

export const serviceHistory = defineMetrics({
  path: '/protocols/s3/services/{svm.uuid}/metrics',
  doc: 'Metrics of the operations on the object store servers of an SVM, for up to a year.',
  since: '9.8',
  of: { field: 'svm', ref: 'svm/svms', doc: 'The SVM.' },
})
