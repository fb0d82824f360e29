import assert from 'node:assert/strict'
import { asText } from '../../support/body.ts'
import { AGGREGATE, SVM, svmUuid, type Flow } from './flow.ts'
import type { Decoded, Shape } from '../../support/shape.ts'
import type { Provider } from './provider.ts'

const MB = 2 ** 20

const FIELDS = [
  'name,svm.name,aggregates,space.size,state,type,nas.export_policy.name,nas.path',
  'guarantee.type,space.snapshot.reserve_percent,nas.security_style,encryption.enabled',
  'efficiency.policy.name,nas.unix_permissions,nas.gid,nas.uid,snapshot_policy.name',
  'qos.policy.name,snapshot_locking_enabled,tiering.policy,comment,efficiency.compression',
  'tiering.min_cooling_days,space.logical_space.enforcement,space.logical_space.reporting',
  'language,snaplock.type,analytics.state,autosize',
]

const VOLUME: Shape = {
  name: 'string',
  svm: { name: 'string' },
  space: {
    size: 'int',
    snapshot: { reserve_percent: 'int' },
    logical_space: { enforcement: 'bool', reporting: 'bool' },
  },
  state: 'string',
  type: 'string',
  comment: 'string',
  guarantee: { type: 'string' },
  nas: {
    export_policy: { name: 'string' },
    path: 'string',
    security_style: 'string',
    unix_permissions: 'int',
    gid: 'int',
    uid: 'int',
  },
  qos: { policy: { name: 'string' } },
  encryption: { enabled: 'bool' },
  efficiency: { policy: { name: 'string' }, compression: 'string', dedupe: 'string', compaction: 'string' },
  snapshot_policy: { name: 'string' },
  tiering: { policy: 'string', min_cooling_days: 'int' },
  snaplock: { type: 'string' },
  analytics: { state: 'string' },
  language: 'string',
  aggregates: [{ name: 'string' }],
  autosize: { minimum: 'int', maximum: 'int', shrink_threshold: 'int', grow_threshold: 'int', mode: 'string' },
  uuid: 'string',
  snapshot_locking_enabled: 'bool',
}

const CLONE: Shape = {
  svm: { name: 'string' },
  name: 'string',
  type: 'string',
  clone: {
    is_flexclone: 'bool',
    split: 'bool',
    parent_volume: { name: 'string' },
    parent_snapshot: { name: 'string' },
    parent_svm: { name: 'string' },
  },
  nas: { path: 'string', gid: 'int', uid: 'int' },
  uuid: 'string',
}

const SNAPSHOT: Shape = {
  name: 'string',
  volume: { uuid: 'string', name: 'string' },
  create_time: 'string',
  expiry_time: 'string',
  state: 'string',
  size: 'float',
  comment: 'string',
  uuid: 'string',
}

/** What is not configured is sent as empty objects, or as the zero of its type. */
const EMPTY = {
  svm: {},
  space: { snapshot: {}, logical_space: { enforcement: false, reporting: false } },
  guarantee: {},
  nas: { export_policy: {}, path: '', gid: 0, uid: 0 },
  qos: { policy: {} },
  encryption: { enabled: false },
  efficiency: { policy: {} },
  snapshot_policy: {},
  tiering: {},
  snaplock: {},
  analytics: {},
  autosize: {},
}

/** Of a change, these are left out unless they change. */
const { encryption: _encryption, ...UNCHANGED } = EMPTY

async function made(provider: Provider, name: string): Promise<Decoded> {
  const space = { ...EMPTY.space, size: 64 * MB }
  const body = { ...EMPTY, name, svm: { name: SVM }, aggregates: [{ name: AGGREGATE }], space }
  return provider.create('storage/volumes', { ...body, guarantee: { type: 'none' } }, VOLUME)
}

/** What is not asked for is not there. */
function asAsked(volume: Decoded): unknown {
  return { ...volume, efficiency: { ...volume['efficiency'], dedupe: '', compaction: '' } }
}

export const volumeFlows: readonly Flow[] = [
  {
    resource: 'netapp-ontap_volume',
    what: 'a volume of which little is said, grown by its size, mounted, and removed',
    async run(provider) {
      const volume = await made(provider, 'tf_vol')
      const path = `storage/volumes/${asText(volume['uuid'])}`
      assert.deepEqual(
        [volume['space']?.['size'], volume['state'], volume['type'], volume['aggregates'], volume['nas']?.['path']],
        [64 * MB, 'online', 'rw', [{ name: AGGREGATE }], ''],
      )
      assert.deepEqual(await provider.read(path, { fields: FIELDS }, VOLUME), asAsked(volume))
      const space = {
        size: 96 * MB,
        snapshot: { reserve_percent: 10 },
        logical_space: { enforcement: true, reporting: true },
      }
      const nas = { export_policy: { name: 'default' }, path: '/tf_vol', security_style: 'unix', unix_permissions: 750 }
      await provider.update(path, { ...UNCHANGED, space, nas, comment: 'grown' })
      const read = await provider.read(path, { fields: FIELDS }, VOLUME)
      assert.deepEqual(read['space'], space)
      assert.deepEqual(read['nas'], { ...nas, gid: 0, uid: 0 })
      await provider.update(path, { ...UNCHANGED, space, nas, comment: 'grown' })
      assert.deepEqual(await provider.read(path, { fields: FIELDS }, VOLUME), read)
      await provider.update(path, { ...UNCHANGED, nas: { export_policy: {}, path: '' }, space: { snapshot: {} } })
      assert.equal((await provider.read(path, { fields: FIELDS }, VOLUME))['nas']?.['path'], '')
      await provider.remove(path)
    },
  },
  {
    resource: 'netapp-ontap_volume',
    what: 'a volume with all that it takes, found by its name and its SVM',
    async run(provider) {
      await provider.create(
        'storage/qos/policies',
        { name: 'tf_vol_qos', svm: { name: SVM }, fixed: { max_throughput_iops: 100 }, adaptive: {} },
        {},
      )
      const body = {
        name: 'tf_full',
        svm: { name: SVM },
        space: {
          size: 128 * MB,
          snapshot: { reserve_percent: 20 },
          logical_space: { enforcement: false, reporting: true },
        },
        state: 'online',
        type: 'rw',
        comment: 'made by terraform',
        guarantee: { type: 'none' },
        nas: {
          export_policy: { name: 'default' },
          path: '/tf_full',
          security_style: 'mixed',
          unix_permissions: 777,
          gid: 10,
          uid: 11,
        },
        qos: { policy: { name: 'tf_vol_qos' } },
        encryption: { enabled: false },
        efficiency: { policy: { name: 'default' }, compression: 'background', dedupe: 'background' },
        snapshot_policy: { name: 'none' },
        tiering: { policy: 'none', min_cooling_days: 20 },
        snaplock: { type: 'non_snaplock' },
        analytics: { state: 'off' },
        aggregates: [{ name: AGGREGATE }],
        autosize: {
          minimum: 64 * MB,
          maximum: 256 * MB,
          shrink_threshold: 50,
          grow_threshold: 85,
          mode: 'grow',
        },
      }
      const volume = await provider.create('storage/volumes', body, VOLUME)
      const { uuid } = volume
      const expected = { ...body, uuid, language: volume['language'], snapshot_locking_enabled: false }
      assert.deepEqual(volume, { ...expected, efficiency: { ...body.efficiency, compaction: 'none' } })
      const query = { name: 'tf_full', 'svm.name': SVM, return_records: 'true', fields: [...FIELDS, 'uuid'] }
      const found = await provider.read('storage/volumes', query, VOLUME)
      assert.deepEqual(found, asAsked(volume))
      const listed = await provider.list(
        'storage/volumes',
        { fields: FIELDS, 'svm.name': SVM, name: 'tf_full' },
        VOLUME,
      )
      assert.equal(listed.length, 1)
      const short = {
        name: 'tf_full',
        'svm.uuid': await svmUuid(provider),
        fields: ['name', 'uuid', 'snapshot_locking_enabled'],
      }
      const named = await provider.read('storage/volumes/', short, { name: 'string', uuid: 'string' })
      assert.deepEqual(named, { name: 'tf_full', uuid })
      await provider.remove(`storage/volumes/${asText(uuid)}`)
      const policies = await provider.list(
        'storage/qos/policies',
        { name: 'tf_vol_qos', fields: 'uuid' },
        { uuid: 'string' },
      )
      await provider.remove(`storage/qos/policies/${asText(policies[0]?.['uuid'])}`)
    },
  },
  {
    resource: 'netapp-ontap_volume',
    what: 'what is refused by name: encryption, SnapLock, locked snapshots',
    async run(provider) {
      for (const refused of [
        { encryption: { enabled: true } },
        { snaplock: { type: 'enterprise' } },
        { snapshot_locking_enabled: true },
      ]) {
        const body = { ...EMPTY, name: 'tf_no', svm: { name: SVM }, space: { size: 64 * MB }, ...refused }
        const { error } = await provider.refused('POST', 'storage/volumes', body)
        assert.match(asText(error?.['message']), /is refused: /)
      }
    },
  },
  {
    resource: 'netapp-ontap_volume_snapshot',
    what: 'a snapshot is taken, found by its name, and removed',
    async run(provider) {
      const volume = await made(provider, 'tf_snapped')
      const path = `storage/volumes/${asText(volume['uuid'])}`
      await provider.create(`${path}/snapshots`, { name: 'tf_snap' }, {})
      const fields = ['name', 'create_time', 'expiry_time', 'state', 'size', 'comment', 'volume', 'volume.uuid']
      const found = await provider.read(`${path}/snapshots`, { name: 'tf_snap', fields }, SNAPSHOT)
      assert.deepEqual(found['volume'], { uuid: volume['uuid'], name: 'tf_snapped' })
      assert.match(asText(found['create_time']), /^\d{4}-/)
      await provider.remove(`${path}/snapshots/${asText(found['uuid'])}`)
      assert.equal(await provider.find(`${path}/snapshots`, { name: 'tf_snap', fields }, SNAPSHOT), undefined)
      await provider.remove(path)
    },
  },
  {
    resource: 'netapp-ontap_volume_clone',
    what: 'a clone of a snapshot, split from its parent',
    async run(provider) {
      const parent = await made(provider, 'tf_parent')
      const parentPath = `storage/volumes/${asText(parent['uuid'])}`
      await provider.create(`${parentPath}/snapshots`, { name: 'base' }, {})
      const of = {
        is_flexclone: true,
        parent_volume: { name: 'tf_parent' },
        parent_snapshot: { name: 'base' },
        parent_svm: {},
      }
      const body = { svm: { name: SVM }, name: 'tf_clone', clone: of, nas: { path: '/tf_clone' } }
      const clone = await provider.create('storage/volumes', body, CLONE)
      const path = `storage/volumes/${asText(clone['uuid'])}`
      const fields = ['svm', 'name', 'type', 'clone', 'nas', 'uuid']
      assert.deepEqual(clone['clone'], { ...of, split: false, parent_svm: { name: SVM } })
      assert.deepEqual(
        await provider.read('storage/volumes', { 'svm.name': SVM, name: 'tf_clone', fields }, CLONE),
        clone,
      )
      const clones = await provider.list(
        'storage/volumes',
        { 'clone.is_flexclone': 'true', 'svm.name': SVM, fields },
        CLONE,
      )
      assert.equal(clones.length, 1)
      await provider.update(path, { clone: { split_initiated: true } }, {}, { return_records: 'true' })
      const split = await provider.read('storage/volumes', { 'svm.name': SVM, name: 'tf_clone', fields }, CLONE)
      assert.equal(split['clone']?.['is_flexclone'], false)
      await provider.remove(path)
      await provider.remove(parentPath)
    },
  },
]
