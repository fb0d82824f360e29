/**
 * The child process of the test that kills moves: moves a volume or takes its move up, writes and reads objects beside it as
 * the data plane does, and kills itself at a commit. What it asks for and what it was answered is in a file, line by line.
 */
import assert from 'node:assert/strict'
import { appendFileSync, readFileSync } from 'node:fs'
import { Housekeeping } from '../../src/background/housekeeping.ts'
import { SimulatedRandom } from '../../src/engines/simulated/random.ts'
import { textAt } from '../../src/model/value.ts'
import { storedRow } from '../../src/records/stored.ts'
import { readSettings } from '../../src/s3/tenancy/bucket-settings.ts'
import { VolumePlace } from '../../src/s3/objects/place.ts'
import { PieceBuffers } from '../../src/s3/objects/piece-buffers.ts'
import { Transfers } from '../../src/s3/body/transfers.ts'
import { Pins } from '../../src/s3/objects/pins.ts'
import { putObject } from '../../src/s3/objects/put.ts'
import { withObject } from '../../src/s3/objects/read.ts'
import type { ObjectStore, OpenBucket } from '../../src/s3/objects/store.ts'
import { digested } from '../../src/s3/objects/store-body.ts'
import { TreeUses } from '../../src/s3/objects/tree-uses.ts'
import { readVolume } from '../../src/s3/tenancy/records.ts'
import { openJobsCluster } from '../support/jobs-cluster.ts'
import { bodyOf, KEYS, linesOf, type MoveOrder } from './moves.ts'

const order = JSON.parse(process.argv[2] ?? '{}') as MoveOrder
const random = new SimulatedRandom(order.seed)
const trees = new TreeUses()
const open = openJobsCluster(order.folder, {}, { leaveTree: async (volume, tree) => trees.leave(volume, tree) })
const { cluster } = open
const { catalog, system } = cluster
const store: ObjectStore = {
  catalog,
  system,
  trees,
  pins: new Pins(),
  buffers: new PieceBuffers(),
  bodyBuffers: PieceBuffers.forBodies(),
  transfers: new Transfers(),
  grow: () => Promise.resolve(false),
  tellDamage: () => undefined,
  countCompression: () => {},
}

const commit = catalog.commit.bind(catalog)
/** Those that clients cause. How many there are while a move goes on depends on how busy the machine is. */
const OF_CLIENTS = new Set(['put-object', 'delete-object', 'drop-blobs', 'reclaim'])
let left = order.commits
catalog.commit = async (changes) => {
  const isClient = changes.some((change) => OF_CLIENTS.has(change.do))
  if (!isClient) left--
  const isTheOne = isClient ? order.whose === 'client' && left <= 0 : order.whose === 'move' && left === 0
  if (!isTheOne) return commit(changes)
  if (order.when === 'after') await commit(changes)
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}

const note = (line: string) => appendFileSync(order.log, `${line}\n`)
const sleep = (ms: number) => system.clock.sleep(ms)

/** What a request knows of the volume is as old as the request. */
async function openBucket(): Promise<OpenBucket> {
  const row = await cluster.row('storage/volumes', order.volume)
  const place = new VolumePlace({
    volume: order.volume,
    known: readVolume(storedRow('storage/volumes', row)).here,
    trees,
    volumesOf: (aggregate) => cluster.volumesOf(aggregate),
    look: async () => readVolume(storedRow('storage/volumes', await cluster.row('storage/volumes', order.volume))),
  })
  return {
    uuid: order.bucket,
    name: 'moved',
    svm: textAt(row, 'svm.uuid'),
    volume: order.volume,
    place,
    mayPack: true,
    hasQuotas: false,
    createdMs: 0,
    objectBytesMax: 2 ** 30,
    versioning: 'unversioned',
    settings: readSettings(storedRow('protocols/s3/buckets', {})),
  }
}

async function put(key: string, value: number): Promise<void> {
  const bucket = await openBucket()
  const body = bodyOf(key, value)
  async function* pieces() {
    yield body.subarray(0, body.length / 2)
    await sleep(random.below(30))
    yield body.subarray(body.length / 2)
  }
  note(`try ${key} ${value}`)
  await putObject(store, bucket, Buffer.from(key), {
    body: () => digested(pieces(), body.length, 'CRC32'),
    sizeBytes: body.length,
    details: { metadata: { contentType: 'text/plain', user: {} }, owner: '', tags: [] },
    locks: {},
    condition: undefined,
  }).finally(() => bucket.place.release())
  note(`done ${key} ${value}`)
}

async function remove(key: string): Promise<void> {
  note(`try ${key} gone`)
  await catalog.commit([{ do: 'delete-object', bucket: order.bucket, key: Buffer.from(key) }])
  note(`done ${key} gone`)
}

/** An object is whole, whatever it is. */
async function read(key: string): Promise<void> {
  const bucket = await openBucket()
  if ((await catalog.object(order.bucket, Buffer.from(key))) === undefined) return
  const bytes = await withObject(store, bucket, Buffer.from(key), async (_, take) =>
    Buffer.concat(await Array.fromAsync(await take())),
  ).catch((failure: unknown) => {
    // Deleted between the two looks.
    if ((failure as { code?: string }).code === 'NoSuchKey') return undefined
    throw failure
  })
  if (bytes === undefined) return
  const value = Number(bytes.toString('latin1').split('#')[1])
  assert.deepEqual(bytes, bodyOf(key, value))
}

/** Each client has keys of its own, so what was answered last is what counts. */
async function client(number: number): Promise<void> {
  const keys = KEYS.filter((_, at) => at % order.clients === number)
  for (let n = linesOf(order.log).length; open.jobs.activeCount > 0; n++) {
    const key = keys[random.below(keys.length)] ?? ''
    if (random.chance(0.15)) await remove(key)
    else if (random.chance(0.5)) await put(key, n * order.clients + number)
    else await read(KEYS[random.below(KEYS.length)] ?? '')
    await sleep(random.below(5))
  }
}

async function tidy(housekeeping: Housekeeping): Promise<void> {
  await housekeeping.sweep(order.startedMs)
  while (open.jobs.activeCount > 0) {
    await housekeeping.round()
    await sleep(10)
  }
}

const row = await cluster.row('storage/volumes', order.volume)
const resumed = await open.jobs.resume()
if (resumed === 0 && readVolume(storedRow('storage/volumes', row)).here.aggregate !== order.to) {
  await open.actions.perform(cluster.behaviour('storage/volumes'), 'modify', {
    caller: { user: 'admin', role: 'admin', from: 'test' },
    draft: { 'movement.destination_aggregate.uuid': order.to },
    row,
    path: {},
    args: {},
    description: 'move',
  })
}
const housekeeping = new Housekeeping(cluster, open.jobs, {
  stillReading: (blobs) => Promise.resolve(new Set(store.pins.among(blobs))),
})
await Promise.all([tidy(housekeeping), ...Array.from({ length: order.clients }, (_, number) => client(number))])
await open.ended()
await open.close()
assert.ok(readFileSync(order.log).length > 0)
