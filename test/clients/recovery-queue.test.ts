import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { asText, recordsOf, type Body } from '../support/body.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { until } from './processes.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const VOLUMES = '/api/storage/volumes'
const QUEUE = '/api/private/cli/volume/recovery-queue'

const skip = reasonUnlessWhole('src/resources/storage/volumes/recovery-queue.test.ts')
describeUnless(skip, 'a volume that is deleted', {}, () => {
  let product: Product
  let rest: RestClient
  let volume: string
  const tree = () => join(product.folder, 'aggr1/volumes', volume)

  async function connect(kept?: string): Promise<void> {
    product = await startProduct({
      environment: {
        HOLDFAST_WORKERS: '1',
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      },
      ...(kept === undefined ? {} : { folder: kept }),
    })
    const password = Buffer.from(`${product.user}:${product.password}`).toString('base64')
    rest = new RestClient(product.management, `Basic ${password}`)
  }
  before(() => connect())
  after(async () => {
    rest.close()
    await product.stop()
  })

  async function ask(method: string, target: string, body?: unknown): Promise<Body> {
    const answered = await rest.call(method, target, body)
    assert.ok(answered.status < 300, `${method} ${target}: ${answered.status} ${answered.text}`)
    return answered.body
  }

  const queue = async () => recordsOf(await ask('GET', `${QUEUE}?fields=**`))

  // The snapshot holds an object without bytes: the queue of a machine that is short of space keeps no others.
  it('keeps its snapshots over a crash of everything, and is recovered with them', async () => {
    await ask('POST', VOLUMES, { name: 'vol2', svm: 'svm1', size: '64m' })
    volume = asText(recordsOf(await ask('GET', `${VOLUMES}?name=vol2&fields=uuid`))[0]?.['uuid'])
    const svm = asText(recordsOf(await ask('GET', '/api/svm/svms?name=svm1&fields=uuid'))[0]?.['uuid'])
    const server = `/api/protocols/s3/services/${svm}`
    await ask('PATCH', server, { data_volumes: ['vol1', 'vol2'] })
    await ask('POST', '/api/protocols/s3/buckets', { name: 'kept', svm: 'svm1', volume: 'vol2', size: '32m' })
    const s3 = { url: product.s3Http ?? '' }
    assert.equal((await send(s3, 'PUT', '/kept/a', { body: '' })).status, 200)
    await ask('POST', `${VOLUMES}/${volume}/snapshots`, { name: 'one' })
    assert.equal((await send(s3, 'DELETE', '/kept/a')).status, 204)
    assert.equal((await send(s3, 'DELETE', '/kept')).status, 204)
    await ask('PATCH', server, { data_volumes: ['vol1'] })
    await ask('DELETE', `${VOLUMES}/${volume}`)

    rest.close()
    await product.stop({ signal: 'SIGKILL', keepFolder: true })
    await connect(product.folder)
    assert.equal((await rest.call('GET', `${VOLUMES}/${volume}`)).status, 404)
    const [queued] = await queue()
    assert.equal(queued?.['uuid'], volume)
    await ask('POST', `${QUEUE}/recover`, { vserver: 'svm1', volume: queued?.['volume'] })
    const back = await ask('GET', `${VOLUMES}/${volume}?fields=name,state,snapshot_count`)
    assert.deepEqual([back['name'], back['state'], back['snapshot_count']], ['vol2', 'offline', 1])
  })

  it('goes by itself when its time is over, with its folder', async () => {
    await ask('DELETE', `${VOLUMES}/${volume}`)
    assert.ok(existsSync(tree()))
    await ask('PATCH', `${QUEUE}/${volume}`, { retention_hours: 0 })
    await until('nothing of it is left', async () => (await queue()).length === 0 && !existsSync(tree()))
  })
})
