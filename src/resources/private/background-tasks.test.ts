import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { startTestCluster } from '../../../test/support/cluster.ts'
import { until } from '../../../test/support/until.ts'
import { Housekeeping } from '../../background/housekeeping.ts'
import { QuotaWatch } from '../../background/quota-watch.ts'
import { VolumeWatch } from '../../background/volume-watch.ts'

test('background tasks are listed with their state, their runs and their last error', async () => {
  const cluster = await startTestCluster()
  const housekeeping = new Housekeeping(cluster.cluster, cluster.jobs)
  const quotas = new QuotaWatch(cluster.cluster)
  const volumes = new VolumeWatch(cluster.cluster)
  const { catalog } = cluster.cluster
  const changedVolumes = catalog.changedVolumes.bind(catalog)
  catalog.changedVolumes = () => Promise.reject(new Error('The disk is gone.'))
  volumes.start()
  const list = async () =>
    recordsOf((await cluster.call('GET', '/api/private/background-tasks?fields=*&order_by=name')).body)
  const shown = async (name: string) => (await list()).find((record) => asText(record['name']) === name) ?? {}
  await until('a look failed', async () => (await shown('volume-watch'))['last_error'] !== undefined)
  assert.deepEqual(
    (await list()).map(({ name }) => name),
    [
      'housekeeping',
      'job-resumption',
      'leftover-sweep',
      'pack-compaction',
      'quota-watch',
      'tree-removal',
      'volume-watch',
    ],
  )
  const { state, interval, statistics, last_error, node, ...more } = await shown('volume-watch')
  assert.deepEqual([state, interval, more['scope']], ['waiting', 'PT1S', 'cluster'])
  assert.deepEqual(statistics, { runs: 1, failures: 1 })
  assert.equal(asText(last_error?.['message']), 'The disk is gone.')
  assert.match(asText(node?.['name']), /./)
  assert.ok('next_run_time' in more && 'last_run' in more)
  const idle = await shown('quota-watch')
  assert.deepEqual([idle['state'], idle['statistics']], ['stopped', { runs: 0, failures: 0 }])

  // Which fields are shown beside those asked for depends on the client, as everywhere.
  const states = async (options = {}) =>
    recordsOf((await cluster.call('GET', '/api/private/background-tasks?fields=state', undefined, options)).body).map(
      (record) => Object.keys(record).filter((word) => word !== '_links'),
    )
  assert.deepEqual((await states())[0], ['state'])
  assert.deepEqual((await states({ headers: { 'x-dot-client-app': 'a tool' } }))[0], ['name', 'state'])

  catalog.changedVolumes = changedVolumes
  await Promise.all([volumes.stop(), housekeeping.stop(), quotas.stop()])
  assert.equal((await shown('volume-watch'))['state'], 'stopped')
  assert.equal((await cluster.call('GET', '/api/private/background-tasks/none')).status, 404)
  await cluster.close()
})
