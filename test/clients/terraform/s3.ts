import assert from 'node:assert/strict'
import { asNumber, asText } from '../../support/body.ts'
import { AGGREGATE, SVM, svmUuid, type Flow } from './flow.ts'
import type { Shape } from '../../support/shape.ts'

const GB = 2 ** 30
const RETURNED = { return_records: 'true' }

const SERVICE: Shape = {
  svm: { name: 'string' },
  name: 'string',
  enabled: 'bool',
  comment: 'string',
  certificate: { name: 'string' },
  is_http_enabled: 'bool',
  is_https_enabled: 'bool',
  port: 'int',
  secure_port: 'int',
}
const SERVICE_FIELDS = [
  'svm,name,enabled,comment,certificate.name,is_http_enabled,is_https_enabled,port',
  'secure_port',
]

const USER: Shape = {
  svm: { name: 'string' },
  name: 'string',
  comment: 'string',
  access_key: 'string',
  secret_key: 'string',
  key_expiry_time: 'string',
  key_time_to_live: 'string',
  id: 'int',
}
const USER_FIELDS = ['svm', 'name', 'comment', 'access_key', 'key_expiry_time', 'key_time_to_live']

const POLICY: Shape = {
  name: 'string',
  comment: 'string',
  statements: [{ effect: 'string', actions: ['string'], resources: ['string'], sid: 'string' }],
  svm: { name: 'string', uuid: 'string' },
}
const POLICY_FIELDS = ['name', 'comment', 'statements', 'svm.name', 'svm.uuid']

const GROUP: Shape = {
  svm: { name: 'string' },
  name: 'string',
  comment: 'string',
  users: [{ name: 'string' }],
  policies: [{ name: 'string' }],
  id: 'int',
}
const GROUP_FIELDS = ['svm', 'name', 'id', 'comment', 'users.name', 'policies.name']

const BUCKET: Shape = {
  svm: { name: 'string' },
  name: 'string',
  size: 'int',
  comment: 'string',
  type: 'string',
  nas_path: 'string',
  versioning_state: 'string',
  policy: {
    statements: [
      {
        sid: 'string',
        resources: ['string'],
        actions: ['string'],
        effect: 'string',
        principals: ['string'],
        conditions: [
          {
            operator: 'string',
            max_keys: ['string'],
            delimiters: ['string'],
            source_ips: ['string'],
            prefixes: ['string'],
            usernames: ['string'],
          },
        ],
      },
    ],
  },
  qos_policy: {
    name: 'string',
    max_throughput_iops: 'int',
    max_throughput_mbps: 'int',
    min_throughput_iops: 'int',
    min_throughput_mbps: 'int',
  },
  snapshot_policy: { name: 'string' },
  audit_event_selector: { access: 'string', permission: 'string' },
  uuid: 'string',
}
const BUCKET_FIELDS = [
  'name,svm,size,comment,policy,policy.statements,qos_policy,audit_event_selector',
  'versioning_state,type,nas_path,snapshot_policy',
]

/** The flows follow one another: what the later ones need is made by the first. */
export const s3Flows: readonly Flow[] = [
  {
    resource: 'netapp-ontap_s3_service',
    what: 'the object store server of an SVM is made, changed and renamed',
    async run(provider) {
      const svm = await svmUuid(provider)
      const body = {
        svm: { name: SVM },
        name: 'tf-s3',
        enabled: true,
        comment: 'made',
        is_http_enabled: true,
        port: 8080,
      }
      const made = await provider.create('protocols/s3/services', body, SERVICE)
      const read = await provider.read('protocols/s3/services', { 'svm.name': SVM, fields: SERVICE_FIELDS }, SERVICE)
      assert.deepEqual(read, made)
      assert.deepEqual([read['port'], read['secure_port'], read['is_https_enabled']], [8080, 443, true])
      const change = { svm: {}, name: 'tf-s3-renamed', enabled: false, comment: '', secure_port: 8443 }
      await provider.update(`protocols/s3/services/${svm}`, change, {}, RETURNED)
      const query = { fields: SERVICE_FIELDS, 'svm.name': SVM, name: 'tf-s3-renamed' }
      const [changed] = await provider.list('protocols/s3/services', query, SERVICE)
      assert.deepEqual(changed, { ...read, name: 'tf-s3-renamed', enabled: false, comment: '', secure_port: 8443 })
    },
  },
  {
    resource: 'netapp-ontap_s3_user',
    what: 'a user is made; the keys are made anew with a time to live, and taken away',
    async run(provider) {
      const users = `protocols/s3/services/${await svmUuid(provider)}/users`
      const made = await provider.create(users, { name: 'anna', comment: 'made' }, USER)
      assert.ok(asText(made['access_key']).length > 10 && asText(made['secret_key']).length > 10)
      const query = { name: 'anna', fields: USER_FIELDS }
      const read = await provider.read(users, query, USER)
      assert.deepEqual([read['access_key'], read['secret_key'], read['svm']], [made['access_key'], '', { name: SVM }])
      await provider.update(`${users}/anna`, { comment: 'changed' }, USER, RETURNED)
      const renewal = { regenerate_keys: true, key_time_to_live: 'PT6H' }
      const renewed = await provider.update(`${users}/anna`, renewal, USER, RETURNED)
      assert.notEqual(renewed?.['access_key'], made['access_key'])
      assert.ok(asText(renewed?.['secret_key']).length > 10)
      assert.match(asText(renewed?.['key_expiry_time']), /^\d{4}-/)
      const after = await provider.read(users, query, USER)
      assert.deepEqual(
        [after['comment'], after['access_key'], after['key_time_to_live'], after['key_expiry_time']],
        ['changed', renewed?.['access_key'], 'PT6H', renewed?.['key_expiry_time']],
      )
      await provider.update(`${users}/anna`, { delete_keys: true }, USER, RETURNED)
      const without = await provider.read(users, query, USER)
      assert.deepEqual([without['access_key'], without['key_expiry_time']], ['', ''])
      assert.equal((await provider.list(users, { fields: USER_FIELDS }, USER)).length, 1)
    },
  },
  {
    resource: 'netapp-ontap_s3_policy',
    what: 'a policy with statements is made, changed and found by its name',
    async run(provider) {
      const policies = `protocols/s3/services/${await svmUuid(provider)}/policies`
      const statement = { effect: 'allow', actions: ['GetObject'], resources: ['tf-bucket', 'tf-bucket/*'], sid: '' }
      const body = { name: 'tf_policy', comment: 'made', statements: [statement] }
      const made = await provider.create(policies, body, POLICY)
      const query = { name: 'tf_policy', fields: POLICY_FIELDS }
      assert.deepEqual(await provider.read(policies, query, POLICY), made)
      assert.deepEqual(made['statements'], [statement])
      const statements = [{ ...statement, effect: 'deny', sid: 'no' }]
      await provider.update(`${policies}/tf_policy`, { comment: 'changed', statements })
      const changed = await provider.read(policies, query, POLICY)
      assert.deepEqual([changed['comment'], changed['statements']], ['changed', statements])
    },
  },
  {
    resource: 'netapp-ontap_s3_group',
    what: 'a group of users with policies, found by number and by name, changed and removed',
    async run(provider) {
      const groups = `protocols/s3/services/${await svmUuid(provider)}/groups`
      const body = { name: 'tf_group', comment: 'made', users: [{ name: 'anna' }], policies: [{ name: 'tf_policy' }] }
      const made = await provider.create(groups, body, GROUP)
      const path = `${groups}/${asNumber(made['id'])}`
      assert.deepEqual(await provider.read(path, {}, GROUP), made)
      const change = { ...body, name: 'tf_renamed', comment: 'changed', policies: [{ name: 'FullAccess' }] }
      await provider.update(path, change, {}, RETURNED)
      const changed = await provider.read(groups, { name: 'tf_renamed', fields: GROUP_FIELDS }, GROUP)
      assert.deepEqual(changed, { ...change, svm: { name: SVM }, id: made['id'] })
      await provider.remove(path)
      assert.deepEqual(await provider.list(groups, { fields: GROUP_FIELDS }, GROUP), [])
    },
  },
  {
    resource: 'netapp-ontap_s3_bucket',
    what: 'a bucket with a policy and an audit selector; it grows, keeps versions, and is removed',
    async run(provider) {
      const statement = {
        sid: 'all',
        resources: ['tf-bucket', 'tf-bucket/*'],
        actions: ['GetObject', 'ListBucket'],
        effect: 'allow',
        principals: ['anna'],
        conditions: [{ operator: 'ip_address', source_ips: ['192.0.2.0/24'] }],
      }
      const body = {
        name: 'tf-bucket',
        svm: { name: SVM },
        size: 100 * GB,
        comment: 'made',
        type: 's3',
        versioning_state: 'disabled',
        policy: { statements: [statement, { ...statement, sid: 'more', conditions: null }] },
        snapshot_policy: {},
        audit_event_selector: { access: 'all', permission: 'deny' },
        aggregates: [AGGREGATE],
      }
      const made = await provider.create('protocols/s3/buckets', body, BUCKET)
      const query = { name: 'tf-bucket', 'svm.name': SVM, fields: BUCKET_FIELDS }
      const read = await provider.read('protocols/s3/buckets', query, BUCKET)
      assert.deepEqual(read, made)
      assert.deepEqual([read['size'], read['audit_event_selector']], [100 * GB, body.audit_event_selector])
      const conditions = read['policy']?.['statements']?.['0']?.['conditions']
      assert.deepEqual(conditions?.['0']?.['source_ips'], ['192.0.2.0/24'])
      const path = `protocols/s3/buckets/${await svmUuid(provider)}/${asText(made['uuid'])}`
      const change = {
        name: 'tf-bucket',
        svm: {},
        size: 200 * GB,
        comment: '',
        versioning_state: 'enabled',
        snapshot_policy: {},
      }
      await provider.update(path, change, {}, RETURNED)
      const policy = { statements: [{ ...statement, conditions: [] }] }
      await provider.update(path, { name: 'tf-bucket', svm: {}, snapshot_policy: 'none', policy }, {}, RETURNED)
      const changed = await provider.read('protocols/s3/buckets', query, BUCKET)
      assert.deepEqual([changed['size'], changed['comment'], changed['versioning_state']], [200 * GB, '', 'enabled'])
      assert.deepEqual(changed['policy']?.['statements']?.['0']?.['conditions'], [])
      await provider.update(
        path,
        { name: 'tf-bucket', svm: {}, snapshot_policy: {}, policy: { statements: [] } },
        {},
        RETURNED,
      )
      const [listed] = await provider.list('protocols/s3/buckets', { fields: BUCKET_FIELDS, 'svm.name': SVM }, BUCKET)
      assert.deepEqual(listed?.['policy']?.['statements'], [])
      await provider.remove(path)
    },
  },
  {
    resource: 'netapp-ontap_s3_service',
    what: 'the object store server goes, after its users and policies',
    async run(provider) {
      const service = `protocols/s3/services/${await svmUuid(provider)}`
      await provider.remove(`${service}/users/anna`)
      await provider.remove(`${service}/policies/tf_policy`)
      await provider.remove(service)
      assert.deepEqual(
        await provider.list('protocols/s3/services', { 'svm.name': SVM, fields: SERVICE_FIELDS }, SERVICE),
        [],
      )
    },
  },
]
