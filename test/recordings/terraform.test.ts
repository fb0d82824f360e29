import { test } from 'node:test'
import { insistOnRecording, type Request } from './replay.ts'

const found = (collection: string, name: string): Request => ['GET', `/api/${collection}?name=${name}`]
const deleted = (collection: string, name: string): Request => ['DELETE', `/api/${collection}?name=${name}`]
const inSvm = { svm: { name: 'tfsvm' } }

test('what the Terraform provider sends is answered as it expects', () =>
  insistOnRecording('terraform', {
    tool: 'Terraform',
    before: {
      67: [
        [
          'POST',
          '/api/security/accounts',
          {
            name: 'tf_cuser',
            password: '***',
            applications: [{ application: 'http', authentication_methods: ['password'] }],
          },
        ],
      ],
      71: [found('cluster/schedules', 'tf_int')],
      78: [found('storage/qos/policies', 'tf_qosa')],
      79: [found('storage/qos/policies', 'tf_qos')],
      114: [found('storage/volumes', 'tf_min')],
      115: [found('storage/volumes', 'tf_vol')],
      117: [deleted('storage/volumes', 'tf_vol')],
      118: [found('svm/svms', 'tfsvm')],
      121: [deleted('cluster/schedules', 'tf_int')],
      130: [
        [
          'POST',
          '/api/protocols/cifs/services',
          { ...inSvm, name: 'tfcifs', ad_domain: { fqdn: 'mytfdomain.com', user: 'cifstest', password: '***' } },
        ],
      ],
      132: [
        ['POST', '/api/protocols/cifs/local-groups', { ...inSvm, name: 'TFCIFS\\tfgroup' }],
        ['POST', '/api/protocols/cifs/local-users', { ...inSvm, name: 'TFCIFS\\tfuser', password: '***' }],
      ],
      189: [deleted('storage/volumes', 'tf_vol')],
    },
    absent: { paths: ['/api/storage/volumes/{uuid}/files'], why: 'Files are not served, so there is nothing to list.' },
    differences: [
      {
        lines: [1, 9],
        request: 'POST /api/security/accounts',
        answers: '400 7078900',
        why: 'The configuration names no password for an account that logs in with one.',
      },
      {
        lines: [67],
        request: 'PATCH /api/security/accounts/{uuid}/tf_cuser',
        answers: '400 7077925',
        why: 'The provider sends the password that the account has, as shipping systems refuse too.',
      },
      {
        lines: [87],
        request: 'PATCH /api/protocols/cifs/shares/{uuid}/tfshare',
        answers: 'success',
        why: 'A change that changes nothing is done.',
      },
      {
        lines: [139],
        request: 'GET /api/cluster/schedules/tf_cron',
        answers: 'success',
        why: 'A schedule of the cluster is found by its name.',
      },
      {
        lines: [145],
        request: 'GET /api/snapmirror/relationships',
        answers: 'success',
        why: 'Nothing is mirrored: the collection is empty.',
      },
      {
        lines: [148],
        request: 'GET /api/protocols/san/igroups',
        answers: 'success',
        why: 'There are no LUNs: the collection is empty.',
      },
      {
        lines: [166],
        request: 'GET /api/cluster/peers',
        answers: 'success',
        why: 'The empty collection knows all documented fields.',
      },
      {
        lines: [168],
        request: 'GET /api/storage/flexcache/flexcaches',
        answers: 'success',
        why: 'The empty collection knows all documented fields.',
      },
      {
        lines: [169],
        request: 'GET /api/storage/luns',
        answers: 'success',
        why: 'There are no LUNs: the collection is empty.',
      },
      {
        lines: [175],
        request: 'GET /api/protocols/san/lun-maps',
        answers: 'success',
        why: 'There are no LUNs: the collection is empty.',
      },
      {
        lines: [179],
        request: 'GET /api/snapmirror/policies',
        answers: 'success',
        why: 'Nothing is mirrored: the collection is empty.',
      },
    ],
  }))
