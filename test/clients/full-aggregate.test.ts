import assert from 'node:assert/strict'
import { test } from 'node:test'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { asText } from '../support/body.ts'
import { startProduct } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { canSeeProcesses, pidsOf, until } from './processes.ts'
import { reasonUnlessWhole } from './programs.ts'

const skip =
  reasonUnlessWhole('src/resources/private/faults.test.ts') ||
  (canSeeProcesses ? false : 'the processes of the product are found in /proc')

test(
  'while a fault has an aggregate full, nobody writes an object to it, and all is read; also by a new process',
  { skip },
  async () => {
    const product = await startProduct({
      environment: {
        HOLDFAST_WORKERS: '2',
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
    })
    const rest = new RestClient(
      product.management,
      `Basic ${Buffer.from(`admin:${product.password}`).toString('base64')}`,
    )
    const s3 = (method: string, key: string, body?: Buffer) =>
      send({ url: product.s3Http ?? '' }, method, `/full/${key}`, body === undefined ? {} : { body })
    const put = async (key: string) => {
      const { status, text } = await s3('PUT', key, Buffer.from('a body'))
      return `${status} ${/<Code>(.*?)<\/Code>/.exec(text)?.[1] ?? ''}`.trim()
    }
    try {
      assert.equal((await s3('PUT', '')).status, 200)
      assert.equal(await put('before'), '200')
      const fault = { type: 'full_aggregate', 'aggregate.name': 'aggr1' }
      const begun = await rest.call('POST', '/api/private/faults?return_records=true', fault)
      assert.equal(begun.status, 201, begun.text)
      for (let n = 0; n < 10; n++) assert.equal(await put(`during-${n}`), '507 InsufficientStorage')
      assert.equal((await s3('GET', 'before')).text, 'a body')

      for (const pid of pidsOf(product, 'worker')) process.kill(pid, 'SIGKILL')
      await until('others serve', async () => (await s3('GET', 'before').catch(() => undefined))?.status === 200)
      assert.equal(await put('by-a-new-one'), '507 InsufficientStorage')

      const uuid = asText(begun.body['records']?.[0]?.['uuid'])
      assert.equal((await rest.call('DELETE', `/api/private/faults/${uuid}`)).status, 200)
      assert.equal(await put('after'), '200')
    } finally {
      rest.close()
      await product.stop()
    }
  },
)
