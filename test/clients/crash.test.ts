/** A real tree through the unmodified SDK, a snapshot, half of it deleted, everything killed during writes, and again. */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { CreateBucketCommand, DeleteObjectsCommand, type S3Client } from '@aws-sdk/client-s3'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { Holds } from './holds.ts'
import { canSeeProcesses, killEverything, pidsOf, startAgain, until } from './processes.ts'
import { listAll, sdkFor, sha256OfObject, upload } from './sdk.ts'
import { inLanes, isWhole, makeTree, sha256OfFile, type TreeFile } from './tree.ts'
import { Writes } from './writes.ts'

/** The short run has files of every kind, but for that of more than 100 MB. */
const FILES = isWhole ? Infinity : 110
const BYTES_MAX = 10 * 2 ** 20
const BUCKET = 'tree'
const WORKERS = { HOLDFAST_WORKERS: '2' }
const timeout = isWhole ? 900_000 : 120_000
const skip = canSeeProcesses ? false : 'processes can be found on Linux only'

describe('a real tree survives a power cut', { skip, timeout }, () => {
  let product: Product
  let client: S3Client
  let rest: RestClient
  let folder: string
  let files: TreeFile[]
  let kept: TreeFile[]
  const digests = new Map<string, string>()
  let snapshot: string
  let writes: Writes

  const use = (started: Product) => {
    product = started
    client = sdkFor(product)
    rest = new RestClient(product.management, basic(product))
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-tree-'))
    files = await makeTree(folder, { filesMax: FILES, ...(isWhole ? {} : { bytesMax: BYTES_MAX }) })
    await inLanes(files, 8, async (file) => {
      digests.set(file.key, await sha256OfFile(file.path))
    })
    use(await startProduct({ environment: WORKERS }))
    await client.send(new CreateBucketCommand({ Bucket: BUCKET }))
  })
  after(async () => {
    rest.close()
    client.destroy()
    await product.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('the SDK uploads every file, from 0 B to large ones in parts', { timeout }, async () => {
    assert.ok(files.length > (isWhole ? 1000 : 100) && files.some((file) => file.sizeBytes === 0))
    assert.ok(files.some((file) => file.sizeBytes > (isWhole ? 100_000_000 : 8_000_000)))
    await inLanes(files, 16, (file) => upload(client, BUCKET, file))
  })

  it('the listing has every key with its size and nothing else', { timeout }, async () => {
    const listed = await listAll(client, BUCKET)
    assert.deepEqual([...listed.keys()].toSorted(), files.map((file) => file.key).toSorted())
    for (const file of files) assert.equal(listed.get(file.key)?.sizeBytes, file.sizeBytes, file.key)
  })

  it('keys come in the order of their bytes', { timeout }, async () => {
    const keys = [...(await listAll(client, BUCKET)).keys()]
    const ordered = keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    assert.deepEqual(keys, ordered)
  })

  it('every byte comes back', { timeout }, async () => {
    await inLanes(files, 16, async (file) => {
      assert.equal(await sha256OfObject(client, BUCKET, file.key), digests.get(file.key), file.key)
    })
  })

  it('a snapshot is taken and half is deleted', { timeout }, async () => {
    const volume = await uuidOf(rest, '/api/storage/volumes', 'vol1')
    const made = await rest.call('POST', `/api/storage/volumes/${volume}/snapshots?return_timeout=60`, {
      name: 'before',
    })
    assert.equal(made.status, 201, made.text)
    snapshot = await uuidOf(rest, `/api/storage/volumes/${volume}/snapshots`, 'before')
    const gone = files.filter((_, at) => at % 2 === 0)
    kept = files.filter((_, at) => at % 2 === 1)
    for (let at = 0; at < gone.length; at += 1000) {
      const Objects = gone.slice(at, at + 1000).map((file) => ({ Key: file.key }))
      const { Errors } = await client.send(new DeleteObjectsCommand({ Bucket: BUCKET, Delete: { Objects } }))
      assert.deepEqual(Errors ?? [], [])
    }
    const { body } = await rest.get(`/api/storage/volumes/${volume}?fields=space`)
    const bytes = gone.reduce((sum, file) => sum + file.sizeBytes, 0)
    assert.equal(body['space']?.['snapshot']?.['used'], bytes, 'the snapshot holds what was deleted')
  })

  it('everything is killed during writes, and starts again on what it left', { timeout }, async () => {
    assert.equal(pidsOf(product, 'worker').length, 2)
    assert.equal(pidsOf(product, 'writer').length, 1)
    const writing = sdkFor(product, { tries: 1 })
    writes = new Writes(writing, BUCKET, 'load/')
    await until('writes are acknowledged', () => writes.acknowledged > (isWhole ? 300 : 150))
    await killEverything(product)
    await until('writers have noticed', () => writes.unanswered > 0)
    await writes.stop()
    writing.destroy()
    rest.close()
    client.destroy()
    use(await startAgain(product, WORKERS))
  })

  it('nothing that was acknowledged is missing, and no partial object shows', { timeout }, async () => {
    await writes.verify(client)
    const listed = await listAll(client, BUCKET)
    const tree = [...listed.keys()].filter((key) => !key.startsWith('load/'))
    assert.deepEqual(tree.toSorted(), kept.map((file) => file.key).toSorted())
    await inLanes(kept, 16, async (file) => {
      assert.equal(await sha256OfObject(client, BUCKET, file.key), digests.get(file.key), file.key)
    })
  })

  it('the snapshot still holds all of it, byte for byte', { timeout }, async () => {
    const volume = await uuidOf(rest, '/api/storage/volumes', 'vol1')
    assert.equal(await uuidOf(rest, `/api/storage/volumes/${volume}/snapshots`, 'before'), snapshot)
    const holds = await Holds.open(product)
    try {
      const bucket = await holds.bucket(BUCKET)
      assert.equal(bucket.volume, volume)
      const rows = await holds.rowsAt(bucket.uuid, volume, snapshot)
      assert.deepEqual(
        rows.map((row) => Buffer.from(row.key).toString()).toSorted(),
        files.map((file) => file.key).toSorted(),
      )
      await inLanes(rows, 8, async (row) => {
        const key = Buffer.from(row.key).toString()
        assert.equal(await holds.sha256(volume, row), digests.get(key), key)
      })
    } finally {
      await holds.close()
    }
  })

  it('what unfinished writes left on the disk is cleaned away', { timeout }, async () => {
    const holds = await Holds.open(product)
    try {
      const { volume } = await holds.bucket(BUCKET)
      await until('every file is known to the catalog', async () => (await holds.strangers(volume)) === 0)
    } finally {
      await holds.close()
    }
  })

  it('after the snapshot is deleted the volume gives its space back', { timeout }, async () => {
    const volume = await uuidOf(rest, '/api/storage/volumes', 'vol1')
    const path = `/api/storage/volumes/${volume}`
    const gone = await rest.call('DELETE', `${path}/snapshots/before?return_timeout=60`)
    assert.equal(gone.status, 200, gone.text)
    await until('only live objects use space', async () => {
      const { body } = await rest.get(`${path}?fields=space`)
      return Number(body['space']?.['snapshot']?.['used']) === 0
    })
    const listed = await listAll(client, BUCKET)
    const live = [...listed.values()].reduce((sum, each) => sum + each.sizeBytes, 0)
    const { body } = await rest.get(`${path}?fields=space`)
    assert.equal(body['space']?.['used'], live)
  })
})

function basic(product: Product): string {
  return `Basic ${Buffer.from(`${product.user}:${product.password}`).toString('base64')}`
}

async function uuidOf(rest: RestClient, collection: string, name: string): Promise<string> {
  const { body } = await rest.get(`${collection}?name=${name}&fields=uuid`)
  const [first] = body['records'] as unknown as readonly { readonly uuid: string }[]
  assert.ok(first, `${collection} has ${name}`)
  return first.uuid
}
