/** Single processes are killed while clients write: others take their place, and nothing acknowledged is lost. */
import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3'
import { startProduct, type Product } from '../support/product.ts'
import { canSeeProcesses, isAlive, kill, pidsOf, until } from './processes.ts'
import { sdkFor } from './sdk.ts'
import { isWhole } from './tree.ts'
import { Writes } from './writes.ts'
import { describeUnless } from './programs.ts'

const WORKERS = 2
const ROUNDS = isWhole ? 3 : 1
/** Writes before a process is killed, and as many after. */
const WRITES = isWhole ? 100 : 30
const skip = canSeeProcesses ? false : 'processes can be found on Linux only'

describeUnless(skip, 'processes of the product are killed during writes', {}, () => {
  let product: Product
  let client: S3Client

  before(async () => {
    product = await startProduct({ environment: { HOLDFAST_WORKERS: String(WORKERS) } })
    client = sdkFor(product, { tries: 5 })
    await client.send(new CreateBucketCommand({ Bucket: 'load' }))
  })
  after(async () => {
    client.destroy()
    await product.stop()
  })

  const acknowledges = async (writes: Writes, more: number) => {
    const from = writes.acknowledged
    await until(`${more} more writes are acknowledged`, () => writes.acknowledged >= from + more)
  }

  for (const part of ['worker', 'writer'] as const) {
    it(`a ${part} that is killed is replaced, and nothing acknowledged is lost`, { timeout: 120_000 }, async () => {
      const writes = new Writes(client, 'load', `${part}/`)
      for (let round = 0; round < ROUNDS; round++) {
        await acknowledges(writes, WRITES)
        const before = pidsOf(product, part)
        const [victim = 0] = before
        assert.ok(victim > 0, `there is a ${part}`)
        kill(victim)
        await until('it is gone', () => !isAlive(victim))
        await until('another has its place', () => {
          const now = pidsOf(product, part)
          return now.length === before.length && !now.includes(victim)
        })
        await acknowledges(writes, WRITES)
        await wait(100)
      }
      await writes.stop()
      await writes.verify(client)
      assert.equal(pidsOf(product, 'worker').length, WORKERS)
      assert.equal(pidsOf(product, 'writer').length, 1)
    })
  }
})
