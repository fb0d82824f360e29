/** Requests on few names, so that they meet: what `perform` asks is about whatever records are there at that moment. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { asNumber, asText, recordsOf, type Body } from '../../support/body.ts'
import type { Answered } from '../../support/cluster.ts'

/** One request: what it is for, and which of the records that are there it is about. */
export interface Ask<Does extends string = string> {
  readonly does: Does
  readonly name: string
  readonly other: string
  readonly pick: number
}

export type Deeds<Does extends string> = Readonly<Record<Does, (tools: Tools, ask: Ask<Does>) => Promise<unknown>>>

export type Tools = ReturnType<typeof toolsOf>

/** What answers requests: a cluster in this process, or one that another process has. */
export interface Asked {
  call(method: string, target: string, body?: object): Promise<Answered>
}

export const NAMES = ['aa1', 'bb2', 'cc3']
export const VOLUMES = '/api/storage/volumes'
export const QUEUE = '/api/private/cli/volume/recovery-queue'
export const SVMS = '/api/svm/svms'
export const QTREES = '/api/storage/qtrees'
export const RULES = '/api/storage/quota/rules'
export const AGGREGATES = '/api/storage/aggregates'
export const BUCKETS = '/api/protocols/s3/buckets'
export const SERVICES = '/api/protocols/s3/services'
export const INTERFACES = '/api/network/ip/interfaces'

/** Ways to ask a cluster. None may be answered with an internal error. */
export function toolsOf(cluster: Asked, { pick }: Ask) {
  const some = async (collection: string, fields: string): Promise<Body | undefined> => {
    const { body, status } = await cluster.call('GET', `${collection}?fields=${fields}&max_records=100`)
    const records = status === 200 ? recordsOf(body) : []
    return records[pick % Math.max(1, records.length)]
  }
  const ask = async (method: string, path: string, body?: object): Promise<Answered> => {
    const reply = await cluster.call(method, path, body)
    assert.ok(reply.status < 500, `${method} ${path} ${JSON.stringify(body)}: ${JSON.stringify(reply.body)}`)
    return reply
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
  return { ask, some, on, inSvm, bucket, queued, inVolume, qtree, snapshots }
}

export const STORAGE_DEEDS: Deeds<string> = {
  'make svm': ({ ask }, { name }) => ask('POST', SVMS, { name }),
  'rename svm': ({ on }, { name, other }) => on(SVMS, 'PATCH', { name, comment: other }),
  'stop svm': ({ on }) => on(SVMS, 'PATCH', { state: 'stopped' }),
  'drop svm': ({ on }) => on(SVMS, 'DELETE'),
  'make volume': ({ ask }, { name, other }) => ask('POST', VOLUMES, { name, svm: { name: other }, size: '16m' }),
  'rename volume': ({ on }, { name }) => on(VOLUMES, 'PATCH', { name }),
  'resize volume': ({ on }, { pick }) => on(VOLUMES, 'PATCH', { size: (pick + 20) * 2 ** 20 }),
  'promise volume': ({ on }, { pick }) =>
    on(VOLUMES, 'PATCH', { guarantee: { type: pick % 2 === 0 ? 'none' : 'volume' } }),
  'offline volume': ({ on }) => on(VOLUMES, 'PATCH', { state: 'offline' }),
  'online volume': ({ on }, { name }) => on(VOLUMES, 'PATCH', { state: 'online', comment: name }),
  'clone volume': ({ ask }, { name, other, pick }) =>
    ask('POST', VOLUMES, {
      name,
      svm: { name: other },
      clone: { is_flexclone: true, parent_volume: { name: NAMES[pick % NAMES.length] } },
    }),
  'split clone': ({ on }) => on(VOLUMES, 'PATCH', { clone: { split_initiated: true } }),
  'drop volume': ({ on }) => on(VOLUMES, 'DELETE'),
  'drop volume for good': ({ on }) => on(VOLUMES, 'DELETE', undefined, '?force=true'),
  'recover volume': async ({ ask, queued }, { name }) =>
    ask('POST', `${QUEUE}/recover`, { ...(await queued()), newname: name }),
  'purge volume': async ({ ask, queued }) => ask('POST', `${QUEUE}/purge`, await queued()),
  'make qtree': ({ inVolume }, { other }) => inVolume(QTREES, { name: other }),
  'rename qtree': ({ qtree }, { name }) => qtree('PATCH', { name }),
  'drop qtree': ({ qtree }) => qtree('DELETE'),
  'make quota rule': ({ inVolume }, { name, other, pick }) => {
    const qtree = pick % 3 === 0 ? other : ''
    const target = pick % 2 === 0 ? { type: 'tree', qtree } : { type: 'user', qtree, users: [{ name }] }
    return inVolume(RULES, { ...target, space: { hard_limit: '1m' } })
  },
  'change quota rule': ({ on }, { pick }) => on(RULES, 'PATCH', { space: { hard_limit: (pick + 1) * 1024 } }),
  'drop quota rule': ({ on }) => on(RULES, 'DELETE'),
  'switch quotas': ({ on }, { pick }) => on(VOLUMES, 'PATCH', { quota: { enabled: pick % 3 > 0 } }),
  'move volume': ({ on }, { pick }) =>
    on(VOLUMES, 'PATCH', { movement: { destination_aggregate: { name: pick % 3 === 0 ? 'aggr1' : 'aggr2' } } }),
  'steer move': ({ on }, { pick }) =>
    on(VOLUMES, 'PATCH', { movement: { state: pick % 2 === 0 ? 'aborted' : 'replicating' } }),
  'make aggregate': ({ ask }) => ask('POST', AGGREGATES, { name: 'aggr2', block_storage: { path: '/disk2/a' } }),
  'drop aggregate': ({ on }) => on(AGGREGATES, 'DELETE'),
  'make snapshot': async ({ ask, snapshots }, { name }) => ask('POST', await snapshots(), { name }),
  'drop snapshot': async ({ ask, snapshots }, { name }) => ask('DELETE', `${await snapshots()}/${name}`),
  'make server': ({ ask }, { name, other }) =>
    ask('POST', SERVICES, { name: `server-${name}`, svm: { name: other }, data_volumes: [{ name }] }),
  'change server': ({ inSvm }, { name, pick }) =>
    inSvm('PATCH', '', { data_volumes: pick % 2 === 0 ? [] : [{ name }] }),
  'drop server': ({ inSvm }) => inSvm('DELETE', ''),
  'make bucket': ({ ask }, { name, other }) => ask('POST', BUCKETS, { name, svm: { name: other }, size: 1024 }),
  'resize bucket': ({ bucket }, { pick }) => bucket('PATCH', { size: 1024 + pick }),
  'drop bucket': ({ bucket }) => bucket('DELETE'),
  'make user': ({ inSvm }, { name }) => inSvm('POST', '/users', { name }),
  'drop user': ({ inSvm }, { name }) => inSvm('DELETE', `/users/${name}`),
  'make policy': ({ inSvm }, { name }) => inSvm('POST', '/policies', { name }),
  'drop policy': ({ inSvm }, { name }) => inSvm('DELETE', `/policies/${name}`),
  'make interface': ({ ask }, { name, other, pick }) =>
    ask('POST', INTERFACES, { name, svm: { name: other }, ip: { address: `192.0.2.${pick}` } }),
  'drop interface': ({ on }) => on(INTERFACES, 'DELETE'),
}

/** How often a deed is asked for, where that is more than once. */
const OFTEN: Readonly<Record<string, number>> = {
  'make volume': 2,
  'make quota rule': 2,
  'move volume': 2,
  'make bucket': 2,
}

export function anyAsk(deeds: Deeds<string>): fc.Arbitrary<Ask> {
  const names = Object.keys(deeds).flatMap((name) => Array.from({ length: OFTEN[name] ?? 1 }, () => name))
  return fc.record({
    does: fc.constantFrom(...names),
    name: fc.constantFrom(...NAMES),
    other: fc.constantFrom(...NAMES),
    pick: fc.nat(200),
  })
}

/** One of these, by numbers from 0 to under 1. */
export function randomAsk(deeds: readonly string[], random: () => number): Ask {
  const one = (list: readonly string[]) => list[Math.floor(random() * list.length)] ?? ''
  return { does: one(deeds), name: one(NAMES), other: one(NAMES), pick: Math.floor(random() * 200) }
}

export async function perform(cluster: Asked, ask: Ask, deeds: Deeds<string> = STORAGE_DEEDS): Promise<void> {
  await deeds[ask.does]?.(toolsOf(cluster, ask), ask)
}

/** The UUID of a record; that of nothing where there is none. */
export function keyOf(record: Body | undefined): string {
  return record === undefined ? '00000000-0000-4000-8000-000000000000' : asText(record['uuid'])
}
