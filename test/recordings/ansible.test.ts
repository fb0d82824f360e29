import { test } from 'node:test'
import { insistOnRecording } from './replay.ts'

const NO_SVM = 'The playbook had not made the SVM yet.'
const svm = { 'svm.name': 'ansvm' }

test('what the Ansible collection 22.7 sends is answered as it expects', () =>
  insistOnRecording('ansible', {
    tool: 'Ansible 22.7',
    before: {
      37: [['POST', '/api/protocols/nfs/export-policies', { ...svm, name: 'anpol' }]],
      44: [['POST', '/api/storage/qtrees', { ...svm, name: 'anq', 'volume.name': 'anvol' }]],
      48: [['POST', '/api/protocols/s3/services', { ...svm, name: 'ans3' }]],
      61: [['POST', '/api/protocols/s3/buckets', { ...svm, name: 'anbkt', size: 107_374_182_400 }]],
    },
    differences: [
      ...(
        [
          [3, '/api/protocols/nfs/services'],
          [5, '/api/protocols/nfs/export-policies'],
          [10, '/api/storage/qtrees'],
          [14, '/api/storage/snapshot-policies'],
          [17, '/api/storage/qos/policies'],
          [19, '/api/name-services/dns'],
          [21, '/api/protocols/s3/services'],
          [23, '/api/protocols/s3/buckets'],
          [29, '/api/network/ip/interfaces'],
          [31, '/api/protocols/cifs/services'],
          [33, '/api/network/ip/routes'],
        ] as const
      ).map(([line, path]) => ({ lines: [line], request: `POST ${path}`, answers: '400 2621462', why: NO_SVM })),
      { lines: [25], request: 'POST /api/security/roles', answers: '400 2621706', why: NO_SVM },
      {
        lines: [37],
        request: 'GET /api/protocols/nfs/export-policies/1795355925613/rules/1',
        answers: '404 4',
        why: 'The module asks for a rule before it makes one, and takes this for none.',
      },
      {
        lines: [60],
        request: 'PATCH /api/security/accounts/{uuid}/anuser',
        answers: '400 7077925',
        why: 'The module sends the password that the account has, and takes this code for no change.',
      },
      {
        lines: [65],
        request: 'DELETE /api/svm/svms/{uuid}',
        answers: '409 2621525',
        why: 'The SVM has an object store server, which the playbook had not removed.',
      },
    ],
  }))
