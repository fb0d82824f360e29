/**
 * Whether what a volume holds is compressed and stored once where it is the same: while it is written (`inline`), by runs
 * beside clients (`background`), in both ways, or not at all. New volumes do neither, because writes cost more of the
 * processor then; how much is what `bench/efficiency.ts` shows.
 */
import { takenLocks } from '../../../core/jobs/lock-claims.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { ofRows } from '../../../core/read/of-rows.ts'
import type { Derivation } from '../../../core/behaviour.ts'
import { failure } from '../../../model/failure.ts'
import { bytes, count, decimal, flag, oneOf, text, time } from '../../../model/kinds/index.ts'
import type { Fields } from '../../../model/resource.ts'
import { namesOf, type Row } from '../../../model/value.ts'
import type { VolumeCounters } from '../../../ports/catalog.ts'
import { EFFICIENCY_POLICIES } from '../volume-efficiency-policies.ts'
import { efficiencyLock, EFFICIENCY_NOTES, type EfficiencyNotes } from './efficiency-notes.ts'
import type { Volume, VolumeDraft } from '../../../records/rows.ts'

const WHEN = {
  none: 'Never.',
  inline: 'While data is written.',
  background: 'By efficiency runs.',
  both: 'While data is written, and by efficiency runs.',
} as const
const saved = (doc: string, since = '9.11.1') => ({ doc, kind: bytes(), since })
const percent = (doc: string) => ({ doc, kind: count({ unit: 'percent' }), since: '9.11.1' })

export const efficiencyFields = {
  'efficiency.state': {
    doc: 'Whether the volume compresses or deduplicates. Setting `enabled` turns background deduplication on.',
    kind: oneOf({ enabled: 'Compression or deduplication is on.', disabled: 'Compression and deduplication are off.' }),
    set: 'always',
    since: '9.9.1',
  },
  'efficiency.compression': {
    doc: 'When stored data is compressed.',
    kind: oneOf(WHEN),
    set: 'always',
    default: 'none',
  },
  'efficiency.dedupe': {
    doc: 'When identical data is stored only once.',
    kind: oneOf(WHEN),
    set: 'always',
    default: 'none',
  },
  'efficiency.compaction': {
    doc: 'Whether several small bodies share one block. Always `none`.',
    kind: oneOf({ none: 'Bodies are not compacted.' }),
    set: 'always',
    default: 'none',
  },
  'efficiency.cross_volume_dedupe': {
    doc: 'Whether identical data of several volumes is stored only once. Always `none`.',
    kind: oneOf({ none: 'Each volume stores its own data.' }),
    set: 'always',
    default: 'none',
  },
  'efficiency.storage_efficiency_mode': {
    doc: 'The compression mode of the volume. Always `default`.',
    kind: oneOf({ default: 'All data is compressed alike.' }),
    set: 'always',
    default: 'default',
    since: '9.10.1',
  },
  'efficiency.policy': {
    doc: 'The policy that starts efficiency runs. Default: `default`, if the volume compresses or deduplicates in the background.',
    ref: EFFICIENCY_POLICIES,
    set: 'always',
    since: '9.8',
  },
  'efficiency.scanner.state': {
    doc: 'Setting `active` starts an efficiency run, `idle` stops the current one.',
    kind: oneOf({ active: 'A run is in progress.', idle: 'No run is in progress.' }),
    set: 'modify',
    since: '9.9.1',
  },
  'efficiency.scanner.scan_old_data': {
    doc: 'Whether an efficiency run of the volume retries data that could not be reduced before.',
    kind: flag(),
    set: 'modify',
    since: '9.9.1',
  },
  'efficiency.op_state': {
    doc: 'The state of efficiency runs.',
    kind: oneOf({
      idle: 'No run is in progress.',
      active: 'A run is in progress.',
      pending: 'A run is about to start.',
      disabled: 'Compression and deduplication are off.',
    }),
    since: '9.9.1',
  },
  'efficiency.progress': { doc: 'The progress of the current efficiency run, as text.', kind: text(), since: '9.9.1' },
  'efficiency.last_op_begin': { doc: 'When the last efficiency run began.', kind: time(), since: '9.9.1' },
  'efficiency.last_op_end': { doc: 'When the last efficiency run ended.', kind: time(), since: '9.9.1' },
  'efficiency.last_op_size': { doc: 'Bytes that the last efficiency run examined.', kind: bytes(), since: '9.9.1' },
  'efficiency.last_op_state': {
    doc: 'The result of the last efficiency run.',
    kind: oneOf({
      success: 'The run examined everything.',
      stopped: 'The run was stopped.',
      failure: 'The run failed.',
    }),
    since: '9.9.1',
  },
  'efficiency.last_op_err': {
    doc: 'The error of the last efficiency run, if it failed.',
    kind: text(),
    since: '9.9.1',
  },
  'efficiency.schedule': {
    doc: 'The schedule of the efficiency policy. `-`: the volume has no policy.',
    kind: text(),
    since: '9.8',
  },
  'efficiency.type': {
    doc: 'The type of efficiency runs. Always `regular`.',
    kind: oneOf({ regular: 'Runs examine a writable volume.' }),
    since: '9.9.1',
  },
  'efficiency.volume_path': {
    doc: 'The path of the volume in efficiency commands: `/vol/<volume>`.',
    kind: text(),
    since: '9.13.1',
  },
  'efficiency.has_savings': {
    doc: 'Whether compression or deduplication saves space in the volume.',
    kind: flag(),
    since: '9.11.1',
  },
  'efficiency.ratio': { doc: 'The ratio of the bytes in the volume to the bytes that store them.', kind: decimal() },
  'efficiency.space_savings.compression': saved('Bytes that compression saves.'),
  'efficiency.space_savings.compression_percent': percent('Bytes saved, in percent of the space without savings.'),
  'efficiency.space_savings.dedupe': saved('Bytes that deduplication saves.'),
  'efficiency.space_savings.dedupe_percent': percent('Bytes saved, in percent of the space without savings.'),
  'efficiency.space_savings.total': saved('Bytes that compression and deduplication save together.'),
  'efficiency.space_savings.total_percent': percent('Bytes saved, in percent of the space without savings.'),
} as const satisfies Fields

export function compressionOf(volume: Volume): string {
  return (volume['efficiency.compression'] ?? '') || 'none'
}

export function dedupeOf(volume: Volume): string {
  return (volume['efficiency.dedupe'] ?? '') || 'none'
}

export function isEfficiencyOn(volume: Volume): boolean {
  return compressionOf(volume) !== 'none' || dedupeOf(volume) !== 'none'
}

export function isInBackground(when: string): boolean {
  return when === 'background' || when === 'both'
}

/** Completes a volume that is about to be written, of which `given` was named by the caller. */
export async function withEfficiency(cluster: Cluster, volume: Volume, given: VolumeDraft): Promise<Volume> {
  const { 'efficiency.state': state, 'efficiency.scanner.state': _, ...rest } = volume
  const { 'efficiency.scanner.scan_old_data': __, ...row } = rest
  const whole = switched(row, given, state)
  const isBackground = isInBackground(compressionOf(whole)) || isInBackground(dedupeOf(whole))
  if (!isBackground || typeof whole['efficiency.policy.uuid'] === 'string') return whole
  const policy = await cluster.keyOfName(EFFICIENCY_POLICIES, 'default')
  return policy === undefined ? whole : { ...whole, 'efficiency.policy.uuid': policy }
}

/** What `efficiency.state`, where it was given, makes of the rest. */
function switched(row: Volume, given: VolumeDraft, state: Volume['efficiency.state']): Volume {
  if (given['efficiency.state'] === undefined) return row
  if (state === 'disabled') {
    const paths = ['efficiency.compression', 'efficiency.dedupe'] as const
    const named = paths.find((path) => (given[path] ?? 'none') !== 'none')
    if (named !== undefined) throw failure('efficiencyDisabled', { field: named })
    return { ...row, 'efficiency.compression': 'none', 'efficiency.dedupe': 'none' }
  }
  return state === 'enabled' && !isEfficiencyOn(row) ? { ...row, 'efficiency.dedupe': 'background' } : row
}

/** What is read beside the record: how runs stand, and what is saved. */
const notesOf = ofRows((notes) => new Map(notes.map((row) => [row['volume'], row as EfficiencyNotes])))
const policiesOf = ofRows((policies) => new Map(policies.map((row) => [row['uuid'], row])))
const schedulesOf = ofRows((schedules) => new Map(schedules.map((row) => [row['uuid'], row['name'] ?? '-'])))

export const volumeEfficiency: Derivation<Volume> = {
  gives: namesOf(efficiencyFields).filter((path) => path !== 'efficiency.policy'),
  async from(cluster, rows, once) {
    const counters = await once('counters', () => cluster.volumeSums.all())
    const isTaken = await once('taken locks', () => takenLocks(cluster))
    const notes = notesOf(await cluster.rows(EFFICIENCY_NOTES))
    const policies = policiesOf(await cluster.rows(EFFICIENCY_POLICIES))
    const schedules = schedulesOf(await cluster.rows('cluster/schedules'))
    return rows.map((row): Row => {
      const uuid = row['uuid']
      const policy = policies.get(row['efficiency.policy.uuid'] ?? '')
      return {
        'efficiency.state': isEfficiencyOn(row) ? 'enabled' : 'disabled',
        'efficiency.compression': compressionOf(row),
        'efficiency.dedupe': dedupeOf(row),
        'efficiency.compaction': 'none',
        'efficiency.cross_volume_dedupe': 'none',
        'efficiency.storage_efficiency_mode': 'default',
        'efficiency.type': 'regular',
        'efficiency.volume_path': `/vol/${row['name']}`,
        'efficiency.schedule': schedules.get(policy?.['schedule.uuid'] ?? '') ?? '-',
        ...runFields(isTaken(efficiencyLock(uuid)), row, notes.get(uuid)),
        ...savings(counters.get(uuid)),
      }
    })
  },
}

function runFields(isActive: boolean, row: Volume, notes: EfficiencyNotes | undefined): Row {
  let state = isEfficiencyOn(row) ? 'idle' : 'disabled'
  if (notes?.isWanted === true) state = 'pending'
  if (isActive) state = 'active'
  return {
    'efficiency.op_state': state,
    'efficiency.scanner.state': isActive ? 'active' : 'idle',
    'efficiency.progress': isActive ? (notes?.progress ?? 'Begins') : 'Idle',
    ...(notes?.beginMs === undefined ? {} : { 'efficiency.last_op_begin': notes.beginMs }),
    ...(notes?.endMs === undefined ? {} : { 'efficiency.last_op_end': notes.endMs }),
    ...(notes?.sizeBytes === undefined ? {} : { 'efficiency.last_op_size': notes.sizeBytes }),
    ...(notes?.state === undefined ? {} : { 'efficiency.last_op_state': notes.state }),
    ...(notes?.failure === undefined ? {} : { 'efficiency.last_op_err': notes.failure }),
  }
}

function savings(counters: VolumeCounters | undefined): Row {
  const { usedBytes = 0, savedByCompressionBytes: compression = 0, savedByDedupeBytes: dedupe = 0 } = counters ?? {}
  const wholeBytes = usedBytes + compression + dedupe
  const ofAll = (part: number) => (wholeBytes === 0 ? 0 : Math.round((part / wholeBytes) * 100))
  return {
    'efficiency.has_savings': compression + dedupe > 0,
    'efficiency.ratio': ratio(wholeBytes, usedBytes),
    'efficiency.space_savings.compression': compression,
    'efficiency.space_savings.compression_percent': ofAll(compression),
    'efficiency.space_savings.dedupe': dedupe,
    'efficiency.space_savings.dedupe_percent': ofAll(dedupe),
    'efficiency.space_savings.total': compression + dedupe,
    'efficiency.space_savings.total_percent': ofAll(compression + dedupe),
  }
}

/** To two digits; 1 where there is nothing. */
export function ratio(wholeBytes: number, usedBytes: number): number {
  return usedBytes === 0 ? 1 : Math.round((wholeBytes / usedBytes) * 100) / 100
}
