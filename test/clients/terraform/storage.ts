import assert from 'node:assert/strict'
import { asText } from '../../support/body.ts'
import { AGGREGATE, SVM, type Flow } from './flow.ts'
import type { Shape } from '../../support/shape.ts'

const SCHEDULE: Shape = { name: 'string' }
const SNAPSHOT_POLICY: Shape = {
  name: 'string',
  uuid: 'string',
  svm: { name: 'string', uuid: 'string' },
  comment: 'string',
  enabled: 'bool',
  scope: 'string',
  copies: [
    { count: 'int', schedule: SCHEDULE, prefix: 'string', retention_period: 'string', snapmirror_label: 'string' },
  ],
}
const SNAPSHOT_POLICY_FIELDS = ['name,svm.name,copies,scope,enabled,comment']

const EFFICIENCY: Shape = {
  name: 'string',
  svm: { name: 'string' },
  type: 'string',
  qos_policy: 'string',
  comment: 'string',
  enabled: 'bool',
  schedule: { name: 'string' },
  duration: 'int',
  start_threshold_percent: 'int',
  uuid: 'string',
}
const EFFICIENCY_FIELDS = [
  'name,svm.name,type,qos_policy,comment,enabled,schedule,duration,start_threshold_percent,uuid',
]

const QOS: Shape = {
  name: 'string',
  uuid: 'string',
  svm: { name: 'string' },
  scope: 'string',
  fixed: {
    capacity_shared: 'bool',
    max_throughput_iops: 'int',
    max_throughput_mbps: 'int',
    min_throughput_iops: 'int',
    min_throughput_mbps: 'int',
  },
  adaptive: {
    expected_iops_allocation: 'string',
    expected_iops: 'int',
    peak_iops_allocation: 'string',
    block_size: 'string',
    peak_iops: 'int',
    absolute_min_iops: 'int',
  },
}
const QOS_FIELDS = ['name,svm.name,scope,fixed,adaptive,uuid']

const AGGREGATE_SHAPE: Shape = {
  name: 'string',
  uuid: 'string',
  state: 'string',
  snaplock_type: 'string',
  node: { name: 'string' },
  block_storage: {
    primary: {
      disk_class: 'string',
      disk_count: 'int',
      raid_size: 'int',
      raid_type: 'string',
      simulated_raid_groups: [{ name: 'string' }],
    },
    mirror: { enabled: 'bool' },
  },
  data_encryption: { software_encryption_enabled: 'bool' },
}
const AGGREGATE_FIELDS = [
  'name,node.name,uuid,state,block_storage.primary.disk_class,block_storage.primary.disk_count',
  'block_storage.primary.raid_size,block_storage.primary.raid_type,block_storage.mirror.enabled,snaplock_type',
  'data_encryption.software_encryption_enabled',
]

export const storageFlows: readonly Flow[] = [
  {
    resource: 'netapp-ontap_storage_snapshot_policy',
    what: 'a snapshot policy with two schedules is made, changed and removed',
    async run(provider) {
      const path = 'storage/snapshot-policies'
      const copies = [
        { count: 3, schedule: { name: 'hourly' }, prefix: 'tf_hourly', retention_period: 'P1D', snapmirror_label: 'h' },
        { count: 2, schedule: { name: 'daily' } },
      ]
      const body = { name: 'tf_policy', svm: { name: SVM }, copies, comment: 'made', enabled: true }
      const made = await provider.create(path, body, SNAPSHOT_POLICY)
      const uuid = asText(made['uuid'])
      const read = await provider.read(path, { uuid, fields: SNAPSHOT_POLICY_FIELDS }, SNAPSHOT_POLICY)
      assert.deepEqual([read['name'], read['comment'], read['enabled']], ['tf_policy', 'made', true])
      const shown = read['copies'] as unknown as { count: number; schedule: unknown; prefix: string }[]
      assert.deepEqual(
        shown.map((copy) => [copy.count, copy.schedule, copy.prefix]),
        [
          [3, { name: 'hourly' }, 'tf_hourly'],
          [2, { name: 'daily' }, 'daily'],
        ],
      )
      await provider.update(`${path}/${uuid}`, { comment: 'changed', enabled: false })
      const changed = await provider.read(path, { uuid, fields: SNAPSHOT_POLICY_FIELDS }, SNAPSHOT_POLICY)
      assert.deepEqual(changed, { ...read, comment: 'changed', enabled: false })
      await provider.remove(`${path}/${uuid}`)
      assert.equal(await provider.find(path, { uuid, fields: SNAPSHOT_POLICY_FIELDS }, SNAPSHOT_POLICY), undefined)
    },
  },
  {
    resource: 'netapp-ontap_storage_volume_efficiency_policies',
    what: 'an efficiency policy with a schedule is made, changed and removed',
    async run(provider) {
      const path = 'storage/volume-efficiency-policies'
      const body = { name: 'tf_sis', svm: { name: SVM }, type: 'scheduled', schedule: { name: 'daily' }, duration: 5 }
      const whole = { ...body, qos_policy: 'background', comment: 'made', enabled: true }
      const made = await provider.create(path, whole, EFFICIENCY)
      const query = { name: 'tf_sis', 'svm.name': SVM, fields: EFFICIENCY_FIELDS }
      const read = await provider.read(path, query, EFFICIENCY)
      assert.deepEqual(read, { ...whole, start_threshold_percent: 0, uuid: made['uuid'] })
      const own = `${path}/${asText(made['uuid'])}`
      await provider.update(own, { type: 'threshold', start_threshold_percent: 30, comment: 'changed', schedule: {} })
      const changed = await provider.read(path, query, EFFICIENCY)
      assert.deepEqual(
        [changed['type'], changed['start_threshold_percent'], changed['schedule'], changed['duration']],
        ['threshold', 30, { name: '' }, 0],
      )
      await provider.remove(own)
      assert.equal(await provider.find(path, query, EFFICIENCY), undefined)
    },
  },
  {
    resource: 'netapp-ontap_qos_policy',
    what: 'a fixed and an adaptive policy are made, changed and removed',
    async run(provider) {
      const path = 'storage/qos/policies'
      const adaptive = {
        expected_iops: 200,
        peak_iops: 500,
        absolute_min_iops: 100,
        expected_iops_allocation: 'used_space',
      }
      for (const [kind, first, second] of [
        ['fixed', { max_throughput_iops: 500, capacity_shared: true }, { max_throughput_iops: 900 }],
        ['adaptive', adaptive, { ...adaptive, peak_iops: 900 }],
      ] as const) {
        const name = `tf_${kind}`
        const other = kind === 'fixed' ? { adaptive: {} } : { fixed: {} }
        const made = await provider.create(path, { name, svm: { name: SVM }, [kind]: first, ...other }, QOS)
        const query = { name, 'svm.name': SVM, fields: QOS_FIELDS }
        const read = await provider.read(path, query, QOS)
        for (const [key, value] of Object.entries(first)) assert.deepEqual(read[kind]?.[key], value, key)
        const own = `${path}/${asText(made['uuid'])}`
        await provider.update(own, { name: `${name}2`, [kind]: second, ...other })
        const changed = await provider.read(path, { ...query, name: `${name}2` }, QOS)
        for (const [key, value] of Object.entries(second)) assert.deepEqual(changed[kind]?.[key], value, key)
        await provider.remove(own)
        assert.equal(await provider.find(path, { ...query, name: `${name}2` }, QOS), undefined)
      }
    },
  },
  {
    resource: 'netapp-ontap_storage_aggregate',
    what: 'the aggregates are listed, and one is found by name',
    async run(provider) {
      const path = 'storage/aggregates'
      const query = { name: AGGREGATE, fields: AGGREGATE_FIELDS }
      const read = await provider.read(path, query, AGGREGATE_SHAPE)
      assert.equal(read['state'], 'online')
      const fields = ['name,node.name,snaplock_type,block_storage,data_encryption,state']
      const found = await provider.read(`${path}/`, { uuid: asText(read['uuid']), fields }, AGGREGATE_SHAPE)
      assert.deepEqual([found['name'], found['node']], [AGGREGATE, read['node']])
    },
  },
]
