import { test } from 'node:test'
import { insistOnRecording, type Request } from './replay.ts'

const volume = (name: string): Request => ['GET', `/api/storage/volumes?name=${name}`]
const deletedVolume = (name: string): Request => ['DELETE', `/api/storage/volumes?name=${name}&force=true`]

test('what Trident sends is answered as it expects', () =>
  insistOnRecording('trident', {
    tool: 'Trident',
    before: {
      33: [volume('tri_pvc_1')],
      39: [volume('tri_pvc_3')],
      40: [volume('tri_pvc_1')],
      46: [volume('tri_pvc_1')],
      49: [volume('tri_pvc_1'), ['GET', '/api/storage/volumes/{uuid}/snapshots?name=snap-1']],
      52: [volume('tri_pvc_1')],
      54: [volume('tri_pvc_3')],
      55: [volume('tri_pvc_1')],
      145: [volume('tri_pvc_1')],
      147: [volume('tri_pvc_3')],
      148: [volume('tri_pvc_1')],
      149: [deletedVolume('tri_pvc_2'), deletedVolume('tri_pvc_1')],
      154: [volume('tri_pvc_1')],
      155: [
        [
          'PATCH',
          '/api/storage/volumes?name=trident_qtree_pool_tri_IENAURGSHG',
          { nas: { export_policy: { name: 'default' } } },
        ],
      ],
    },
    differences: [
      {
        lines: [49],
        request: 'DELETE /api/storage/volumes/{uuid}/snapshots/{uuid}',
        answers: '409 1638555',
        why: 'A clone shares the snapshot. The driver takes this code for a snapshot that is busy, and tries again later.',
      },
      {
        lines: [50],
        request: 'GET /api/snapmirror/relationships',
        answers: 'success',
        why: 'The collection is empty, as there is no replication.',
      },
      {
        lines: [89, 91],
        request: 'POST /api/storage/volumes',
        answers: '400 262197',
        why: 'A FlexGroup is refused: volumes are FlexVols.',
      },
      {
        lines: [121],
        request: 'GET /api/storage/qtrees',
        answers: 'success',
        why: 'A dash in the name of a field reads as an underscore.',
      },
      {
        lines: [143],
        request: 'DELETE /api/protocols/nfs/export-policies/1795356350195',
        answers: '409 1703945',
        why: 'A volume uses the policy. The driver tries again later.',
      },
    ],
  }))
