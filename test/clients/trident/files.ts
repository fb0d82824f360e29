import assert from 'node:assert/strict'
import { asNumber, asText } from '../../support/body.ts'
import type { Shape } from '../../support/shape.ts'
import type { Part } from './backend.ts'
import { findVolume, makeVolume, removeVolume, volumeUuid } from './volumes.ts'

const MB = 2 ** 20
const POLICIES = 'protocols/nfs/export-policies'
const QTREES = 'storage/qtrees'
const QUOTAS = 'storage/quota/rules'
const SHARES = 'protocols/cifs/shares'

const POLICY: Shape = { id: 'int', name: 'string' }
const RULE: Shape = { index: 'int', clients: [{ match: 'string' }] }
const QTREE: Shape = {
  id: 'int',
  name: 'string',
  path: 'string',
  volume: { name: 'string', uuid: 'string' },
  export_policy: { name: 'string', id: 'int' },
}
const QUOTA: Shape = {
  uuid: 'string',
  type: 'string',
  space: { hard_limit: 'int' },
  qtree: { name: 'string', id: 'int' },
  volume: { name: 'string' },
}
const SHARE: Shape = { name: 'string', path: 'string', svm: { uuid: 'string' } }

export const fileParts: readonly Part[] = [
  {
    drivers: 'ontap-nas, ontap-nas-economy',
    what: 'an export policy gets rules for addresses that come and go; a rule that is there already is told as that',
    async run(driver, svm) {
      const policy = { name: 'trident-pv', svm: { uuid: svm } }
      await driver.answered('POST', POLICIES, 201, policy)
      assert.match(await driver.refused('POST', POLICIES, policy), /^\d+$/)
      const found = await driver.find(POLICIES, { 'svm.uuid': svm, name: 'trident-pv', fields: '' }, POLICY)
      const own = `${POLICIES}/${asNumber(found?.['id'])}`
      const ruled = {
        clients: [{ match: '10.0.0.1' }, { match: 'fd00::1' }],
        protocols: ['nfs'],
        ro_rule: ['any'],
        rw_rule: ['any'],
        superuser: ['any'],
      }
      await driver.answered('POST', `${own}/rules`, 201, ruled)
      assert.equal(await driver.refused('POST', `${own}/rules`, ruled), '1704070')
      await driver.answered('POST', `${own}/rules`, 201, { ...ruled, clients: [{ match: '10.0.0.2' }] })
      const rules = await driver.list(`${own}/rules`, { fields: 'clients' }, RULE)
      assert.deepEqual(
        rules.map(({ index, clients }) => [index, clients]),
        [
          [1, ruled.clients],
          [2, [{ match: '10.0.0.2' }]],
        ],
      )
      await driver.answered('DELETE', `${own}/rules/1`, 200)
      assert.equal(await driver.refused('DELETE', `${own}/rules/1`), '4')
      await makeVolume(driver, svm, 'trident_exported', 'trident-pv')
      const volume = await volumeUuid(driver, svm, 'trident_exported')
      const missing = { nas: { export_policy: { name: 'trident-none' } } }
      assert.equal(await driver.refused('PATCH', `storage/volumes/${volume}`, missing), '1703954')
      assert.match(await driver.refused('DELETE', own), /^\d+$/)
      await removeVolume(driver, svm, 'trident_exported')
      await driver.answered('DELETE', own, 200)
      assert.equal(await driver.find(POLICIES, { 'svm.uuid': svm, name: 'trident-pv', fields: '' }, POLICY), undefined)
    },
  },
  {
    drivers: 'ontap-nas-economy',
    what: 'qtrees of a volume, each with a quota that grows; the qtree is renamed and removed',
    async run(driver, svm) {
      await makeVolume(driver, svm, 'trident_qtree_pool')
      const volume = await volumeUuid(driver, svm, 'trident_qtree_pool')
      await driver.accepted('PATCH', `storage/volumes/${volume}`, { nas: { path: '/trident_qtree_pool' } })
      const of = { 'svm.uuid': svm, 'volume.name': 'trident_qtree_pool' }
      const whole = { qtree: { name: '' }, volume: { name: 'trident_qtree_pool' }, type: 'tree', svm: { uuid: svm } }
      await driver.done('POST', QUOTAS, whole)
      const before = await findVolume(driver, svm, 'trident_qtree_pool', 'quota')
      assert.equal(before?.['quota']?.['enabled'], false)
      await driver.done('PATCH', `storage/volumes/${volume}`, { quota: { enabled: true } })
      const made = {
        name: 'trident_pvc_3',
        volume: { name: 'trident_qtree_pool' },
        svm: { uuid: svm },
        unix_permissions: 777,
        export_policy: { name: 'default' },
        security_style: 'unix',
      }
      await driver.done('POST', QTREES, made)
      const exists = { ...of, 'volume.name': 'trident_qtree_pool*', name: 'trident_pvc_3', fields: '' }
      const found = await driver.find(QTREES, exists, QTREE)
      assert.equal(found?.['volume']?.['name'], 'trident_qtree_pool')
      // The volume itself is one of them, and is not counted.
      assert.equal((await driver.list(QTREES, { ...of, fields: '' }, QTREE)).length - 1, 1)

      const quota = { ...whole, qtree: { name: 'trident_pvc_3' }, space: { hard_limit: 8 * MB } }
      await driver.done('POST', QUOTAS, quota)
      const ofQuota = { ...of, type: 'tree', 'qtree.name': 'trident_pvc_3', fields: 'uuid,space.hard_limit' }
      const rule = await driver.find(QUOTAS, ofQuota, QUOTA)
      assert.equal(rule?.['space']?.['hard_limit'], 8 * MB)
      await driver.done('PATCH', `${QUOTAS}/${asText(rule['uuid'])}`, { space: { hard_limit: 16 * MB } })
      const fields = 'space.hard_limit,uuid,qtree.name,volume.name'
      const rules = await driver.list(QUOTAS, { ...of, type: 'tree', fields }, QUOTA)
      const limits = rules.map((one) => `${asText(one['qtree']?.['name'])}: ${asNumber(one['space']?.['hard_limit'])}`)
      assert.deepEqual(limits.toSorted(), [': 0', `trident_pvc_3: ${16 * MB}`])

      const path = '/trident_qtree_pool/trident_pvc_3'
      const byPath = await driver.find(QTREES, { 'svm.uuid': svm, path, fields: '' }, QTREE)
      assert.equal(byPath?.['id'], found['id'])
      const own = `${QTREES}/${volume}/${asNumber(found['id'])}`
      await driver.done('PATCH', own, { name: 'deleted_trident_pvc_3' })
      await driver.done('PATCH', own, { export_policy: { name: 'default' } })
      assert.equal(await driver.refused('PATCH', own, { export_policy: { name: 'trident-none' } }), '1703954')
      const renamed = { ...of, name: 'deleted_*', 'volume.name': 'trident_qtree_pool*', fields: 'export_policy.name' }
      const again = await driver.find(QTREES, renamed, QTREE)
      assert.equal(again?.['export_policy']?.['name'], 'default')
      await driver.done('DELETE', own)
      assert.equal(await driver.find(QTREES, renamed, QTREE), undefined)
      await removeVolume(driver, svm, 'trident_qtree_pool')
    },
  },
  {
    drivers: 'ontap-nas',
    what: 'a share of a volume is made, opened to a user, closed to everyone, and removed',
    async run(driver, svm) {
      await makeVolume(driver, svm, 'trident_smb')
      const volume = await volumeUuid(driver, svm, 'trident_smb')
      await driver.accepted('PATCH', `storage/volumes/${volume}`, { nas: { path: '/trident_smb' } })
      const share = { name: 'trident_smb', path: '/trident_smb', svm: { uuid: svm } }
      await driver.answered('POST', SHARES, 201, share)
      const query = { 'svm.uuid': svm, name: 'trident_smb' }
      assert.equal((await driver.find(SHARES, query, SHARE))?.['name'], 'trident_smb')
      const acls = `${SHARES}/${svm}/trident_smb/acls`
      const entry = { permission: 'full_control', user_or_group: 'pvc_user' }
      await driver.answered('POST', acls, 201, entry)
      assert.equal(await driver.refused('POST', acls, entry), '1')
      await driver.answered('DELETE', `${acls}/Everyone/windows`, 200)
      assert.equal(await driver.refused('DELETE', `${acls}/Everyone/windows`), '4')
      await driver.answered('DELETE', `${SHARES}/${svm}/trident_smb`, 200)
      assert.equal(await driver.find(SHARES, query, SHARE), undefined)
      await removeVolume(driver, svm, 'trident_smb')
    },
  },
]
