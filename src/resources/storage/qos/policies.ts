import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Derivation } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { plainVerbs } from '../../../core/plain.ts'
import { failure } from '../../../model/failure.ts'
import { count, flag, name, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import { type Row, textOf } from '../../../model/value.ts'
import type { RecordType, RowOf } from '../../../model/rows.ts'

export const QOS_POLICIES = 'storage/qos/policies'

/** What may name a policy. */
interface QosObject {
  readonly name: string
  /** Its UUID; of a qtree, the UUID of its volume and its number there. */
  readonly key: string
  readonly svm: string
  readonly policy: string | undefined
  /** The UUID of its volume. */
  readonly volume?: string | undefined
}

/** Where policies are named. */
export const QOS_USERS = [
  user('storage/volumes', (row) => ({
    name: row.name,
    key: row.uuid,
    svm: row['svm.uuid'],
    policy: row['qos.policy.uuid'],
    volume: row.uuid,
  })),
  user('protocols/s3/buckets', (row) => ({
    name: row.name,
    key: row.uuid,
    svm: row['svm.uuid'],
    policy: row['qos_policy.uuid'],
    volume: row['volume.uuid'],
  })),
  user('storage/qtrees', (row) => ({
    name: row.name ?? '',
    key: `${row['volume.uuid']}/${row.id}`,
    svm: row['svm.uuid'] ?? '',
    policy: row['qos_policy.uuid'],
    volume: row['volume.uuid'],
  })),
  user('svm/svms', (row) => ({ name: row.name, key: row.uuid, svm: row.uuid, policy: row['qos_policy.uuid'] })),
]

function user<Type extends RecordType>(type: Type, of: (row: RowOf<Type>) => QosObject) {
  return {
    type,
    rows: (cluster: Cluster): Promise<readonly Row[]> => cluster.shortRows(type),
    of: (row: Row): QosObject => of(row as RowOf<Type>),
  }
}

const objectCount: Derivation<RowOf<'storage/qos/policies'>> = {
  gives: ['object_count'],
  async from(cluster, rows, once) {
    const counts = await once('users', () => countUsers(cluster))
    return rows.map((row) => ({ object_count: counts.get(row['uuid']) ?? 0 }))
  },
}

async function countUsers(cluster: Cluster): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>()
  for (const { rows, of } of QOS_USERS) {
    for (const row of await rows(cluster)) {
      const { policy = '' } = of(row)
      counts.set(policy, (counts.get(policy) ?? 0) + 1)
    }
  }
  return counts
}

const plain = plainVerbs(QOS_POLICIES, {
  inUse: ({ resource, row }) => failure('qosPolicyInUse', { noun: resource.noun, name: textOf(row['name']) }),
  check: (_cluster, row) => complete(row),
  example: { name: 'qos_example', 'svm.name': 'svm1', 'fixed.max_throughput_iops': 1000 },
})

const qosPoliciesResource = resource({
  path: '/storage/qos/policies',
  noun: 'QoS policy',
  doc: 'QoS policies limit and guarantee the throughput of volumes, buckets and SVMs.',
  key: ['uuid'],
  parent: 'svm.uuid',
  nameWithin: 'svm.uuid',
  columns: ['name', 'svm.name', 'fixed.max_throughput', 'fixed.min_throughput', 'adaptive.peak_iops', 'object_count'],
  form: {
    Policy: ['name', 'svm.name'],
    'Fixed limits': [
      'fixed.max_throughput_iops',
      'fixed.max_throughput_mbps',
      'fixed.min_throughput_iops',
      'fixed.min_throughput_mbps',
      'fixed.capacity_shared',
    ],
    'Adaptive limits': [
      'adaptive.peak_iops',
      'adaptive.peak_iops_allocation',
      'adaptive.expected_iops',
      'adaptive.expected_iops_allocation',
      'adaptive.absolute_min_iops',
      'adaptive.block_size',
    ],
  },
  removal: 'disruptive',
  fields: {
    uuid: { doc: 'The UUID of the policy.', kind: uuid() },
    name: { doc: 'The name of the policy, unique within its SVM.', kind: name(), set: 'always', required: true },
    svm: { doc: 'The SVM that owns the policy.', ref: 'svm/svms', set: 'create', required: true },
    scope: {
      doc: 'Whether the policy belongs to an SVM or to the cluster.',
      kind: oneOf({ svm: 'The policy belongs to an SVM.', cluster: 'The policy belongs to the cluster.' }),
    },
    policy_class: {
      doc: 'The creator of the policy. Always `user_defined`.',
      kind: oneOf({ user_defined: 'An administrator created the policy.' }),
    },
    object_count: { doc: 'The number of objects with the policy.', kind: count() },
    fixed: { doc: 'Fixed limits of throughput.', isGroup: true },
    'fixed.capacity_shared': {
      doc: 'Whether all objects with the policy share its limits. Otherwise each object has the limits for itself.',
      kind: flag(),
      set: 'always',
    },
    'fixed.max_throughput_iops': {
      doc: 'The maximum number of operations per second. 0: no limit.',
      kind: count({ min: 0, max: 2 ** 31 - 1, unit: 'operations per second' }),
      set: 'always',
    },
    'fixed.max_throughput_mbps': {
      doc: 'The maximum throughput in MiB per second. 0: no limit.',
      kind: count({ min: 0, max: 4_194_303 }),
      set: 'always',
    },
    'fixed.max_throughput': {
      doc: 'The maximum throughput as text: `1000IOPS`, `50MB/s`, `1000IOPS,50MB/s` or `none`.',
      kind: text({ charactersMax: 64 }),
      set: 'always',
    },
    'fixed.min_throughput_iops': {
      doc: 'The guaranteed number of operations per second: others are throttled while an object with work to do gets less. 0: no guarantee.',
      kind: count({ min: 0, max: 2 ** 31 - 1, unit: 'operations per second' }),
      set: 'always',
    },
    'fixed.min_throughput_mbps': {
      doc: 'The guaranteed throughput in MiB per second. 0: no guarantee.',
      kind: count({ min: 0, max: 4_194_303 }),
      set: 'always',
    },
    'fixed.min_throughput': {
      doc: 'The guaranteed throughput as text: `1000IOPS`, `50MB/s`, `1000IOPS,50MB/s` or `none`.',
      kind: text({ charactersMax: 64 }),
      set: 'always',
    },
    adaptive: { doc: 'Limits of throughput that follow the size of the volume.', isGroup: true },
    'adaptive.expected_iops': {
      doc: 'The guaranteed number of operations per second for each TiB. 0: no guarantee.',
      kind: count({ min: 0, max: 2 ** 31 - 1, unit: 'operations per second' }),
      set: 'always',
      isClearable: true,
    },
    'adaptive.peak_iops': {
      doc: 'The maximum number of operations per second for each TiB.',
      kind: count({ min: 1, max: 2 ** 31 - 1, unit: 'operations per second' }),
      set: 'always',
    },
    'adaptive.absolute_min_iops': {
      doc: 'The lowest limit of operations per second, however small the object is.',
      kind: count({ min: 0, max: 2 ** 31 - 1, unit: 'operations per second' }),
      set: 'always',
      isClearable: true,
    },
    'adaptive.expected_iops_allocation': {
      doc: 'The size that the guarantee is based on.',
      kind: oneOf({ used_space: 'The used space of the object.', allocated_space: 'The size of the object.' }),
      set: 'always',
      isClearable: true,
      since: '9.10.1',
    },
    'adaptive.peak_iops_allocation': {
      doc: 'The size that the limit is based on.',
      kind: oneOf({ used_space: 'The used space of the object.', allocated_space: 'The size of the object.' }),
      set: 'always',
      isClearable: true,
      since: '9.10.1',
    },
    'adaptive.block_size': {
      doc: 'The size of one operation in bytes, from which the limit in bytes per second follows. `any`: no limit in bytes.',
      kind: oneOf({
        any: 'No limit in bytes.',
        '4k': '4 KiB.',
        '8k': '8 KiB.',
        '16k': '16 KiB.',
        '32k': '32 KiB.',
        '64k': '64 KiB.',
        '128k': '128 KiB.',
      }),
      set: 'always',
      isClearable: true,
      since: '9.10.1',
    },
  },
})

export const qosPolicies: Behaviour<typeof qosPoliciesResource> = define(qosPoliciesResource, {
  derive: [objectCount],
  create: plain.create,
  modify: plain.modify,
  remove: plain.remove,
})

/** A policy is fixed or adaptive, never both, and always one of them. */
function complete(row: Row): Row {
  const given = Object.entries(row).filter(([, value]) => value !== undefined && value !== null)
  const isAdaptive = given.some(([path]) => path.startsWith('adaptive.'))
  const isFixed = given.some(([path]) => path.startsWith('fixed.'))
  if (isAdaptive && isFixed) {
    throw failure('qosFixedAndAdaptive')
  }
  const common: Row = { ...(Object.fromEntries(given) as Row), scope: 'svm', policy_class: 'user_defined' }
  if (isAdaptive) {
    const peak = row['adaptive.peak_iops']
    const expected = row['adaptive.expected_iops'] ?? 0
    if (typeof peak !== 'number') throw failure('fieldRequired', { field: 'adaptive.peak_iops' })
    if (Number(expected) > peak) {
      throw failure('qosPeakTooLow')
    }
    return {
      'adaptive.expected_iops': 0,
      'adaptive.absolute_min_iops': 0,
      'adaptive.expected_iops_allocation': 'allocated_space',
      'adaptive.peak_iops_allocation': 'used_space',
      'adaptive.block_size': 'any',
      ...common,
    }
  }
  if (!isFixed) throw failure('fieldRequired', { field: 'fixed' })
  return withThroughput({ 'fixed.capacity_shared': false, ...common })
}

function withThroughput(row: Row): Row {
  const both = inNumbersAndText(inNumbersAndText(row, 'max'), 'min')
  for (const unit of ['iops', 'mbps']) {
    const high = Number(both[`fixed.max_throughput_${unit}`])
    if (high > 0 && Number(both[`fixed.min_throughput_${unit}`]) > high) {
      throw failure('qosFloorAboveCeiling', { unit })
    }
  }
  return both
}

/** The text and the numbers say the same. Where both are given anew, the text counts. */
function inNumbersAndText(row: Row, which: 'max' | 'min'): Row {
  const field = `fixed.${which}_throughput`
  const { [field]: given, ...others } = row
  const isGivenAnew = typeof given === 'string' && given !== row[`$${which}_throughput`]
  const numbers: Row = {
    [`${field}_iops`]: 0,
    [`${field}_mbps`]: 0,
    ...others,
    ...(isGivenAnew ? parseThroughput(field, given) : {}),
  }
  const iops = Number(numbers[`${field}_iops`])
  const megabytes = Number(numbers[`${field}_mbps`])
  const parts = [...(iops > 0 ? [`${iops}IOPS`] : []), ...(megabytes > 0 ? [`${megabytes}MB/s`] : [])]
  const throughput = parts.length === 0 ? 'none' : parts.join(',')
  return { ...numbers, [field]: throughput, [`$${which}_throughput`]: throughput }
}

function parseThroughput(field: string, given: string): Row {
  const nothing = { [`${field}_iops`]: 0, [`${field}_mbps`]: 0 }
  if (/^(?:none|0|inf)$/i.test(given)) return nothing
  const units = { MB: 1, GB: 1024, TB: 2 ** 20 } as const
  const row: Record<string, number> = nothing
  for (const part of given.split(',')) {
    const iops = /^\s*(\d{1,10})\s*iops\s*$/i.exec(part)
    const bytes = /^\s*(\d{1,7})\s*(MB|GB|TB)(?:\/s|ps)\s*$/i.exec(part)
    if (iops !== null) row[`${field}_iops`] = Number(iops[1])
    else if (bytes !== null) {
      const unit = (bytes[2] ?? 'MB').toUpperCase() as keyof typeof units
      row[`${field}_mbps`] = Number(bytes[1]) * units[unit]
    } else {
      throw failure('throughputMalformed', { given: part.slice(0, 40), field })
    }
  }
  return row
}
