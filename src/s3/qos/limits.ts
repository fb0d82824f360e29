import type { Limit } from '../../core/qos-ledger.ts'
import type { Fields } from '../../ports/catalog.ts'
import { number, text } from '../record-values.ts'

const tebibyte = 2 ** 40
const mebibyte = 2 ** 20

/** A policy of `/storage/qos/policies` on an object: an SVM, a volume or a bucket. */
export interface QosAssignment {
  readonly policy: QosPolicy
  /** UUID of the object. */
  readonly object: string
  /** What adaptive policies go by: the size of the volume or bucket. */
  readonly sizeBytes: number
  readonly usedBytes: () => Promise<number>
}

export interface QosPolicy {
  readonly uuid: string
  /** All objects share one ceiling; otherwise each has its own. */
  readonly isShared: boolean
  readonly operationsPerSecond?: number
  readonly bytesPerSecond?: number
  readonly adaptive?: AdaptivePolicy
}

export interface AdaptivePolicy {
  readonly peakPerTebibyte: number
  readonly of: 'used_space' | 'allocated_space'
  readonly leastOperations: number
  /** Operations are counted in blocks of so many bytes, which limits throughput as well. Absent: of any size. */
  readonly blockBytes?: number
}

export function readQosPolicy(body: Fields): QosPolicy {
  const uuid = text(body['uuid'])
  const peakPerTebibyte = number(body['adaptive.peak_iops'])
  if (peakPerTebibyte !== undefined) {
    const block = /^(\d+)k$/.exec(text(body['adaptive.block_size']))?.[1]
    return {
      uuid,
      isShared: false,
      adaptive: {
        peakPerTebibyte,
        of: body['adaptive.peak_iops_allocation'] === 'allocated_space' ? 'allocated_space' : 'used_space',
        leastOperations: number(body['adaptive.absolute_min_iops']) ?? 0,
        ...(block === undefined ? {} : { blockBytes: Number(block) * 1024 }),
      },
    }
  }
  // 0 says that there is no ceiling.
  const operationsPerSecond = number(body['fixed.max_throughput_iops']) || undefined
  const megabytes = number(body['fixed.max_throughput_mbps']) || undefined
  return {
    uuid,
    isShared: body['fixed.capacity_shared'] === true,
    ...(operationsPerSecond === undefined ? {} : { operationsPerSecond }),
    ...(megabytes === undefined ? {} : { bytesPerSecond: megabytes * mebibyte }),
  }
}

/** The ceiling that an assignment sets at this moment, if any. */
export async function limitOf({ policy, object, sizeBytes, usedBytes }: QosAssignment): Promise<Limit | undefined> {
  const key = policy.isShared ? policy.uuid : `${policy.uuid} ${object}`
  const { adaptive, operationsPerSecond, bytesPerSecond } = policy
  if (adaptive !== undefined) {
    const space = adaptive.of === 'used_space' ? await usedBytes() : sizeBytes
    const peak = Math.max(adaptive.leastOperations, (adaptive.peakPerTebibyte * space) / tebibyte, 1)
    return {
      key,
      operationsPerSecond: peak,
      ...(adaptive.blockBytes === undefined ? {} : { bytesPerSecond: peak * adaptive.blockBytes }),
    }
  }
  if (operationsPerSecond === undefined && bytesPerSecond === undefined) return undefined
  return {
    key,
    ...(operationsPerSecond === undefined ? {} : { operationsPerSecond }),
    ...(bytesPerSecond === undefined ? {} : { bytesPerSecond }),
  }
}
