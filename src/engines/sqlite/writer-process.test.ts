import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CatalogUnavailable } from '../../ports/catalog.ts'
import type { Change } from '../../ports/catalog.ts'
import { bytes, draft, listed, openBucket, part, put, setVersioning } from '../../ports/catalog/fixtures.suite.ts'
import { openSqliteCatalog } from './catalog.ts'
import { SCHEMA_VERSION } from '../../catalog/schema.ts'
import { WriterServer } from './server.ts'
import { startWriter as start, type WriterOrder, type WriterProcess } from './start-writer.ts'

const OPEN: Change[] = [
  { do: 'open-volume', volume: 'v', sizeBytes: 1e9 },
  { do: 'open-bucket', bucket: 'b', volume: 'v', limitBytes: 1e9 },
]

/** Those of the test that is running: one that fails leaves no process. */
const started: WriterProcess[] = []

async function startWriter(order: WriterOrder): Promise<WriterProcess> {
  const writer = await start(order)
  started.push(writer)
  return writer
}

async function inFolder(use: (at: { file: string; socket: string }) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'writer-'))
  try {
    await use({ file: join(folder, 'catalog.db'), socket: join(folder, 's') })
  } finally {
    for (const writer of started.splice(0)) await writer.stop()
    await rm(folder, { recursive: true })
  }
}

/** So many commits are acknowledged in each round before the writer is killed, and by chance as many again. */
const ACKNOWLEDGED_MIN = 20
const ROUNDS = [0, 1, 2]

void describe('the writer process', () => {
  void it('killed under load it has kept all it acknowledged, and nothing by half', () =>
    inFolder(async ({ file, socket }) => {
      const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e6))
      console.log(`SEED=${seed}`)
      let writer = await startWriter({ file, socket })
      const catalog = openSqliteCatalog({ file, commit: { socket } })
      await catalog.commit([...OPEN, { do: 'set-quota', volume: 'v', quota: { type: 'tree', tree: 0 }, limits: {} }])
      const acknowledged = new Set<string>()
      let n = 0
      for (const round of ROUNDS) {
        const load = { over: false }
        const killedAt = acknowledged.size + ACKNOWLEDGED_MIN + ((seed * (round + 7)) % ACKNOWLEDGED_MIN)
        const loaded = Promise.withResolvers<void>()
        const clients = Array.from({ length: 16 }, async () => {
          while (!load.over) {
            const key = `${round}-${n++}`
            const pair: Change[] = [
              put('b', `${key}.1`, draft(`${key}.1`)),
              { do: 'put-record', type: 't', key, body: {} },
              put('b', `${key}.2`, draft(`${key}.2`)),
            ]
            try {
              await catalog.commit(pair)
              acknowledged.add(key)
            } catch (failure) {
              assert.ok(failure instanceof CatalogUnavailable)
            }
            if (acknowledged.size >= killedAt) loaded.resolve()
          }
        })
        await Promise.race([loaded.promise, ...clients])
        // Anywhere in what it does, and not only when it has answered.
        await wait((seed * (round + 11)) % 20)
        process.kill(writer.pid, 'SIGKILL')
        assert.equal(await writer.ended, 'SIGKILL')
        load.over = true
        writer = await startWriter({ file, socket })
        await Promise.all(clients)
      }
      const keys = new Set((await listed(catalog, 'b')).map((item) => item.split('=')[0]))
      assert.ok(acknowledged.size >= ROUNDS.length * ACKNOWLEDGED_MIN, `only ${acknowledged.size} commits`)
      for (const key of acknowledged) assert.ok(keys.has(`${key}.1`), key)
      for (const key of keys) assert.ok(keys.has(key?.replace(/\.[12]$/, (s) => (s === '.1' ? '.2' : '.1'))), key)
      assert.equal((await catalog.records('t')).length * 2, keys.size)
      assert.equal((await catalog.bucket('b'))?.objects, keys.size)
      assert.equal((await catalog.volume('v'))?.usedBytes, keys.size * 10)
      const [quota] = await catalog.quotas('v')
      assert.deepEqual([quota?.usedBytes, quota?.usedFiles], [keys.size * 10, keys.size])
      await catalog.close()
      await writer.stop()
      const db = new DatabaseSync(file)
      assert.deepEqual({ ...db.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' })
      db.close()
    }))

  void it('a second writer is turned away, in this process or another, until the first has ended', () =>
    inFolder(async ({ file, socket }) => {
      const writer = await startWriter({ file, socket })
      assert.throws(() => openSqliteCatalog({ file, commit: 'in-process' }), /has a writer already/)
      await assert.rejects(startWriter({ file, socket: `${socket}2` }), /has a writer already/)
      process.kill(writer.pid, 'SIGKILL')
      await writer.ended
      const own = openSqliteCatalog({ file, commit: 'in-process' })
      assert.throws(() => openSqliteCatalog({ file, commit: 'in-process' }), /has a writer already/)
      await own.close()
      await openSqliteCatalog({ file, commit: 'in-process' }).close()
    }))

  void it('many commits in flight share transactions', () =>
    inFolder(async ({ file, socket }) => {
      const server = new WriterServer(file)
      await server.listen(socket)
      const catalog = openSqliteCatalog({ file, commit: { socket } })
      await catalog.commit(OPEN)
      let n = 0
      const clients = Array.from({ length: 32 }, async () => {
        while (n < 640) {
          const key = `k${n++}`
          await catalog.commit([put('b', key, draft(key))])
        }
      })
      await Promise.all(clients)
      assert.ok(server.transactions < 160, `${server.transactions} transactions for 640 commits`)
      await catalog.close()
      await server.close()
    }))

  void it('commits wait for a writer that is not there yet, and are answered when it comes', () =>
    inFolder(async ({ file, socket }) => {
      const first = await startWriter({ file, socket })
      const catalog = openSqliteCatalog({ file, commit: { socket } })
      await catalog.commit(OPEN)
      await first.stop()
      const waiting = catalog.commit([put('b', 'k', draft('blob'))])
      const second = await startWriter({ file, socket })
      await waiting
      assert.deepEqual(await listed(catalog, 'b'), ['k=blob'])
      await catalog.close()
      await second.stop()
    }))

  void it('asked to end, it settles and answers what had arrived', () =>
    inFolder(async ({ file, socket }) => {
      const writer = await startWriter({ file, socket })
      const catalog = openSqliteCatalog({ file, commit: { socket } })
      await catalog.commit(OPEN)
      const sent = Promise.allSettled(
        Array.from({ length: 200 }, (_, i) => catalog.commit([put('b', `k${i}`, draft(`b${i}`))])),
      )
      await wait(1)
      await writer.stop()
      const again = await startWriter({ file, socket })
      const settled = await sent
      for (const [i, { status }] of settled.entries()) {
        if (status === 'fulfilled') assert.ok(await catalog.object('b', bytes(`k${i}`)), `k${i}`)
      }
      await catalog.close()
      await again.stop()
    }))

  void it('it ends with its parent', () =>
    inFolder(async ({ file, socket }) => {
      const script = fileURLToPath(new URL('writer-process.ts', import.meta.url))
      const child = spawn(process.execPath, [script, file, socket], { stdio: ['pipe', 'ignore', 'inherit'] })
      const ended = once(child, 'exit')
      while (!(await canConnect(socket))) await wait(5)
      child.stdin.end()
      assert.deepEqual(await ended, [0, null])
    }))

  void it('who does not speak the format is cut off, the others are served', () =>
    inFolder(async ({ file, socket }) => {
      const writer = await startWriter({ file, socket })
      const catalog = openSqliteCatalog({ file, commit: { socket } })
      for (const rubbish of ['GET / HTTP/1.1\r\n\r\n', '\0\0\0\x04\0\0\0\x01abcd']) {
        const stranger = connect(socket)
        stranger.on('error', () => {})
        stranger.write(rubbish)
        await once(stranger, 'close')
      }
      await catalog.commit(OPEN)
      await catalog.close()
      await writer.stop()
    }))

  void it('a catalog of a newer release is refused with a clear message', () =>
    inFolder(async ({ file, socket }) => {
      await openSqliteCatalog({ file, commit: 'in-process' }).close()
      const db = new DatabaseSync(file)
      db.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`)
      db.close()
      const refusal = new RegExp(
        `version ${SCHEMA_VERSION + 1}; this release knows versions up to ${SCHEMA_VERSION}\\.`,
      )
      assert.throws(() => openSqliteCatalog({ file, commit: 'in-process' }), refusal)
      await assert.rejects(startWriter({ file, socket }), refusal)
    }))

  void it('a catalog of an earlier version gets what has come since, and keeps what it has', () =>
    inFolder(async ({ file, socket }) => {
      const before = openSqliteCatalog({ file, commit: 'in-process' })
      await before.commit(OPEN)
      await before.close()
      const db = new DatabaseSync(file)
      db.exec(`${TO_VERSION_5} DROP TABLE samples; PRAGMA user_version = 4`)
      db.close()
      const writer = await startWriter({ file, socket })
      const catalog = openSqliteCatalog({ file, commit: { socket } })
      await catalog.commit([{ do: 'put-samples', step: 15, block: 1, row: 'a', body: Uint8Array.of(1) }])
      assert.equal(await catalog.lastSamples(15, 2), 1)
      assert.equal((await catalog.volumes()).size, 1)
      for (const volume of (await catalog.volumes()).keys()) {
        await catalog.commit([{ do: 'protect-volume', volume, isReadOnly: true }])
        const snapshot = { do: 'take-snapshot', volume, snapshot: 's', nowMs: 1 } as const
        await assert.rejects(catalog.commit([snapshot]), { reason: 'read-only' })
      }
      await catalog.close()
      await writer.stop()
    }))

  void it('a catalog from before there were sums of aggregates has them added up', () =>
    inFolder(async ({ file, socket }) => {
      const before = openSqliteCatalog({ file, commit: 'in-process' })
      for (const [volume, sizeBytes, guarantee] of [
        ['v1', 100, 'volume'],
        ['v2', 50, 'none'],
        ['v3', 30, 'volume'],
      ] as const) {
        const body = { uuid: volume, aggregates: [{ uuid: 'aggr' }], 'guarantee.type': guarantee }
        await before.commit([
          { do: 'put-record', type: 'storage/volumes', key: volume, body },
          { do: 'open-volume', volume, sizeBytes },
          { do: 'open-bucket', bucket: volume, volume, limitBytes: 100 },
          put(volume, 'k', draft(`${volume}-blob`, 10)),
          { do: 'take-snapshot', volume, snapshot: `${volume}-s`, nowMs: 1 },
        ])
      }
      await before.commit([{ do: 'open-volume', volume: 'in-no-record', sizeBytes: 7 }])
      await before.close()
      const db = new DatabaseSync(file)
      db.exec(`${TO_VERSION_5} PRAGMA user_version = 5`)
      db.close()
      const writer = await startWriter({ file, socket })
      const catalog = openSqliteCatalog({ file, commit: { socket } })
      const sums = { volumes: 3, sizeBytes: 180, usedBytes: 30, promisedBytes: 110 }
      assert.deepEqual(await catalog.aggregate('aggr'), sums)
      assert.equal((await catalog.volume('v2'))?.snapshots, 1)
      const changed = await catalog.changedVolumes(0, 10)
      assert.equal(changed.length, 4, 'Nobody has looked at them yet.')
      await catalog.commit([put('v1', 'other', draft('more', 20))])
      assert.deepEqual(await catalog.aggregate('aggr'), { ...sums, usedBytes: 50, promisedBytes: 90 })
      const since = await catalog.changedVolumes(changed.at(-1)?.change ?? 0, 10)
      assert.deepEqual(
        since.map(({ volume }) => volume),
        ['v1'],
      )
      await catalog.close()
      await writer.stop()
    }))

  void it('a catalog from before there were quotas counts once what users have in it', () =>
    inFolder(async ({ file, socket }) => {
      const before = openSqliteCatalog({ file, commit: 'in-process' })
      const bucket = { do: 'open-bucket', bucket: 'b', volume: 'v', limitBytes: 1000 } as const
      await before.commit([{ do: 'open-volume', volume: 'v', sizeBytes: 1000 }, bucket])
      await before.commit([
        put('b', 'k', draft('a', 5, { owner: 'anna' })),
        put('b', 'l', draft('b', 6, { owner: '' })),
      ])
      const upload = { upload: 'u', key: Buffer.from('k'), startedMs: 1, details: { owner: 'anna' } }
      await before.commit([
        { do: 'open-upload', bucket: 'b', upload },
        { do: 'put-part', bucket: 'b', upload: 'u', part: part(1, 'c', 7), maxTotalBytes: 100 },
      ])
      const all = 'SELECT volume, type, tree, target, bytes, files, ruled FROM quotas ORDER BY type'
      await before.close()
      const db = new DatabaseSync(file)
      const counted = db.prepare(all).all()
      assert.equal(counted.length, 2)
      db.exec(`${TO_VERSION_5} PRAGMA user_version = 5`)
      db.close()
      const writer = await startWriter({ file, socket })
      const upgraded = new DatabaseSync(file)
      assert.deepEqual(upgraded.prepare(all).all(), counted)
      upgraded.close()
      await writer.stop()
    }))

  void it('a catalog from before blobs were stored in less keeps what it has, and counts on', () =>
    inFolder(async ({ file }) => {
      const before = openSqliteCatalog({ file, commit: 'in-process' })
      await openBucket(before, 'b')
      await before.commit([put('b', 'a', draft('a', 100)), put('b', 'c', draft('c', 100))])
      await before.close()
      const db = new DatabaseSync(file)
      db.exec(`${TO_VERSION_5} PRAGMA user_version = 5`)
      db.close()
      const catalog = openSqliteCatalog({ file, commit: 'in-process' })
      await catalog.commit([{ do: 'store-blobs', volume: 'b-v', blobs: ['a', 'c'], storedBytes: 40 }])
      const counters = await catalog.volume('b-v')
      assert.ok(counters)
      const { usedBytes, savedByCompressionBytes, savedByDedupeBytes } = counters
      assert.deepEqual([usedBytes, savedByCompressionBytes, savedByDedupeBytes], [40, 60, 100])
      await catalog.close()
    }))

  void it('a catalog from before blobs had checksums knows none of the old ones, and those of new ones', () =>
    inFolder(async ({ file }) => {
      const before = openSqliteCatalog({ file, commit: 'in-process' })
      await openBucket(before, 'b')
      await before.commit([put('b', 'a', draft('a', 100))])
      await before.close()
      const db = new DatabaseSync(file)
      db.exec(`${TO_VERSION_7} PRAGMA user_version = 7`)
      db.close()
      const catalog = openSqliteCatalog({ file, commit: 'in-process' })
      const blobs = [{ blob: 'c', sizeBytes: 100, crc: 5 }]
      await catalog.commit([put('b', 'c', { ...draft('c', 100), blobs }), { do: 'begin-move', volume: 'b-v' }])
      assert.deepEqual(await catalog.blobs('b-v', '', 10), [{ blob: 'a', sizeBytes: 100 }, ...blobs])
      await catalog.close()
    }))

  void it('a catalog whose snapshots have the records of buckets in theirs shows them as the snapshot had them', () =>
    inFolder(async ({ file }) => {
      const [buckets, snapshots] = ['protocols/s3/buckets', 'storage/volumes/{volume.uuid}/snapshots']
      const before = openSqliteCatalog({ file, commit: 'in-process' })
      const bucket = (uuid: string, comment: string) => ({ uuid, comment, 'volume.uuid': 'b-v' })
      const kept = [bucket('b', 'as it was'), bucket('gone', 'not any more')]
      await openBucket(before, 'b')
      await setVersioning(before, 'b', 'enabled')
      await before.commit([
        put('b', 'k', { ...draft('k'), version: 'v1' }),
        { do: 'take-snapshot', volume: 'b-v', snapshot: 's', nowMs: 1 },
        { do: 'put-record', type: snapshots, key: 's', parent: 'b-v', body: { name: 'daily', $buckets: kept } },
        { do: 'put-record', type: buckets, key: 'b', parent: 'b-v', body: bucket('b', 'as it is') },
      ])
      await before.close()
      const db = new DatabaseSync(file)
      db.exec(`${TO_VERSION_6} PRAGMA user_version = 6`)
      db.close()
      const catalog = openSqliteCatalog({ file, commit: 'in-process' })
      assert.deepEqual((await catalog.record(snapshots, 's'))?.body, { name: 'daily' })
      const shown = await catalog.recordsAt(buckets, { volume: 'b-v', snapshot: 's' }, '', 10)
      assert.deepEqual(
        shown.map(({ body }) => body),
        kept,
      )
      assert.deepEqual(await listed(catalog, 'b'), ['k=k'])
      const put2 = { do: 'put-record', type: buckets, key: 'b', body: bucket('b', 'as it will be') } as const
      await catalog.commit([{ ...put2, isInSnapshots: true }])
      await catalog.commit([{ do: 'take-snapshot', volume: 'b-v', snapshot: 's2', nowMs: 2 }])
      const next = await catalog.recordsAt(buckets, { volume: 'b-v', snapshot: 's2' }, '', 10)
      assert.deepEqual(
        next.map(({ body }) => body['comment']),
        ['as it will be'],
      )
      await catalog.close()
    }))

  void it('a catalog from before the first release is refused, and left as it is', () =>
    inFolder(async ({ file, socket }) => {
      await openSqliteCatalog({ file, commit: 'in-process' }).close()
      const db = new DatabaseSync(file)
      db.exec('PRAGMA user_version = 1')
      assert.throws(() => openSqliteCatalog({ file, commit: 'in-process' }), /version 1, from before the first release/)
      await assert.rejects(startWriter({ file, socket }), /start in an empty folder/)
      assert.equal(db.prepare('PRAGMA user_version').get()?.['user_version'], 1)
      db.close()
    }))
})

/** Takes away what version 8 brought. */
const TO_VERSION_7 = `DROP INDEX blobs_without_crc;
  ALTER TABLE blobs DROP COLUMN crc; ALTER TABLE arrivals DROP COLUMN crc;`

/** Takes away what versions 7 and 8 brought. */
const TO_VERSION_6 = `${TO_VERSION_7} DROP TABLE listed_keys; DROP INDEX buckets_unlisted; DROP TABLE record_history;
  ALTER TABLE records DROP COLUMN born;
  ALTER TABLE buckets DROP COLUMN listed; ALTER TABLE buckets DROP COLUMN listed_to;`

/** Takes away what versions 6 to 8 brought. */
const TO_VERSION_5 = `${TO_VERSION_6} DROP INDEX blobs_by_digest; DROP TABLE blob_groups;
  ALTER TABLE blobs DROP COLUMN stored; ALTER TABLE blobs DROP COLUMN grp;
  ALTER TABLE blobs DROP COLUMN digest; ALTER TABLE blobs DROP COLUMN tried;
  ALTER TABLE volumes DROP COLUMN saved_by_compression; ALTER TABLE volumes DROP COLUMN saved_by_dedupe;
  DROP TRIGGER volumes_summed; DROP TRIGGER volumes_placed; DROP TRIGGER snapshots_taken; DROP TRIGGER snapshots_dropped;
  DROP TABLE aggregates; DROP TABLE quotas; DROP TABLE restores; DROP TABLE arrivals; ALTER TABLE volumes DROP COLUMN moving; DROP INDEX snapshots_by_bucket;
  ALTER TABLE snapshots DROP COLUMN bucket; ALTER TABLE dropped_epochs DROP COLUMN bucket;
  ALTER TABLE dropped_epochs DROP COLUMN died; ALTER TABLE dropped_epochs DROP COLUMN born;
  ALTER TABLE dropped_epochs DROP COLUMN id; DROP INDEX volumes_by_change; DROP INDEX volumes_by_tree;
  ALTER TABLE blobs DROP COLUMN inherited; ALTER TABLE volumes DROP COLUMN tree; ALTER TABLE volumes DROP COLUMN inherited;
  ALTER TABLE volumes DROP COLUMN reserve; ALTER TABLE volumes DROP COLUMN read_only;
  ${['aggregate', 'guaranteed', 'snapshots', 'changed'].map((name) => `ALTER TABLE volumes DROP COLUMN ${name};`).join('')}`

async function canConnect(path: string): Promise<boolean> {
  const socket = connect(path)
  const { promise, resolve } = Promise.withResolvers<boolean>()
  socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  const connected = await promise
  socket.destroy()
  return connected
}
