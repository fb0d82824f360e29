import assert from 'node:assert/strict'
import { asText } from '../../support/body.ts'
import { SVM, svmUuid, type Flow } from './flow.ts'
import type { Shape } from '../../support/shape.ts'

const APPLICATION: Shape = {
  application: 'string',
  second_authentication_method: 'string',
  authentication_methods: ['string'],
}
const ACCOUNT: Shape = {
  name: 'string',
  owner: { name: 'string', uuid: 'string' },
  role: { name: 'string' },
  applications: [APPLICATION],
  comment: 'string',
  locked: 'bool',
  scope: 'string',
}
const ACCOUNT_FIELDS = ['name,owner,locked,comment,role,scope,applications']

const ROLE: Shape = {
  name: 'string',
  owner: { name: 'string', uuid: 'string' },
  scope: 'string',
  builtin: 'bool',
  privileges: [{ access: 'string', path: 'string', query: 'string' }],
}
const ROLE_FIELDS = ['name,scope,owner,privileges,builtin']

const CERTIFICATE: Shape = {
  uuid: 'string',
  name: 'string',
  common_name: 'string',
  svm: { name: 'string' },
  scope: 'string',
  type: 'string',
  serial_number: 'string',
  ca: 'string',
  hash_function: 'string',
  key_size: 'int',
  expiry_time: 'string',
}
const CERTIFICATE_FIELDS = [
  'uuid,name,common_name,svm.name,scope,type,serial_number,ca,hash_function,key_size,expiry_time',
]

const MESSAGE: Shape = {
  show_cluster_message: 'bool',
  svm: { name: 'string' },
  uuid: 'string',
  scope: 'string',
  banner: 'string',
  message: 'string',
}
const MESSAGE_FIELDS = ['show_cluster_message,svm.name,uuid,scope,banner,message']

export const securityFlows: readonly Flow[] = [
  {
    resource: 'netapp-ontap_security_account',
    what: 'an account of an SVM is made, changed, locked and removed',
    async run(provider) {
      const applications = [
        { application: 'http', second_authentication_method: 'none', authentication_methods: ['password'] },
      ]
      const body = {
        name: 'tf_admin',
        applications,
        owner: { name: SVM },
        role: { name: 'vsadmin' },
        password: 'netapp1!tf',
        comment: 'made by terraform',
      }
      await provider.create('security/accounts', body, ACCOUNT)
      const query = { name: 'tf_admin', 'owner.name': SVM, fields: ACCOUNT_FIELDS }
      const read = await provider.read('security/accounts', query, ACCOUNT)
      const uuid = await svmUuid(provider)
      const { password: _password, ...shown } = body
      assert.deepEqual(read, { ...shown, owner: { name: SVM, uuid }, scope: 'svm', locked: false })
      const own = `security/accounts/${uuid}/tf_admin`
      const change = { applications, role: { name: 'vsadmin-readonly' }, comment: 'changed', locked: true }
      await provider.update(own, { ...change, password: 'netapp2!tf' }, ACCOUNT, { return_records: 'true' })
      const changed = await provider.read(own, { name: 'tf_admin', fields: ACCOUNT_FIELDS }, ACCOUNT)
      assert.deepEqual(changed, { ...read, ...change })
      await provider.remove(own)
      assert.equal(await provider.find('security/accounts', query, ACCOUNT), undefined)
    },
  },
  {
    resource: 'netapp-ontap_security_role',
    what: 'a role of an SVM is made with privileges, read and removed',
    async run(provider) {
      const uuid = await svmUuid(provider)
      const privileges = [
        { access: 'readonly', path: '/api/storage/volumes' },
        { access: 'all', path: '/api/storage/qtrees' },
      ]
      await provider.create('security/roles', { name: 'tf_role', owner: { name: SVM }, privileges }, ROLE)
      const own = `security/roles/${uuid}/tf_role`
      const read = await provider.read(own, { name: 'tf_role', fields: ROLE_FIELDS }, ROLE)
      assert.deepEqual([read['builtin'], read['scope'], read['owner']], [false, 'svm', { name: SVM, uuid }])
      const shown = read['privileges'] as unknown as { path: string; access: string }[]
      const accessOf = new Map(shown.map(({ path, access }) => [path, access]))
      for (const { path, access } of privileges) assert.equal(accessOf.get(path), access, path)
      const listed = await provider.list(
        'security/roles',
        { 'owner.name': SVM, scope: 'svm', fields: ROLE_FIELDS },
        ROLE,
      )
      assert.ok(listed.some((role) => asText(role['name']) === 'tf_role'))
      await provider.update(`${own}/privileges/${encodeURIComponent('/api/storage/qtrees')}`, { access: 'readonly' })
      await provider.remove(own)
    },
  },
  {
    resource: 'netapp-ontap_security_certificate',
    what: 'a certificate is found by its name and common name',
    async run(provider) {
      const body = { name: 'tf_cert', common_name: 'tf.example', type: 'root_ca', svm: { name: SVM } }
      const made = await provider.aside('POST', 'security/certificates', body)
      const query = { name: 'tf_cert', common_name: 'tf.example', fields: CERTIFICATE_FIELDS }
      const read = await provider.read('security/certificates', query, CERTIFICATE)
      assert.deepEqual(
        [read['uuid'], read['svm'], read['scope'], read['type']],
        [made['uuid'], { name: SVM }, 'svm', 'root_ca'],
      )
      assert.match(asText(read['expiry_time']), /^\d{4}-/)
      await provider.aside('DELETE', `security/certificates/${asText(made['uuid'])}`)
      assert.equal(await provider.find('security/certificates', query, CERTIFICATE), undefined)
    },
  },
  {
    resource: 'netapp-ontap_security_login_message',
    what: 'the messages of an SVM and of the cluster are changed',
    async run(provider) {
      const path = 'security/login/messages'
      for (const query of [{ 'svm.name': SVM }, { scope: 'cluster' }]) {
        const read = await provider.read(path, { ...query, fields: MESSAGE_FIELDS }, MESSAGE)
        const own = `${path}/${asText(read['uuid'])}`
        const change = { banner: 'Terraform\n', message: 'Welcome\n', show_cluster_message: true }
        const returned = { return_records: 'true' }
        await provider.update(own, change, MESSAGE, returned)
        const changed = await provider.read(path, { ...query, fields: MESSAGE_FIELDS }, MESSAGE)
        assert.deepEqual([changed['banner'], changed['message']], ['Terraform\n', 'Welcome\n'])
        await provider.update(own, { banner: '', message: '' }, MESSAGE, returned)
        assert.equal((await provider.read(path, { ...query, fields: MESSAGE_FIELDS }, MESSAGE))['banner'], '')
      }
    },
  },
]
