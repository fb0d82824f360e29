import assert from 'node:assert/strict'
import { asNumber, asText } from '../../support/body.ts'
import type { Decoded, Shape } from '../../support/shape.ts'
import { AGGREGATE, SVM, type Part } from './backend.ts'
import type { Driver } from './driver.ts'

const MB = 2 ** 20
const VOLUMES = 'storage/volumes'

const VOLUME: Shape = {
  uuid: 'string',
  name: 'string',
  type: 'string',
  size: 'int',
  comment: 'string',
  state: 'string',
  aggregates: [{ name: 'string' }],
  nas: {
    path: 'string',
    export_policy: { name: 'string', id: 'int' },
    unix_permissions: 'int',
    security_style: 'string',
  },
  guarantee: { type: 'string' },
  snapshot_policy: { name: 'string' },
  snapshot_directory_access_enabled: 'bool',
  space: {
    size: 'int',
    used: 'int',
    snapshot: { used: 'int', reserve_percent: 'int' },
    logical_space: { used: 'int', enforcement: 'bool', reporting: 'bool' },
  },
  quota: { enabled: 'bool', state: 'string' },
  clone: { is_flexclone: 'bool', parent_volume: { name: 'string' }, parent_snapshot: { name: 'string' } },
}
const FIELDS = [
  'type,size,comment,aggregates,nas,guarantee,snapshot_policy,snapshot_directory_access_enabled',
  'space.snapshot.used,space.snapshot.reserve_percent,nas.export_policy.name',
].join(',')

/** It looks for a volume by name among those of one style. */
export async function findVolume(driver: Driver, svm: string, name: string, fields = '') {
  return driver.find(VOLUMES, { name, style: 'flexvol', 'svm.uuid': svm, fields }, VOLUME)
}

export async function volumeUuid(driver: Driver, svm: string, name: string): Promise<string> {
  return asText((await findVolume(driver, svm, name))?.['uuid'])
}

/** A volume as the drivers make it; `nas` where they need more than the defaults. */
export async function makeVolume(driver: Driver, svm: string, name: string, exportPolicy = 'default'): Promise<void> {
  await driver.accepted('POST', VOLUMES, {
    name,
    size: 64 * MB,
    guarantee: { type: 'none' },
    snapshot_policy: { name: 'none' },
    comment: '{"provisioning":{"storageClass":"basic"}}',
    state: 'online',
    style: 'flexvol',
    aggregates: [{ name: AGGREGATE }],
    space: { snapshot: { reserve_percent: 5 } },
    svm: { uuid: svm },
    nas: { security_style: 'unix', unix_permissions: 711, export_policy: { name: exportPolicy } },
    tiering: { policy: 'none' },
    encryption: { enabled: false },
  })
}

export async function removeVolume(driver: Driver, svm: string, name: string): Promise<void> {
  await driver.accepted('DELETE', `${VOLUMES}/${await volumeUuid(driver, svm, name)}`, undefined, { force: 'true' })
}

export const volumeParts: readonly Part[] = [
  {
    drivers: 'ontap-nas',
    what: 'a volume is made, mounted, changed, grown, unmounted, renamed, and removed for good',
    async run(driver, svm) {
      assert.equal(await findVolume(driver, svm, 'trident_pvc_1'), undefined)
      await makeVolume(driver, svm, 'trident_pvc_1')
      const made = await findVolume(driver, svm, 'trident_pvc_1', FIELDS)
      assert.ok(made !== undefined)
      assert.deepEqual(
        [made['type'], asNumber(made['size']), made['comment'], made['aggregates'], made['guarantee']],
        ['rw', 64 * MB, '{"provisioning":{"storageClass":"basic"}}', [{ name: AGGREGATE }], { type: 'none' }],
      )
      assert.deepEqual([made['nas']?.['unix_permissions'], made['space']?.['snapshot']?.['reserve_percent']], [711, 5])
      const path = `${VOLUMES}/${asText(made['uuid'])}`
      const changes: readonly [unknown, (volume: Decoded) => unknown, unknown][] = [
        [{ nas: { path: '/trident_pvc_1' } }, ({ nas }) => nas?.['path'], '/trident_pvc_1'],
        [{ nas: { unix_permissions: 777 } }, ({ nas }) => nas?.['unix_permissions'], 777],
        [{ nas: { export_policy: { name: 'default' } } }, ({ nas }) => nas?.['export_policy']?.['name'], 'default'],
        [{ comment: 'another' }, ({ comment }) => comment, 'another'],
        [{ snapshot_directory_access_enabled: true }, (volume) => volume['snapshot_directory_access_enabled'], true],
        [{ size: 96 * MB }, ({ size }) => size, 96 * MB],
        [{ nas: { path: '' } }, ({ nas }) => nas?.['path'], ''],
      ]
      for (const [change, seen, wanted] of changes) {
        await driver.accepted('PATCH', path, change)
        const volume = await findVolume(driver, svm, 'trident_pvc_1', FIELDS)
        assert.ok(volume !== undefined)
        assert.deepEqual(seen(volume), wanted)
      }
      const query = { name: 'trident_pvc_1', style: 'flexvol', 'svm.uuid': svm, state: 'online' }
      const used = await driver.find(VOLUMES, { ...query, fields: 'space.logical_space.used' }, VOLUME)
      assert.ok(asNumber(used?.['space']?.['logical_space']?.['used']) >= 0)
      await driver.accepted('PATCH', path, { name: 'trident_pvc_2' })
      await removeVolume(driver, svm, 'trident_pvc_2')
      assert.equal(await findVolume(driver, svm, 'trident_pvc_2'), undefined)
      const queue = 'private/cli/volume/recovery-queue'
      const deleted = await driver.list(queue, { vserver: SVM, volume: 'trident_pvc_2*' }, { volume: 'string' })
      for (const { volume } of deleted)
        await driver.answered('POST', `${queue}/purge`, 202, { vserver: SVM, volume: asText(volume) })
    },
  },
  {
    drivers: 'ontap-nas',
    what: 'volumes are listed by what a storage class asks for; a FlexGroup is refused',
    async run(driver, svm) {
      await makeVolume(driver, svm, 'trident_list')
      const attributes = {
        name: 'trident_*',
        'svm.uuid': svm,
        'aggregates.name': `${AGGREGATE}|aggr_other`,
        'tiering.policy': 'none',
        'snapshot_policy.name': 'none',
        'guarantee.type': 'none',
        'space.snapshot.reserve_percent': '5',
        snapshot_directory_access_enabled: 'false|true',
        'encryption.enabled': 'false',
        state: 'online',
        style: 'flexvol',
      }
      const { snapshot_directory_access_enabled: _access, ...without } = attributes
      const listed = await driver.list(VOLUMES, { ...without, fields: FIELDS }, VOLUME)
      assert.deepEqual(
        listed.map(({ name }) => name),
        ['trident_list'],
      )
      const shown = JSON.stringify(listed[0]?.['snapshot_directory_access_enabled'])
      const same = await driver.list(VOLUMES, { ...attributes, snapshot_directory_access_enabled: shown }, VOLUME)
      assert.equal(same.length, 1)
      assert.deepEqual(await driver.list(VOLUMES, { style: 'flexgroup', 'svm.uuid': svm, fields: '' }, VOLUME), [])
      const body = { name: 'group', size: 800 * MB, style: 'flexgroup', svm: { uuid: svm } }
      assert.match(await driver.refused('POST', VOLUMES, { ...body, aggregates: [{ name: AGGREGATE }] }), /^\d+$/)
      await removeVolume(driver, svm, 'trident_list')
    },
  },
  {
    drivers: 'ontap-nas, ontap-nas-economy',
    what: 'a snapshot is taken, found, cloned, the clone split, the volume restored, and all removed',
    async run(driver, svm) {
      await makeVolume(driver, svm, 'trident_snap')
      const uuid = await volumeUuid(driver, svm, 'trident_snap')
      const snapshots = `${VOLUMES}/${uuid}/snapshots`
      await driver.accepted('POST', snapshots, { name: 'snap1', svm: { uuid: svm } })
      const query = { 'svm.uuid': svm, fields: 'name,create_time' }
      const [taken, ...others] = await driver.list(snapshots, query, SNAPSHOT)
      assert.ok(taken !== undefined && others.length === 0)
      assert.ok(Number.isFinite(Date.parse(asText(taken['create_time']))))
      assert.deepEqual(await driver.find(snapshots, { ...query, name: 'snap1' }, SNAPSHOT), taken)
      assert.equal(await driver.find(snapshots, { ...query, name: 'other' }, SNAPSHOT), undefined)
      const one = await driver.get(`${snapshots}/${asText(taken['uuid'])}`, {}, SNAPSHOT)
      assert.equal(one['name'], 'snap1')

      const clone = {
        parent_volume: { name: 'trident_snap' },
        is_flexclone: true,
        parent_snapshot: { name: 'snap1' },
      }
      const body = { name: 'trident_clone', svm: { uuid: svm }, clone }
      await driver.accepted('POST', VOLUMES, body, { return_records: 'true' })
      const of = { 'clone.parent_volume.name': 'trident_snap', 'clone.parent_snapshot.name': 'snap1' }
      const clones = await driver.list(VOLUMES, { ...of, 'svm.uuid': svm, fields: 'name' }, VOLUME)
      assert.deepEqual(
        clones.map(({ name, clone: of_ }) => [name, of_?.['parent_volume'], of_?.['parent_snapshot']]),
        [['trident_clone', { name: 'trident_snap' }, { name: 'snap1' }]],
      )
      assert.match(await driver.refused('DELETE', `${snapshots}/${asText(taken['uuid'])}`), /^\d+$/)
      const cloned = `${VOLUMES}/${await volumeUuid(driver, svm, 'trident_clone')}`
      await driver.accepted('PATCH', cloned, { clone: { split_initiated: true } })
      await driver.accepted('PATCH', `${VOLUMES}/${uuid}`, {}, { 'restore_to.snapshot.name': 'snap1' })
      await driver.accepted('DELETE', `${snapshots}/${asText(taken['uuid'])}`)
      assert.deepEqual(await driver.list(snapshots, query, SNAPSHOT), [])
      await removeVolume(driver, svm, 'trident_clone')
      await removeVolume(driver, svm, 'trident_snap')
    },
  },
]

const SNAPSHOT: Shape = { uuid: 'string', name: 'string', create_time: 'string', size: 'int' }
