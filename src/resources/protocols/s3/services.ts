import { define } from '../../../core/behaviour.ts'
import { type Row, textAt } from '../../../model/value.ts'
import { lastSample, operationFields, totals } from '../../metric-readings.ts'
import { serverFields } from './server-fields.ts'
import { createServer, modifyServer, removeServer } from './server-verbs.ts'

const svmOf = (row: Row) => textAt(row, 'svm.uuid')

export const services = define(
  {
    path: '/protocols/s3/services',
    noun: 'object store server',
    doc: 'Object store servers, addressed by their SVM as shipping tools do. Where an SVM has several, its first.',
    key: ['svm.uuid'],
    parent: 'svm.uuid',
    nameWithin: 'svm.uuid',
    fields: { ...serverFields({ rootIsRequired: false }), ...operationFields },
  },
  {
    derive: [lastSample(svmOf), totals('object_store_server', svmOf)],
    create: { ...createServer, example: { name: 's3.example.com', 'svm.name': 'svm_example' } },
    modify: { ...modifyServer, example: { comment: 'Backups of the office' } },
    remove: removeServer,
  },
)
