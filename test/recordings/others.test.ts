import { test } from 'node:test'
import { insistOnRecording, type Request } from './replay.ts'

const found = (collection: string, name: string): Request => ['GET', `/api/${collection}?name=${name}`]

/** Refused then, as the SVM in whose name they were sent could not be made. */
const inSvm = Object.entries({
  'GET /api/svm/svms': [103],
  'GET /api/protocols/nfs/services/': [104],
  'POST /api/network/ip/routes': [107],
  'POST /api/storage/volumes': [108, 109, 120],
  'GET /api/storage/volumes': [110, 111, 112, 118, 121],
  'GET /api/storage/volumes/': [113, 114, 115, 116, 119, 122, 123, 127, 139],
  'PATCH /api/storage/volumes': [117],
  'POST /api/protocols/nfs/export-policies': [124],
  'GET /api/protocols/nfs/export-policies': [125, 129],
  'PATCH /api/storage/volumes/': [126, 128],
}).map(([request, lines]) => ({ request, lines, answers: 'success', why: 'The SVM of the header is there.' }))

test('what the Ansible collection 23.2, netapp-lib and more of Manila send is answered as they expect', () =>
  insistOnRecording('others', {
    tool: 'Ansible 23.2, netapp-lib and more of Manila',
    svmOf: (line) => (line >= 103 && line <= 139 ? 'manvs' : undefined),
    before: {
      120: [found('storage/volumes', 'share1'), ['POST', '/api/storage/volumes/{uuid}/snapshots', { name: 'snap2' }]],
      147: [found('protocols/nfs/export-policies', 'mpol')],
    },
    differences: [
      ...inSvm,
      {
        lines: [10],
        request: 'GET /api/protocols/nfs/export-policies/1795356185509/rules/1',
        answers: '404 4',
        why: 'The module asks for a rule before it makes one, and takes this for none.',
      },
      {
        lines: [36],
        request: 'GET /api/protocols/s3/services',
        answers: 'success',
        why: 'Object store servers list their users.',
      },
      {
        lines: [69],
        request: 'GET /api/name-services/local-hosts',
        answers: 'success',
        why: 'SVMs have local hosts, as records.',
      },
      {
        lines: [80],
        request: 'PATCH /api/security/accounts/{uuid}/anuser',
        answers: '400 7077925',
        why: 'The module sends the password that the account has, and takes this code for no change.',
      },
      {
        lines: [81],
        request: 'POST /servlets/netapp.servlets.admin.XMLrequest_filer',
        answers: '404 3',
        why: 'The XML interface before REST is not served.',
      },
      {
        lines: [92],
        request: 'GET /api/cluster/peers',
        answers: 'success',
        why: 'The empty collection knows all documented fields.',
      },
      {
        lines: [94],
        request: 'PATCH /api/storage/volumes',
        answers: '400 1638515',
        why: 'Manila asks for a restore to no snapshot, and learns by this code that there are restores.',
      },
      {
        lines: [100],
        request: 'POST /api/svm/svms',
        answers: 'success',
        why: 'SVMs keep how space is to be reported and limited.',
      },
      {
        lines: [102],
        request: 'GET /api/storage/volumes/',
        answers: 'success',
        why: 'Volumes tell whether they are consistent, and the root of their SVM.',
      },
      {
        lines: [105],
        request: 'GET /api/network/ip/service-policies/',
        answers: 'success',
        why: 'SVMs have the built-in service policies.',
      },
      {
        lines: [131],
        request: 'PATCH /api/storage/volumes/',
        answers: '400 262197',
        why: 'Manila sends the word "wait" of an older interface, which is no documented state of a move.',
      },
      {
        lines: [132],
        request: 'POST /api/protocols/cifs/shares',
        answers: '400 655449',
        why: 'The SVM has no CIFS server, which shares need.',
      },
      {
        lines: [133, 135],
        request: 'GET /api/snapmirror/relationships',
        answers: 'success',
        why: 'Nothing is mirrored: the collection is empty.',
      },
      {
        lines: [134],
        request: 'GET /api/snapmirror/policies',
        answers: 'success',
        why: 'Nothing is mirrored: the collection is empty.',
      },
      {
        lines: [137],
        request: 'GET /api/cluster/counter/tables/system',
        answers: 'success',
        why: 'The table has what nodes did.',
      },
      {
        lines: [138],
        request: 'GET /api/cluster/counter/tables/system/rows',
        answers: 'success',
        why: 'The table has what nodes did.',
      },
    ],
  }))
