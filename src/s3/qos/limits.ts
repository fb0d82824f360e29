import type { Rate } from '../../core/qos/limiters.ts'
import { findNumber, findWord, is, type StoredRow, text } from '../../records/stored.ts'

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
  readonly ceiling: Throughput
  readonly floor: Throughput
  readonly adaptive?: AdaptivePolicy
}

/** Of an object in a second. Without a number, nothing is said of it. */
export interface Throughput {
  readonly operationsPerSecond?: number
  readonly bytesPerSecond?: number
}

export interface AdaptivePolicy {
  readonly peakPerTebibyte: number
  readonly peakOf: Space
  /** 0: nothing is expected. */
  readonly expectedPerTebibyte: number
  readonly expectedOf: Space
  /** Neither what is expected nor the peak is below. */
  readonly leastOperations: number
  /** Operations are counted in blocks of so many bytes, which limits throughput as well. Absent: of any size. */
  readonly blockBytes?: number
}

type Space = 'used_space' | 'allocated_space'

type StoredPolicy = StoredRow<'storage/qos/policies'>

export function readQosPolicy(policy: StoredPolicy): QosPolicy {
  const uuid = text(policy, 'uuid')
  const peakPerTebibyte = findNumber(policy, 'adaptive.peak_iops')
  if (peakPerTebibyte !== undefined) {
    const block = /^(\d+)k$/.exec(text(policy, 'adaptive.block_size'))?.[1]
    return {
      uuid,
      isShared: false,
      ceiling: {},
      floor: {},
      adaptive: {
        peakPerTebibyte,
        peakOf: space(policy, 'adaptive.peak_iops_allocation'),
        expectedPerTebibyte: findNumber(policy, 'adaptive.expected_iops') ?? 0,
        expectedOf: space(policy, 'adaptive.expected_iops_allocation'),
        leastOperations: findNumber(policy, 'adaptive.absolute_min_iops') ?? 0,
        ...(block === undefined ? {} : { blockBytes: Number(block) * 1024 }),
      },
    }
  }
  return {
    uuid,
    isShared: is(policy, 'fixed.capacity_shared', true),
    ceiling: throughput(
      findNumber(policy, 'fixed.max_throughput_iops'),
      findNumber(policy, 'fixed.max_throughput_mbps'),
    ),
    floor: throughput(findNumber(policy, 'fixed.min_throughput_iops'), findNumber(policy, 'fixed.min_throughput_mbps')),
  }
}

/** 0 says that there is no such ceiling or floor. */
function throughput(operations: number | undefined, mebibytes: number | undefined): Throughput {
  const operationsPerSecond = operations || undefined
  const perSecond = mebibytes || undefined
  return {
    ...(operationsPerSecond === undefined ? {} : { operationsPerSecond }),
    ...(perSecond === undefined ? {} : { bytesPerSecond: perSecond * mebibyte }),
  }
}

function space(policy: StoredPolicy, name: 'adaptive.peak_iops_allocation' | 'adaptive.expected_iops_allocation') {
  return findWord(policy, name, ['allocated_space']) ?? 'used_space'
}

/** The ceiling that an assignment sets at this moment, if any. */
export async function limitOf(assignment: QosAssignment): Promise<Rate | undefined> {
  const { adaptive, ceiling } = assignment.policy
  if (adaptive === undefined) return rate(assignment, ceiling)
  const { peakPerTebibyte, peakOf } = adaptive
  const operations = Math.max(await operationsOf(assignment, adaptive, peakPerTebibyte, peakOf), 1)
  return rate(assignment, inBlocks(adaptive, operations))
}

/** The floor that an assignment sets at this moment, if any. */
export async function floorOf(assignment: QosAssignment): Promise<Rate | undefined> {
  const { adaptive, floor } = assignment.policy
  if (adaptive === undefined) return rate(assignment, floor)
  const { expectedPerTebibyte, expectedOf } = adaptive
  if (expectedPerTebibyte === 0) return undefined
  const operationsPerSecond = await operationsOf(assignment, adaptive, expectedPerTebibyte, expectedOf)
  return rate(assignment, { operationsPerSecond })
}

async function operationsOf(
  { sizeBytes, usedBytes }: QosAssignment,
  { leastOperations }: AdaptivePolicy,
  perTebibyte: number,
  of: Space,
): Promise<number> {
  const bytes = of === 'used_space' ? await usedBytes() : sizeBytes
  return Math.max(leastOperations, (perTebibyte * bytes) / tebibyte)
}

function inBlocks({ blockBytes }: AdaptivePolicy, operationsPerSecond: number): Throughput {
  return {
    operationsPerSecond,
    ...(blockBytes === undefined ? {} : { bytesPerSecond: operationsPerSecond * blockBytes }),
  }
}

function rate({ policy, object }: QosAssignment, amount: Throughput): Rate | undefined {
  if (amount.operationsPerSecond === undefined && amount.bytesPerSecond === undefined) return undefined
  return { key: policy.isShared ? policy.uuid : `${policy.uuid} ${object}`, ...amount }
}
