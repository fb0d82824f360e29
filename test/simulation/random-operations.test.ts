/**
 * Random requests, several at the same time, on few names, so that they meet: whatever becomes of each, none is a 500,
 * and afterwards nothing is left that does not belong to something.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { removeOwedTrees } from '../../src/storage/removed-trees.ts'
import { asNumber, asText, recordsOf, type Body } from '../support/body.ts'
import { startTestCluster, type TestCluster } from '../support/cluster.ts'
import { leftovers } from '../support/leftovers.ts'
import { seedOf } from '../support/seed.ts'

/** One request: what it is for, and which of the records that are there it is about. */
interface Ask {
  readonly does: (typeof DEEDS)[number]
  readonly name: string
  readonly other: string
  readonly pick: number
}

const DEEDS = [
  'make svm',
  'rename svm',
  'stop svm',
  'drop svm',
  'make volume',
  'make volume',
  'rename volume',
  'resize volume',
  'promise volume',
  'offline volume',
  'online volume',
  'drop volume',
  'clone volume',
  'split clone',
  'drop volume for good',
  'recover volume',
  'purge volume',
  'make qtree',
  'rename qtree',
  'drop qtree',
  'make quota rule',
  'make quota rule',
  'change quota rule',
  'drop quota rule',
  'switch quotas',
  'move volume',
  'move volume',
  'steer move',
  'make aggregate',
  'drop aggregate',
  'make snapshot',
  'drop snapshot',
  'make server',
  'change server',
  'drop server',
  'make bucket',
  'make bucket',
  'resize bucket',
  'drop bucket',
  'make user',
  'drop user',
  'make policy',
  'drop policy',
  'make interface',
  'drop interface',
] as const
const NAMES = ['aa1', 'bb2', 'cc3']
const VOLUMES = '/api/storage/volumes'
const QUEUE = '/api/private/cli/volume/recovery-queue'
const SVMS = '/api/svm/svms'
const QTREES = '/api/storage/qtrees'
const RULES = '/api/storage/quota/rules'
const AGGREGATES = '/api/storage/aggregates'
const BUCKETS = '/api/protocols/s3/buckets'
const SERVICES = '/api/protocols/s3/services'
const INTERFACES = '/api/network/ip/interfaces'

async function perform(cluster: TestCluster, { does, name, other, pick }: Ask): Promise<void> {
  const some = async (collection: string, fields: string): Promise<Body | undefined> => {
    const { body, status } = await cluster.call('GET', `${collection}?fields=${fields}&max_records=100`)
    const records = status === 200 ? recordsOf(body) : []
    return records[pick % Math.max(1, records.length)]
  }
  const ask = async (method: string, path: string, body?: object) => {
    const reply = await cluster.call(method, path, body)
    assert.ok(reply.status < 500, `${does}: ${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(reply.body)}`)
  }
  const on = async (collection: string, method: string, body?: object, below = '') => {
    const record = await some(collection, 'uuid')
    if (record !== undefined) await ask(method, `${collection}/${asText(record['uuid'])}${below}`, body)
  }
  const inSvm = async (method: string, below: string, body?: object) => {
    const record = await some(SVMS, 'uuid')
    if (record !== undefined) await ask(method, `${SERVICES}/${asText(record['uuid'])}${below}`, body)
  }
  const bucket = async (method: string, body?: object) => {
    const record = await some(BUCKETS, 'uuid,svm.uuid')
    if (record !== undefined)
      await ask(method, `${BUCKETS}/${asText(record['svm']?.['uuid'])}/${asText(record['uuid'])}`, body)
  }
  const queued = async (): Promise<object> => {
    const record = await some(QUEUE, 'vserver,volume')
    return { vserver: record?.['vserver'] ?? 'none', volume: record?.['volume'] ?? 'none' }
  }
  const inVolume = async (collection: string, body: object) => {
    const record = await some(VOLUMES, 'uuid,svm.uuid')
    if (record !== undefined)
      await ask('POST', collection, {
        ...body,
        volume: { uuid: keyOf(record) },
        svm: { uuid: record['svm']?.['uuid'] },
      })
  }
  const qtree = async (method: string, body?: object) => {
    const record = await some(QTREES, 'volume.uuid,id')
    if (record !== undefined)
      await ask(method, `${QTREES}/${asText(record['volume']?.['uuid'])}/${asNumber(record['id'])}`, body)
  }
  const snapshots = async (): Promise<string> => `${VOLUMES}/${keyOf(await some(VOLUMES, 'uuid'))}/snapshots`

  switch (does) {
    case 'make svm':
      return ask('POST', SVMS, { name })
    case 'rename svm':
      return on(SVMS, 'PATCH', { name, comment: other })
    case 'stop svm':
      return on(SVMS, 'PATCH', { state: 'stopped' })
    case 'drop svm':
      return on(SVMS, 'DELETE')
    case 'make volume':
      return ask('POST', VOLUMES, { name, svm: { name: other }, size: '16m' })
    case 'rename volume':
      return on(VOLUMES, 'PATCH', { name })
    case 'resize volume':
      return on(VOLUMES, 'PATCH', { size: (pick + 20) * 2 ** 20 })
    case 'promise volume':
      return on(VOLUMES, 'PATCH', { guarantee: { type: pick % 2 === 0 ? 'none' : 'volume' } })
    case 'offline volume':
      return on(VOLUMES, 'PATCH', { state: 'offline' })
    case 'online volume':
      return on(VOLUMES, 'PATCH', { state: 'online', comment: name })
    case 'clone volume':
      return ask('POST', VOLUMES, {
        name,
        svm: { name: other },
        clone: { is_flexclone: true, parent_volume: { name: NAMES[pick % NAMES.length] } },
      })
    case 'split clone':
      return on(VOLUMES, 'PATCH', { clone: { split_initiated: true } })
    case 'drop volume':
      return on(VOLUMES, 'DELETE')
    case 'drop volume for good':
      return on(VOLUMES, 'DELETE', undefined, '?force=true')
    case 'recover volume':
      return ask('POST', `${QUEUE}/recover`, { ...(await queued()), newname: name })
    case 'purge volume':
      return ask('POST', `${QUEUE}/purge`, await queued())
    case 'make qtree':
      return inVolume(QTREES, { name: other })
    case 'rename qtree':
      return qtree('PATCH', { name })
    case 'drop qtree':
      return qtree('DELETE')
    case 'make quota rule': {
      const qtree = pick % 3 === 0 ? other : ''
      const target = pick % 2 === 0 ? { type: 'tree', qtree } : { type: 'user', qtree, users: [{ name }] }
      return inVolume(RULES, { ...target, space: { hard_limit: '1m' } })
    }
    case 'change quota rule':
      return on(RULES, 'PATCH', { space: { hard_limit: (pick + 1) * 1024 } })
    case 'drop quota rule':
      return on(RULES, 'DELETE')
    case 'switch quotas':
      return on(VOLUMES, 'PATCH', { quota: { enabled: pick % 3 > 0 } })
    case 'move volume':
      return on(VOLUMES, 'PATCH', { movement: { destination_aggregate: { name: pick % 3 === 0 ? 'aggr1' : 'aggr2' } } })
    case 'steer move':
      return on(VOLUMES, 'PATCH', { movement: { state: pick % 2 === 0 ? 'aborted' : 'replicating' } })
    case 'make aggregate':
      return ask('POST', AGGREGATES, { name: 'aggr2', block_storage: { path: '/disk2/a' } })
    case 'drop aggregate':
      return on(AGGREGATES, 'DELETE')
    case 'make snapshot':
      return ask('POST', await snapshots(), { name })
    case 'drop snapshot':
      return ask('DELETE', `${await snapshots()}/${name}`)
    case 'make server':
      return ask('POST', SERVICES, { name: `server-${name}`, svm: { name: other }, data_volumes: [{ name }] })
    case 'change server':
      return inSvm('PATCH', '', { data_volumes: pick % 2 === 0 ? [] : [{ name }] })
    case 'drop server':
      return inSvm('DELETE', '')
    case 'make bucket':
      return ask('POST', BUCKETS, { name, svm: { name: other }, size: 1024 })
    case 'resize bucket':
      return bucket('PATCH', { size: 1024 + pick })
    case 'drop bucket':
      return bucket('DELETE')
    case 'make user':
      return inSvm('POST', '/users', { name })
    case 'drop user':
      return inSvm('DELETE', `/users/${name}`)
    case 'make policy':
      return inSvm('POST', '/policies', { name })
    case 'drop policy':
      return inSvm('DELETE', `/policies/${name}`)
    case 'make interface':
      return ask('POST', INTERFACES, { name, svm: { name: other }, ip: { address: `192.0.2.${pick}` } })
    case 'drop interface':
      return on(INTERFACES, 'DELETE')
  }
}

/** The UUID of a record; that of nothing where there is none. */
function keyOf(record: Body | undefined): string {
  return record === undefined ? '00000000-0000-4000-8000-000000000000' : asText(record['uuid'])
}

const asks = fc.record({
  does: fc.constantFrom(...DEEDS),
  name: fc.constantFrom(...NAMES),
  other: fc.constantFrom(...NAMES),
  pick: fc.nat(200),
})

test('requests that meet leave nothing behind that does not belong to something', async (context) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(asks, { minLength: 1, maxLength: 8 }), { minLength: 10, maxLength: 30 }),
      async (rounds) => {
        const cluster = await startTestCluster({ isBare: true })
        try {
          for (const name of NAMES) await perform(cluster, { does: 'make svm', name, other: '', pick: 0 })
          for (const round of rounds) {
            await Promise.all(round.map((ask) => perform(cluster, ask)))
            await removeOwedTrees(cluster.cluster, new AbortController().signal)
            assert.deepEqual(await leftovers(cluster.cluster, 'nowhere'), [], JSON.stringify(round))
          }
          assert.deepEqual(
            cluster.logged.filter(({ level }) => level === 'error'),
            [],
          )
        } finally {
          await cluster.close()
        }
      },
    ),
    {
      seed: seedOf(context),
      numRuns: 25,
      interruptAfterTimeLimit: 25_000,
      endOnFailure: process.env['HOLDFAST_TEST_SHRINK'] === undefined,
    },
  )
})
