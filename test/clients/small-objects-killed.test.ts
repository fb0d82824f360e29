/** Small objects are stored together. Everything is killed while they are written and deleted, again and again. */
import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { startProduct, type Product } from '../support/product.ts'
import { Holds } from './holds.ts'
import { canSeeProcesses, killEverything, startAgain, until } from './processes.ts'
import { listAll, sdkFor } from './sdk.ts'
import { inLanes, isWhole } from './tree.ts'

const BUCKET = 'small'
const ENVIRONMENT = { HOLDFAST_WORKERS: '2', HOLDFAST_PACK_DEAD_PERCENT: '5' }
const KILLS = isWhole ? 6 : 1
const WRITERS = 8
const KEYS = 60
const BODY_BYTES = 2000
const timeout = isWhole ? 600_000 : 180_000
const skip = canSeeProcesses ? false : 'processes can be found on Linux only'

describe('small objects survive power cuts', { skip, timeout }, () => {
  let product: Product
  let client: S3Client
  /** By key: the bodies that it may have, of which one is nothing. */
  const possible = new Map<string, ReadonlySet<string | undefined>>()
  /** What each body that was acknowledged begins with. */
  const acknowledged = new Set<string>()
  let unanswered = 0

  const use = (started: Product) => {
    product = started
    client = sdkFor(product)
  }
  before(async () => {
    use(await startProduct({ environment: ENVIRONMENT }))
    await client.send(new CreateBucketCommand({ Bucket: BUCKET }))
  })
  after(async () => {
    client.destroy()
    await product.stop()
  })

  /** Puts and deletes until the product is gone. */
  async function write(writer: number, from: S3Client): Promise<void> {
    for (;;) {
      const Key = `${writer}/${randomInt(KEYS)}`
      const mark = randomInt(3) === 0 ? undefined : `body-${randomBytes(8).toString('hex')}-`
      possible.set(Key, new Set([...(possible.get(Key) ?? [undefined]), mark]))
      try {
        if (mark === undefined) await from.send(new DeleteObjectCommand({ Bucket: BUCKET, Key }))
        else await from.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body: mark.padEnd(BODY_BYTES, 'x') }))
      } catch {
        unanswered++
        return
      }
      possible.set(Key, new Set([mark]))
      if (mark !== undefined) acknowledged.add(mark)
    }
  }

  /** What the body of a key begins with. */
  async function markOf(Key: string): Promise<string | undefined> {
    try {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key }))
      return (await Body?.transformToString())?.replace(/x+$/, '')
    } catch (failure) {
      if (failure instanceof NoSuchKey) return undefined
      throw failure
    }
  }

  /** The bodies in lost-and-found, by what they begin with. */
  function setAside(): string[] {
    const folder = join(product.folder, 'aggr1/lost-and-found')
    if (!existsSync(folder)) return []
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
    return files
      .filter((file) => statSync(file).isFile())
      .map((file) => /body-[0-9a-f]{16}-/.exec(readFileSync(file, 'latin1'))?.[0] ?? file)
  }

  const packs = (volume: string) => {
    const folder = join(product.folder, 'aggr1/volumes', volume, 'packs')
    return existsSync(folder) ? readdirSync(folder).map((name) => statSync(join(folder, name)).size) : []
  }

  it('nothing acknowledged is missing, and only what was not is set aside', { timeout }, async () => {
    for (let kills = 0; kills < KILLS; kills++) {
      const writing = sdkFor(product, { tries: 1 })
      const mark = acknowledged.size
      const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer, writing))
      await until('writes are acknowledged', () => acknowledged.size > mark + (isWhole ? 400 : 100))
      await killEverything(product)
      await Promise.all(writers)
      writing.destroy()
      client.destroy()
      use(await startAgain(product, ENVIRONMENT))
      await inLanes([...possible], 8, async ([Key, bodies]) => {
        const found = await markOf(Key)
        assert.ok(bodies.has(found), `${Key} holds ${found}, not ${[...bodies].join(' or ')}`)
        possible.set(Key, new Set([found]))
        if (found !== undefined) acknowledged.add(found)
      })
      const holds = await Holds.open(product)
      const { volume } = await holds.bucket(BUCKET)
      await until('every blob is known to the catalog', async () => (await holds.strangers(volume)) === 0)
      await holds.close()
      const aside = setAside()
      assert.ok(aside.length <= unanswered, `${aside.length} were set aside, ${unanswered} had no answer`)
      assert.deepEqual(
        aside.filter((body) => acknowledged.has(body)),
        [],
      )
    }
  })

  it('all of them are few files, and when they are deleted their space is had back', { timeout }, async () => {
    const holds = await Holds.open(product)
    const { volume } = await holds.bucket(BUCKET)
    await holds.close()
    const keys = [...(await listAll(client, BUCKET)).keys()]
    assert.ok(packs(volume).length <= 4 * (KILLS + 1), `${packs(volume).length} files`)
    await inLanes(keys, 8, async (Key) => {
      await client.send(new DeleteObjectCommand({ Bucket: BUCKET, Key }))
    })
    client.destroy()
    await product.stop({ keepFolder: true })
    use(await startAgain(product, ENVIRONMENT))
    await until('no pack is left', () => packs(volume).length === 0)
  })
})
