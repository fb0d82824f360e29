/**
 * NetApp Harvest polls the same things of every cluster. It expects two errors, and waits before it asks again without
 * logging an error: a path that does not exist (code 3) and a counter table that does not exist (code 8585320).
 */
import { test } from 'node:test'
import { tablesOfNothing } from '../harvest/counters.ts'
import { type Expectation, insistOnRecording, recording } from './replay.ts'

const TABLES = '/api/cluster/counter/tables'

const differences: Expectation[] = []
const list = (lines: readonly number[], path: string, answers: string, why: string) =>
  differences.push({ lines, request: `GET ${path}`, answers, why })

const UNKNOWN_NAMES = 'Names that the command does not know are skipped, as the request asks.'
const EMPTY = 'Clusters that have none answer an empty list.'
const MORE_FIELDS = 'The field is known now.'

list([29], '/api/storage/shelves', 'success', MORE_FIELDS)
list([31], '/api/storage/volumes', 'success', MORE_FIELDS)
list([38], '/api/storage/cluster', 'success', MORE_FIELDS)
list([41], '/api/security/ssh', 'success', MORE_FIELDS)
list([101], '/api/cluster/software', 'success', MORE_FIELDS)
list([125], '/api/private/cli/storage/failover', 'success', MORE_FIELDS)

for (const [line, command] of [
  [36, 'vserver'],
  [42, 'snapshot'],
  [44, 'disk'],
  [74, 'security/certificate'],
  [98, 'qos/workload'],
  [117, 'network/port'],
  [120, 'network/port/ifgrp'],
  [121, 'network/interface'],
] as const) {
  list([line], `/api/private/cli/${command}`, 'success', UNKNOWN_NAMES)
}

for (const [line, path] of [
  [33, 'private/cli/lun'],
  [37, 'private/cli/volume/snaplock'],
  [39, 'private/cli/system/controller/fru'],
  [40, 'snapmirror/policies'],
  [55, 'protocols/vscan'],
  [70, 'network/ethernet/switch/ports'],
  [72, 'network/ethernet/switch/ports'],
  [81, 'protocols/san/igroups'],
  [87, 'private/cli/snapmirror'],
  [94, 'private/cli/system/health/subsystem'],
  [95, 'private/cli/vserver/object-store-server/bucket/policy'],
  [104, 'storage/namespaces'],
  [123, 'private/support/alerts'],
  [144, 'private/cli/vserver/cifs/server/security'],
  [145, 'protocols/nfs/kerberos/interfaces'],
  [147, 'protocols/san/iscsi/services'],
  [148, 'protocols/san/iscsi/credentials'],
] as const) {
  list([line], `/api/${path}`, 'success', EMPTY)
}

for (const { line, url } of recording('harvest')) {
  const [path = ''] = url.split('?')
  const table = path.startsWith(`${TABLES}/`) ? path.slice(TABLES.length + 1) : undefined
  if (table !== undefined && tablesOfNothing.includes(table)) {
    list([line], path, '404 8585320', 'The table is about hardware or a protocol that does not exist here.')
  }
}

test('what Harvest sends to every cluster is answered, or refused as it expects', () =>
  insistOnRecording('harvest', {
    differences,
    absent: { paths: ['/api/cluster/metrocluster/diagnostics'], why: 'The cluster is no MetroCluster.' },
  }))
