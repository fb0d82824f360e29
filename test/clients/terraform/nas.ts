import assert from 'node:assert/strict'
import { asNumber, asText } from '../../support/body.ts'
import { AGGREGATE, SVM, svmUuid, type Flow } from './flow.ts'
import type { Shape } from '../../support/shape.ts'
import type { Provider } from './provider.ts'

const MB = 2 ** 20
const RETURNED = { return_records: 'true' }

const QTREE: Shape = {
  name: 'string',
  id: 'int',
  svm: { name: 'string' },
  security_style: 'string',
  nas: { path: 'string' },
  user: { name: 'string' },
  group: { name: 'string' },
  volume: { name: 'string', id: 'string' },
  qos_policy: { name: 'string', uuid: 'string', max_throughput_iops: 'int' },
  unix_permissions: 'int',
  export_policy: { name: 'string', id: 'int' },
}
const QTREE_FIELDS = ['name,svm.name,security_style,nas,user.name,group.name,volume,unix_permissions', 'export_policy']

const LIMITS: Shape = { soft_limit: 'int', hard_limit: 'int' }
const RULE: Shape = {
  svm: { name: 'string' },
  volume: { name: 'string' },
  users: [{ name: 'string' }],
  group: { name: 'string' },
  qtree: { name: 'string' },
  type: 'string',
  files: LIMITS,
  space: LIMITS,
  user_mapping: 'bool',
  uuid: 'string',
}

const EXPORT_POLICY: Shape = { name: 'string', svm: { name: 'string', uuid: 'string' }, id: 'int' }
const EXPORT_RULE: Shape = {
  ro_rule: ['string'],
  rw_rule: ['string'],
  protocols: ['string'],
  anonymous_user: 'string',
  superuser: ['string'],
  allow_device_creation: 'bool',
  ntfs_unix_security: 'string',
  chown_mode: 'string',
  allow_suid: 'bool',
  index: 'int',
  clients: [{ match: 'string' }],
}

const NFS: Shape = {
  enabled: 'bool',
  protocol: {
    v3_enabled: 'bool',
    v4_id_domain: 'string',
    v40_enabled: 'bool',
    v40_features: { acl_enabled: 'bool', read_delegation_enabled: 'bool', write_delegation_enabled: 'bool' },
    v41_enabled: 'bool',
    v41_features: {
      acl_enabled: 'bool',
      pnfs_enabled: 'bool',
      read_delegation_enabled: 'bool',
      write_delegation_enabled: 'bool',
    },
  },
  root: { ignore_nt_acl: 'bool', skip_write_permission_check: 'bool' },
  security: {
    chown_mode: 'string',
    nt_acl_display_permission: 'bool',
    ntfs_unix_security: 'string',
    permitted_encryption_types: ['string'],
    rpcsec_context_idle: 'int',
  },
  showmount_enabled: 'bool',
  transport: { tcp_enabled: 'bool', tcp_max_transfer_size: 'int', udp_enabled: 'bool' },
  vstorage_enabled: 'bool',
  windows: { default_user: 'string', map_unknown_uid_to_default_user: 'bool', v3_ms_dos_client_enabled: 'bool' },
}
const NFS_FIELDS = [
  'svm.name,svm.uuid,protocol.v3_enabled,protocol.v40_enabled,protocol.v41_enabled',
  'protocol.v41_features.pnfs_enabled,vstorage_enabled,protocol.v4_id_domain,transport.tcp_enabled',
  'transport.udp_enabled,protocol.v40_features.acl_enabled,protocol.v40_features.read_delegation_enabled',
  'protocol.v40_features.write_delegation_enabled,protocol.v41_features.acl_enabled',
  'protocol.v41_features.read_delegation_enabled,protocol.v41_features.write_delegation_enabled,enabled',
  'root.ignore_nt_acl,root.skip_write_permission_check,security.chown_mode',
  'security.nt_acl_display_permission,security.ntfs_unix_security,security.rpcsec_context_idle',
  'windows.default_user,windows.map_unknown_uid_to_default_user,windows.v3_ms_dos_client_enabled',
  'transport.tcp_max_transfer_size',
]

/** The volume that qtrees and rules are made in. */
async function volumeFor(provider: Provider): Promise<string> {
  const body = {
    name: 'tf_nas',
    svm: { name: SVM },
    aggregates: [{ name: AGGREGATE }],
    space: { size: 64 * MB },
    guarantee: { type: 'none' },
    nas: { path: '/tf_nas' },
  }
  return asText((await provider.create('storage/volumes', body, { uuid: 'string' }))['uuid'])
}

export const nasFlows: readonly Flow[] = [
  {
    resource: 'netapp-ontap_qtree',
    what: 'a qtree that belongs to a UNIX user and group; its permissions change, then its name',
    async run(provider) {
      const svm = await svmUuid(provider)
      await provider.create(
        'name-services/unix-users',
        { svm: { name: SVM }, name: 'anna', id: 1001, primary_gid: 100 },
        {},
      )
      await provider.create('name-services/unix-groups', { svm: { name: SVM }, name: 'staff', id: 100 }, {})
      await provider.read(`/name-services/unix-users/${svm}/anna`, {}, {})
      await provider.read(`/name-services/unix-groups/${svm}/staff`, {}, {})
      const volume = await volumeFor(provider)
      const body = {
        name: 'tf_qtree',
        svm: { name: SVM },
        volume: { name: 'tf_nas' },
        security_style: 'unix',
        unix_permissions: 744,
        export_policy: { name: 'default' },
        user: { name: 'anna' },
        group: { name: 'staff' },
      }
      await provider.create('storage/qtrees', body, QTREE, { ...RETURNED, synchronous: 'true' })
      const query = { name: 'tf_qtree', 'svm.name': SVM, 'volume.name': 'tf_nas', fields: QTREE_FIELDS }
      const read = await provider.read('storage/qtrees', query, QTREE)
      assert.deepEqual(
        [
          read['id'],
          read['nas']?.['path'],
          read['user'],
          read['group'],
          read['unix_permissions'],
          read['volume']?.['name'],
        ],
        [1, '/tf_nas/tf_qtree', body.user, body.group, 744, 'tf_nas'],
      )
      const { id, name } = read['export_policy'] ?? {}
      assert.equal(name, 'default')
      const change = {
        name: 'tf_qtree',
        svm: {},
        volume: {},
        security_style: 'mixed',
        unix_permissions: 700,
        user: {},
        group: {},
      }
      await provider.update(`storage/qtrees/${volume}/1`, { ...change, export_policy: { name: 'default', id } })
      await provider.update(`storage/qtrees/${volume}/1`, { ...change, name: 'tf_renamed', export_policy: {} })
      const changed = await provider.read('storage/qtrees', { ...query, name: 'tf_renamed' }, QTREE)
      assert.deepEqual([changed['security_style'], changed['unix_permissions']], ['mixed', 700])
      const listed = { fields: ['name', 'svm.name', 'security_style', 'nas', 'user', 'volume'], 'svm.name': SVM }
      assert.equal((await provider.list('storage/qtrees', { ...listed, name: 'tf_*' }, QTREE)).length, 1)
      await provider.remove(`storage/qtrees/${volume}/1`)
      await provider.remove(`storage/volumes/${volume}`)
      await provider.remove(`name-services/unix-users/${svm}/anna`)
      await provider.remove(`name-services/unix-groups/${svm}/staff`)
    },
  },
  {
    resource: 'netapp-ontap_quota_rule',
    what: 'rules for a qtree, a user and a group of the volume, with other limits later',
    async run(provider) {
      const volume = await volumeFor(provider)
      await provider.create('storage/qtrees', { name: 'q', svm: { name: SVM }, volume: { name: 'tf_nas' } }, {})
      const of = { svm: { name: SVM }, volume: { name: 'tf_nas' } }
      const limits = { files: { soft_limit: 80, hard_limit: 100 }, space: { soft_limit: MB, hard_limit: 2 * MB } }
      for (const body of [
        { ...of, type: 'tree', qtree: { name: 'q' }, ...limits },
        { ...of, type: 'user', users: ['anna'], qtree: { name: '' }, ...limits },
        { ...of, type: 'group', group: { name: 'staff' }, qtree: { name: '' }, ...limits },
      ]) {
        const { uuid } = await provider.create('storage/quota/rules', body, { uuid: 'string' })
        const path = `storage/quota/rules/${asText(uuid)}`
        const fields = ['svm.name', 'volume.name', 'users', 'group', 'qtree', 'type', 'files', 'space', 'uuid']
        const read = await provider.read(path, { fields }, RULE)
        assert.deepEqual([read['type'], read['files'], read['space']], [body.type, limits.files, limits.space])
        const change = { files: {}, space: { soft_limit: 2 * MB, hard_limit: 3 * MB } }
        await provider.update(path, change, {}, RETURNED)
        const whole = ['volume', 'svm', 'type', 'qtree', 'users', 'group', 'files', 'space', 'user_mapping', 'uuid']
        const found = { 'volume.name': 'tf_nas', type: body.type, 'svm.name': SVM, fields: whole }
        const changed = await provider.read('storage/quota/rules', found, RULE)
        assert.deepEqual([changed['files'], changed['space']], [limits.files, change.space])
        await provider.remove(path)
      }
      await provider.remove(`storage/volumes/${volume}`)
    },
  },
  {
    resource: 'netapp-ontap_nfs_export_policy',
    what: 'a policy and its rule: found by number and by name, renamed, changed and removed',
    async run(provider) {
      const policy = await provider.create(
        'protocols/nfs/export-policies',
        { name: 'tf_policy', svm: { name: SVM } },
        EXPORT_POLICY,
      )
      const path = `protocols/nfs/export-policies/${asNumber(policy['id'])}`
      assert.equal((await provider.read(path, {}, EXPORT_POLICY))['name'], 'tf_policy')
      await provider.update(path, { name: 'tf_renamed' }, {}, RETURNED)
      const query = { fields: ['name', 'id', 'svm.name', 'svm.uuid'], 'svm.name': SVM, name: 'tf_renamed' }
      const [listed] = await provider.list('protocols/nfs/export-policies', query, EXPORT_POLICY)
      assert.equal(listed?.['id'], policy['id'])
      const rule = {
        clients: [{ match: '192.0.2.0/24' }],
        ro_rule: ['any'],
        rw_rule: ['sys', 'krb5'],
        protocols: ['nfs3', 'nfs4'],
        anonymous_user: '99',
        superuser: ['sys'],
        ntfs_unix_security: 'ignore',
        chown_mode: 'unrestricted',
        allow_device_creation: true,
        allow_suid: true,
      }
      const made = await provider.create(`${path}/rules`, rule, EXPORT_RULE)
      assert.deepEqual(made, { ...rule, index: 1 })
      const change = { ro_rule: ['sys'], rw_rule: ['never'], clients: [{ match: '198.51.100.7' }], index: 1 }
      await provider.update(`${path}/rules/1`, { ...change, index: undefined })
      assert.deepEqual(await provider.read(`${path}/rules/1`, {}, EXPORT_RULE), { ...rule, ...change })
      await provider.remove(`${path}/rules/1`)
      await provider.remove(path)
    },
  },
  {
    resource: 'netapp-ontap_nfs_service',
    what: 'the NFS service of an SVM is made, changed and removed',
    async run(provider) {
      const body = {
        svm: { name: SVM },
        enabled: true,
        protocol: {
          v3_enabled: false,
          v4_id_domain: 'example.com',
          v40_enabled: true,
          v40_features: { acl_enabled: true, read_delegation_enabled: false, write_delegation_enabled: true },
          v41_enabled: true,
          v41_features: {
            acl_enabled: true,
            pnfs_enabled: false,
            read_delegation_enabled: true,
            write_delegation_enabled: false,
          },
        },
        root: { ignore_nt_acl: true, skip_write_permission_check: false },
        security: {
          chown_mode: 'unrestricted',
          nt_acl_display_permission: true,
          ntfs_unix_security: 'ignore',
          permitted_encryption_types: ['aes_256'],
          rpcsec_context_idle: 20,
        },
        showmount_enabled: true,
        transport: { tcp_enabled: true, tcp_max_transfer_size: 16_384, udp_enabled: false },
        vstorage_enabled: true,
        windows: { default_user: 'guest', map_unknown_uid_to_default_user: true, v3_ms_dos_client_enabled: false },
      }
      await provider.create('protocols/nfs/services', body, NFS)
      const query = {
        'svm.name': SVM,
        fields: [...NFS_FIELDS, 'security.permitted_encryption_types', 'showmount_enabled'],
      }
      const { svm: _svm, ...settings } = body
      assert.deepEqual(await provider.read('protocols/nfs/services', query, NFS), settings)
      await provider.read('protocols/nfs/services', { 'svm.name': SVM, fields: NFS_FIELDS }, NFS)
      const path = `protocols/nfs/services/${await svmUuid(provider)}`
      await provider.update(
        path,
        { ...settings, svm: { name: SVM }, enabled: false, vstorage_enabled: false },
        {},
        RETURNED,
      )
      const changed = await provider.read('protocols/nfs/services', query, NFS)
      assert.deepEqual(changed, { ...settings, enabled: false, vstorage_enabled: false })
      await provider.remove(path)
    },
  },
]
