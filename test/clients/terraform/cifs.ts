import assert from 'node:assert/strict'
import { asText } from '../../support/body.ts'
import { AGGREGATE, SVM, svmUuid, type Flow } from './flow.ts'
import type { Shape } from '../../support/shape.ts'

const MB = 2 ** 20
const RETURNED = { return_records: 'true' }

const SERVICE: Shape = {
  name: 'string',
  svm: { name: 'string' },
  default_unix_user: 'string',
  enabled: 'bool',
  comment: 'string',
  ad_domain: { organizational_unit: 'string', user: 'string', password: 'string', fqdn: 'string' },
  netbios: { enabled: 'bool', aliases: ['string'], wins_servers: ['string'] },
  security: {
    restrict_anonymous: 'string',
    smb_signing: 'bool',
    smb_encryption: 'bool',
    kdc_encryption: 'bool',
    lm_compatibility_level: 'string',
    aes_netlogon_enabled: 'bool',
    try_ldap_channel_binding: 'bool',
    ldap_referral_enabled: 'bool',
    encrypt_dc_connection: 'bool',
    use_start_tls: 'bool',
    session_security: 'string',
    use_ldaps: 'bool',
    advertised_kdc_encryptions: ['string'],
  },
}
const SERVICE_FIELDS = [
  'name',
  'svm.name',
  'default_unix_user',
  'comment',
  'enabled',
  'security',
  'ad_domain',
  'netbios',
]

const SHARE: Shape = {
  name: 'string',
  uuid: 'string',
  acls: [{ permission: 'string', type: 'string', user_or_group: 'string' }],
  change_notify: 'bool',
  comment: 'string',
  continuously_available: 'bool',
  dir_umask: 'int',
  encryption: 'bool',
  file_umask: 'int',
  force_group_for_create: 'string',
  home_directory: 'bool',
  namespace_caching: 'bool',
  no_strict_security: 'bool',
  offline_files: 'string',
  oplocks: 'bool',
  path: 'string',
  show_snapshot: 'bool',
  unix_symlink: 'string',
  vscan_profile: 'string',
}
const SHARE_FIELDS = [
  'name,svm.name,unix_symlink,dir_umask,file_umask,acls,home_directory',
  'force_group_for_create,no_strict_security,oplocks,volume,change_notify,path,encryption',
  'vscan_profile,offline_files,comment,show_snapshot,continuously_available,namespace_caching',
]

const GROUP: Shape = {
  name: 'string',
  sid: 'string',
  svm: { name: 'string' },
  description: 'string',
  members: [{ name: 'string' }],
}
const USER: Shape = {
  name: 'string',
  sid: 'string',
  svm: { name: 'string' },
  full_name: 'string',
  description: 'string',
  membership: [{ name: 'string' }],
  account_disabled: 'bool',
}
const MEMBER: Shape = { name: 'string', svm: { name: 'string' } }
const PRIVILEGES: Shape = { name: 'string', svm: { name: 'string' }, privileges: ['string'] }

/** The flows follow one another: what the later ones need is made by the first. */
export const cifsFlows: readonly Flow[] = [
  {
    resource: 'netapp-ontap_cifs_service',
    what: 'the CIFS server of an SVM is made and changed',
    async run(provider) {
      const body = {
        name: 'TFCIFS',
        svm: { name: SVM },
        ad_domain: { organizational_unit: 'CN=Computers', user: 'admin', password: 'a password', fqdn: 'example.com' },
        netbios: { enabled: false, aliases: ['ALIAS1'] },
        comment: 'made by terraform',
        enabled: true,
        security: {
          restrict_anonymous: 'no_enumeration',
          smb_signing: false,
          smb_encryption: false,
          aes_netlogon_enabled: false,
          lm_compatibility_level: 'lm_ntlm_ntlmv2_krb',
          session_security: 'none',
          try_ldap_channel_binding: true,
          advertised_kdc_encryptions: ['aes_128', 'aes_256'],
        },
        default_unix_user: 'pcuser',
      }
      const made = await provider.create('protocols/cifs/services', body, SERVICE, { ...RETURNED, force: 'true' })
      const read = await provider.read('protocols/cifs/services', { name: 'TFCIFS', fields: SERVICE_FIELDS }, SERVICE)
      assert.deepEqual(read, made)
      const { password: _, ...domain } = body.ad_domain
      assert.deepEqual(read['ad_domain'], { ...domain, password: '' })
      assert.deepEqual(read['security']?.['advertised_kdc_encryptions'], ['aes_128', 'aes_256'])
      const path = `protocols/cifs/services/${await svmUuid(provider)}`
      const security = { ...body.security, smb_signing: true }
      await provider.update(
        path,
        { svm: {}, ad_domain: {}, netbios: { enabled: true }, enabled: true, security },
        {},
        RETURNED,
      )
      const changed = await provider.list(
        'protocols/cifs/services',
        { 'svm.name': SVM, fields: SERVICE_FIELDS },
        SERVICE,
      )
      assert.deepEqual([changed[0]?.['security']?.['smb_signing'], changed[0]?.['netbios']?.['enabled']], [true, true])
    },
  },
  {
    resource: 'netapp-ontap_cifs_share',
    what: 'a share of a volume, with entries of who may do what through it',
    async run(provider) {
      const svm = await svmUuid(provider)
      const size = { space: { size: 64 * MB }, guarantee: { type: 'none' }, nas: { path: '/tf_share' } }
      const body = { name: 'tf_share', svm: { name: SVM }, aggregates: [{ name: AGGREGATE }], ...size }
      const { uuid } = await provider.create('storage/volumes', body, { uuid: 'string' })
      const settings = {
        change_notify: true,
        continuously_available: true,
        dir_umask: 22,
        encryption: false,
        file_umask: 0,
        force_group_for_create: '',
        namespace_caching: true,
        no_strict_security: false,
        offline_files: 'none',
        oplocks: true,
        show_snapshot: false,
        unix_symlink: 'disable',
        vscan_profile: 'no_scan',
      }
      const acls = [{ permission: 'read', type: 'windows', user_or_group: 'BUILTIN\\Administrators' }]
      const share = { ...settings, name: 'tf_share', svm: { name: SVM }, path: '/tf_share', acls, comment: 'made' }
      await provider.create('/protocols/cifs/shares', share, SHARE)
      const query = { name: 'tf_share', 'svm.name': SVM, fields: SHARE_FIELDS }
      const read = await provider.read('protocols/cifs/shares', query, SHARE)
      const { svm: _svm, ...expected } = share
      assert.deepEqual(read, { ...expected, uuid: '', home_directory: false })
      const [shown] = await provider.list('protocols/cifs/shares', query, { volume: { name: 'string' } })
      assert.equal(shown?.['volume']?.['name'], 'tf_share')
      const path = `/protocols/cifs/shares//${svm}/tf_share`
      await provider.update(path, { ...settings, svm: {}, oplocks: false, comment: 'changed' })
      const entry = { permission: 'change', user_or_group: 'anna', type: 'unix_user' }
      await provider.create(`/protocols/cifs/shares/${svm}/tf_share/acls`, entry, {
        name: 'string',
        user_or_group: 'string',
      })
      await provider.update(`/protocols/cifs/shares/${svm}/tf_share/acls/anna/unix_user`, { permission: 'no_access' })
      const changed = await provider.read('protocols/cifs/shares', query, SHARE)
      assert.deepEqual([changed['oplocks'], changed['comment']], [false, 'changed'])
      assert.deepEqual(changed['acls'], [...acls, { ...entry, permission: 'no_access' }])
      await provider.remove(`/protocols/cifs/shares/${svm}/tf_share/acls/anna/unix_user`)
      await provider.remove(`/protocols/cifs/shares/${svm}/tf_share`)
      await provider.remove(`storage/volumes/${asText(uuid)}`)
    },
  },
  {
    resource: 'netapp-ontap_cifs_local_group',
    what: 'a local user and a local group; the user joins the group and leaves it',
    async run(provider) {
      const svm = await svmUuid(provider)
      const login = {
        name: 'anna',
        svm: { name: SVM },
        password: 'a password',
        full_name: 'Anna',
        account_disabled: true,
      }
      await provider.create('protocols/cifs/local-users', login, USER)
      const userQuery = {
        name: 'anna',
        'svm.name': SVM,
        fields: ['name', 'svm.name', 'full_name', 'description', 'membership', 'account_disabled'],
      }
      const user = await provider.read('protocols/cifs/local-users', userQuery, USER)
      assert.match(asText(user['sid']), /^S-1-5-21-\d+-\d+-\d+-1000$/)
      assert.deepEqual([user['full_name'], user['account_disabled']], ['Anna', true])

      const fields = ['name', 'svm.name', 'description', 'members']
      const made = await provider.create(
        'protocols/cifs/local-groups',
        { name: 'staff', svm: { name: SVM }, description: 'all' },
        GROUP,
      )
      const path = `protocols/cifs/local-groups/${svm}/${asText(made['sid'])}`
      assert.deepEqual(await provider.read(path, { fields }, GROUP), made)
      await provider.update(path, { name: 'team', svm: {}, description: 'some' }, {}, RETURNED)
      await provider.create(`${path}/members`, { name: 'anna' }, MEMBER)
      const member = await provider.read(`${path}/members`, { name: 'anna', fields: ['name', 'svm.name'] }, MEMBER)
      assert.deepEqual(member, { name: 'anna', svm: { name: SVM } })
      const joined = await provider.read(
        'protocols/cifs/local-groups',
        { name: 'team', 'svm.name': SVM, fields },
        GROUP,
      )
      assert.deepEqual([joined['description'], joined['members']], ['some', [{ name: 'anna' }]])
      const known = await provider.read('protocols/cifs/local-users', userQuery, USER)
      assert.deepEqual(known['membership'], [{ name: 'team' }])

      await provider.remove(`${path}/members`, { name: 'anna' })
      assert.deepEqual(await provider.list(`${path}/members`, { fields: ['name', 'svm.name'] }, MEMBER), [])
      await provider.remove(path)
      await provider.remove(`protocols/cifs/local-users/${svm}/${asText(user['sid'])}`)
    },
  },
  {
    resource: 'netapp-ontap_cifs_user_group_privilege',
    what: 'privileges of an account are given, changed and taken away',
    async run(provider) {
      const svm = await svmUuid(provider)
      const api = 'protocols/cifs/users-and-groups/privileges'
      await provider.create(api, { name: 'anna', svm: { name: SVM }, privileges: ['SeTcbPrivilege'] }, PRIVILEGES)
      const query = { name: 'anna', 'svm.name': SVM, fields: ['name', 'svm.name', 'privileges'] }
      assert.deepEqual((await provider.read(api, query, PRIVILEGES))['privileges'], ['setcbprivilege'])
      const privileges = ['sebackupprivilege', 'serestoreprivilege']
      await provider.update(`${api}/${svm}/anna`, { svm: {}, privileges }, {}, RETURNED)
      assert.deepEqual((await provider.read(api, query, PRIVILEGES))['privileges'], privileges)
      await provider.update(`${api}/${svm}/anna`, { svm: {}, privileges: [] }, {}, RETURNED)
      assert.deepEqual((await provider.read(api, query, PRIVILEGES))['privileges'], [])
    },
  },
  {
    resource: 'netapp-ontap_cifs_service',
    what: 'the CIFS server goes, with the credentials of who takes it out of its domain',
    async run(provider) {
      const path = `protocols/cifs/services/${await svmUuid(provider)}`
      await provider.remove(path, { ad_domain: { user: 'admin', password: 'a password' } })
    },
  },
]
