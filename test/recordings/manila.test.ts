import { test } from 'node:test'
import { insistOnRecording, type Request } from './replay.ts'

const volume = (name: string): Request => ['GET', `/api/storage/volumes?name=${name}`]

test('what OpenStack Manila sends is answered as it expects', () =>
  insistOnRecording('manila', {
    tool: 'OpenStack Manila',
    // From there on it asks in the name of the SVM that it made.
    svmOf: (line) => (line >= 27 && line <= 93 ? 'manvs' : undefined),
    before: {
      41: [volume('share1')],
      46: [volume('share2')],
      47: [volume('share1')],
      61: [volume('share1'), ['GET', '/api/storage/volumes/{uuid}/snapshots?name=snap2']],
      65: [volume('clone1')],
      67: [volume('share1')],
      90: [volume('share2r')],
    },
    differences: [
      {
        lines: [11],
        request: 'GET /api/cluster/peers',
        answers: 'success',
        why: 'The empty collection knows all documented fields.',
      },
      {
        lines: [13],
        request: 'PATCH /api/storage/volumes',
        answers: '400 1638515',
        why: 'Manila asks for a restore to no snapshot, and learns by this code that there are restores.',
      },
      {
        lines: [19],
        request: 'POST /api/svm/svms',
        answers: 'success',
        why: 'SVMs keep how space is to be reported and limited.',
      },
      {
        lines: [21],
        request: 'GET /api/storage/volumes/',
        answers: 'success',
        why: 'Volumes tell whether they are consistent, and the root of their SVM.',
      },
      {
        lines: [23],
        request: 'POST /api/protocols/nfs/services/',
        answers: 'success',
        why: 'The recorded SVM had an NFS service from an earlier run.',
      },
      {
        lines: [25],
        request: 'GET /api/network/ip/service-policies/',
        answers: 'success',
        why: 'SVMs have the built-in service policies.',
      },
      {
        lines: [27],
        request: 'POST /api/network/ip/routes',
        answers: 'success',
        why: 'The recorded SVM had the route from an earlier run.',
      },
      {
        lines: [40],
        request: 'PATCH /api/storage/volumes/{uuid}',
        answers: '400 262197',
        why: 'A path has one slash at its beginning: the caller gave one, and Manila puts another before it.',
      },
      {
        lines: [44],
        request: 'PATCH /api/storage/volumes/{uuid}',
        answers: 'success',
        why: 'That a size is not fixed may be said, as it is so.',
      },
      {
        lines: [61],
        request: 'DELETE /api/storage/volumes/{uuid}/snapshots/{uuid}',
        answers: '409 1638555',
        why: 'A clone shares the snapshot. Manila takes this code for a snapshot that is busy, and renames it.',
      },
      {
        lines: [67],
        request: 'PATCH /api/storage/volumes/{uuid}',
        answers: '400 524487',
        why: 'The snapshot had another name by then.',
      },
      {
        lines: [83],
        request: 'PATCH /api/storage/qos/policies/{uuid}',
        answers: '400 262199',
        why: 'Manila sends no body: what it wants to change is lost.',
      },
      {
        lines: [85],
        request: 'PATCH /api/storage/volumes/',
        answers: '400 262197',
        why: 'Manila sends the word "wait" of an older interface, which is no documented state of a move.',
      },
      {
        lines: [86],
        request: 'POST /api/protocols/cifs/shares',
        answers: '400 655449',
        why: 'The SVM has no CIFS server, which shares need.',
      },
      {
        lines: [88],
        request: 'GET /api/cluster/counter/tables/system',
        answers: 'success',
        why: 'The table has what nodes did.',
      },
      {
        lines: [89],
        request: 'GET /api/cluster/counter/tables/system/rows',
        answers: 'success',
        why: 'The table has what nodes did.',
      },
    ],
  }))
