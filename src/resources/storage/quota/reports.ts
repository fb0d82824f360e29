import { type Behaviour, define } from '../../../core/behaviour.ts'
import type { Cluster } from '../../../core/cluster.ts'
import { eachInTurns } from '../../../core/time/turns.ts'
import { bytes, count, each, oneOf, text, percent as percentKind, flag } from '../../../model/kinds/index.ts'
import { resource } from '../../../model/resource.ts'
import type { RowOf } from '../../../model/rows.ts'
import type { Row } from '../../../model/value.ts'
import type { QuotaRow } from '../../../ports/catalog.ts'
import { QTREE_ID_MAX, QTREES, qtreesOf } from '../qtree-verbs.ts'
import { areQuotasOn, fieldsOfLimits, fieldsOfTarget } from './limits.ts'
import type { Volume } from '../../../records/rows.ts'

const quotaReportsResource = resource({
  path: '/storage/quota/reports',
  noun: 'quota report',
  doc: 'Quota reports show the usage and the limits of qtrees, users and groups in volumes whose quotas are on.',
  key: ['volume.uuid', 'index'],
  recordKey: ['volume.uuid', 'index'],
  nameWithin: false,
  columns: [
    'type',
    'volume.name',
    'qtree.name',
    'users.name',
    'group.name',
    'space.used.total',
    'space.hard_limit',
    'space.used.hard_limit_percent',
    'files.used.total',
  ],
  fields: {
    index: {
      doc: 'The index of the report, unique in the cluster.',
      kind: count({ min: 0 }),
    },
    svm: { doc: 'The SVM of the volume.', ref: 'svm/svms' },
    volume: { doc: 'The volume of the quota report.', ref: 'storage/volumes' },
    type: {
      doc: 'The target of the quota report.',
      kind: oneOf({ tree: 'A qtree.', user: 'A user.', group: 'A group.' }),
    },
    qtree: { doc: 'The qtree that the report is about.', isGroup: true },
    'qtree.id': { doc: 'The ID of the qtree.', kind: count({ min: 0 }) },
    'qtree.name': {
      doc: 'The name of the qtree. Empty: the default qtree, or the limits of all qtrees without a rule.',
      kind: text(),
    },
    users: {
      doc: 'The user. An empty name: the limits of all users without a rule.',
      kind: each({ name: { kind: text(), doc: 'The name of the user.' }, id: { kind: text(), doc: 'The ID.' } }),
    },
    group: { doc: 'The UNIX group that the report is about.', isGroup: true },
    'group.name': { doc: 'The name of the group. Empty: the limits of all groups without a rule.', kind: text() },
    'group.id': { doc: 'The ID.', kind: text() },
    space: { doc: 'Space used and its limits.', isGroup: true },
    'space.used': { doc: 'Space used.', isGroup: true },
    'space.used.total': {
      doc: 'Bytes used by objects, all their versions, and parts of open uploads.',
      kind: bytes(),
    },
    'space.used.hard_limit_percent': { doc: 'Bytes used, in percent of the hard limit.', kind: percentKind() },
    'space.used.soft_limit_percent': { doc: 'Bytes used, in percent of the soft limit.', kind: percentKind() },
    'space.hard_limit': { doc: 'The maximum number of bytes. Writes beyond it fail.', kind: bytes() },
    'space.soft_limit': { doc: 'The number of bytes above which an event is logged.', kind: bytes() },
    files: { doc: 'Files used and their limits.', isGroup: true },
    'files.used': { doc: 'Files used.', isGroup: true },
    'files.used.total': { doc: 'The number of files used: objects and all their versions.', kind: count() },
    'files.used.hard_limit_percent': { doc: 'Files used, in percent of the hard limit.', kind: percentKind() },
    'files.used.soft_limit_percent': { doc: 'Files used, in percent of the soft limit.', kind: percentKind() },
    'files.hard_limit': { doc: 'The maximum number of files. Writes beyond it fail.', kind: count() },
    'files.soft_limit': { doc: 'The number of files above which an event is logged.', kind: count() },
  },
})

export const quotaReports: Behaviour<typeof quotaReportsResource> = define(quotaReportsResource, {
  readArgs: {
    show_default_records: {
      doc: 'Whether to include the limits of all users and qtrees without a rule. Default: true.',
      kind: flag(),
    },
  },
  async rows(cluster, path, args) {
    const wanted = path['volume.uuid']
    const isWhole = args.show_default_records !== false
    const rows: Report[] = []
    for await (const volume of eachInTurns(cluster.system, await cluster.shortRows('storage/volumes'))) {
      if (!areQuotasOn(volume) || (wanted !== undefined && volume['uuid'] !== wanted)) continue
      rows.push(...(await reportsOf(cluster, volume)))
    }
    return isWhole ? rows : rows.filter((row) => !isOfAll(row))
  },
})

type Report = RowOf<'storage/quota/reports'>

/** Whether it is of nobody: the limits of all without a rule. */
function isOfAll(report: Report): boolean {
  if (report['type'] === 'tree') return report['qtree.id'] === undefined
  const name = report['type'] === 'user' ? report['users']?.[0]?.name : undefined
  return (name ?? report['group.name']) === ''
}

async function reportsOf(cluster: Cluster, volume: Volume): Promise<Report[]> {
  const uuid = volume['uuid']
  const quotas = await cluster.catalog.quotas(uuid)
  const qtrees = qtreesOf(volume, await cluster.rows(QTREES, uuid))
  const names = new Map(qtrees.map((qtree) => [qtree['id'], qtree['name'] ?? '']))
  const rows: Report[] = []
  const report = (quota: QuotaRow) =>
    rows.push({
      'svm.uuid': volume['svm.uuid'],
      'volume.uuid': uuid,
      index: indexOf(uuid, quota),
      ...reportOf(quota),
      ...qtreeOf(quota, names),
    })
  quotas.forEach(report)
  const all = quotas.find(({ type, tree }) => type === 'tree' && tree === undefined)
  if (all === undefined) return rows
  // A qtree that holds nothing has the limits of all that have no rule, too.
  const held = new Set(quotas.filter(({ type }) => type === 'tree').map(({ tree }) => tree))
  for (const tree of names.keys()) {
    if (!held.has(tree)) report({ ...all, tree, usedBytes: 0, usedFiles: 0, isRuled: false })
  }
  return rows
}

/** Reports of a volume that have numbers of their own. */
const INDEXES = 2 ** 20

/**
 * Tools take the number alone to tell reports of all volumes apart (seen in Harvest's templates), so half of the digits
 * that are random in the UUID of the volume stand before it. Qtrees are numbered already; the others come behind.
 */
function indexOf(volume: string, { type, tree, index }: QuotaRow): number {
  const within = type === 'tree' && tree !== undefined ? tree : QTREE_ID_MAX + index
  return Number.parseInt(volume.slice(0, 8), 16) * INDEXES + (within % INDEXES)
}

function qtreeOf({ type, tree }: QuotaRow, names: ReadonlyMap<number, string>): Row {
  if (tree === undefined) return type === 'tree' ? { 'qtree.name': '' } : {}
  return { 'qtree.id': tree, 'qtree.name': names.get(tree) ?? '' }
}

function reportOf(quota: QuotaRow): Row {
  const { type, usedBytes, usedFiles, limits } = quota
  return {
    type,
    ...fieldsOfTarget(quota),
    ...fieldsOfLimits(limits),
    'space.used.total': usedBytes,
    ...percent('space.used.hard_limit_percent', usedBytes, limits.hardBytes),
    ...percent('space.used.soft_limit_percent', usedBytes, limits.softBytes),
    'files.used.total': usedFiles,
    ...percent('files.used.hard_limit_percent', usedFiles, limits.hardFiles),
    ...percent('files.used.soft_limit_percent', usedFiles, limits.softFiles),
  }
}

function percent(field: string, used: number, limit = 0): Row {
  return limit === 0 ? {} : { [field]: Math.floor((used / limit) * 100) }
}
