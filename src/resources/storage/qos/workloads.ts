/**
 * What throughput is measured of: each volume, and whatever else names a QoS policy. A workload is no record: it is there
 * as long as its object is. Its number is made from its UUID, as its name is from that number.
 */
import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { namedUuid } from '../../../records/named-uuid.ts'
import { eachInTurns } from '../../../core/time/turns.ts'
import { count, oneOf, text, uuid } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { Row } from '../../../model/value.ts'
import { QOS_POLICIES, QOS_USERS } from './policies.ts'

export const QOS_WORKLOADS = 'storage/qos/workloads'

export interface Workload {
  readonly uuid: string
  readonly name: string
  readonly number: number
  readonly isUserDefined: boolean
  /** The type of its object. */
  readonly type: string
  /** The name of its object. */
  readonly object: string
  /** The UUID of its object; of a qtree, its number within its volume. */
  readonly key: string
  readonly policy: string
  readonly svm: string
  readonly volume: string | undefined
}

export async function workloadsOf(cluster: Cluster): Promise<readonly Workload[]> {
  const workloads: Workload[] = []
  for (const { type, rows, of } of QOS_USERS) {
    for await (const row of eachInTurns(cluster.system, await rows(cluster))) {
      const { name: object, key, svm, volume, policy = '' } = of(row)
      // Volumes are measured one by one whether they name a policy or not.
      if (policy === '' && type !== 'storage/volumes') continue
      const id = namedUuid(cluster, `workload of ${type} ${key}`)
      const number = Number.parseInt(id.slice(0, 4), 16)
      const name = `${object}-wid${number}`
      workloads.push({ uuid: id, name, number, isUserDefined: policy !== '', type, object, key, policy, svm, volume })
    }
  }
  return workloads
}

const qosWorkloadsResource = resource({
  path: `/${QOS_WORKLOADS}`,
  noun: 'QoS workload',
  doc: 'QoS workloads are the objects whose throughput is measured and limited: volumes, and all other objects with a QoS policy.',
  since: '9.10.1',
  key: ['uuid'],
  nameWithin: false,
  isContent: true,
  columns: ['name', 'policy.name', 'svm.name', 'volume', 'workload_class'],
  fields: {
    uuid: { doc: 'The UUID of the workload.', kind: uuid() },
    name: {
      doc: 'The name of the workload, made of the name of the object and the number of the workload.',
      kind: text(),
    },
    wid: { doc: 'The number of the workload.', kind: count() },
    workload_class: {
      doc: 'The kind of the workload.',
      kind: oneOf({
        user_defined: 'An object with a QoS policy.',
        autovolume: 'A volume without a QoS policy.',
        system_defined: 'A task of the system.',
        preset: 'A workload that comes with the system.',
        undefined: 'No kind is known.',
        load_control: 'A task that limits load.',
      }),
    },
    policy: { doc: 'The QoS policy of the workload.', ref: QOS_POLICIES },
    svm: { doc: 'The SVM of the workload.', ref: 'svm/svms' },
    volume: { doc: 'The name of the volume of the workload.', kind: text() },
    qtree: { doc: 'The name of the qtree of the workload.', kind: text() },
  },
})

export const qosWorkloads: Behaviour<typeof qosWorkloadsResource> = define(qosWorkloadsResource, {
  async rows(cluster) {
    const volumes = new Map<unknown, string>()
    for await (const row of eachInTurns(cluster.system, await cluster.shortRows('storage/volumes'))) {
      volumes.set(row['uuid'], row['name'])
    }
    const rows: Row[] = []
    for await (const workload of eachInTurns(cluster.system, await workloadsOf(cluster))) {
      rows.push(rowOf(workload, volumes))
    }
    return rows
  },
})

function rowOf(workload: Workload, volumes: ReadonlyMap<unknown, string>): Row {
  const { type, object, policy } = workload
  return {
    uuid: workload.uuid,
    name: workload.name,
    wid: workload.number,
    workload_class: workload.isUserDefined ? 'user_defined' : 'autovolume',
    'policy.uuid': policy === '' ? null : policy,
    'svm.uuid': workload.svm,
    volume: volumes.get(workload.volume) ?? null,
    qtree: type === 'storage/qtrees' ? object : null,
  }
}
