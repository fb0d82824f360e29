/** Lifecycle rules of the running product, as a client and an administrator see them. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { it } from 'node:test'
import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  PutBucketLifecycleConfigurationCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  type LifecycleRule,
  type S3Client,
} from '@aws-sdk/client-s3'
import { places } from '../../bin/parts.ts'
import { openSqliteCatalog } from '../../src/engines/sqlite/catalog.ts'
import { recordsOf } from '../support/body.ts'
import { write } from '../support/lifecycle.ts'
import { startProduct, type Product } from '../support/product.ts'
import { RestClient } from '../support/rest-client.ts'
import { until } from './processes.ts'
import { listAll, sdkFor } from './sdk.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const timeout = 180_000

async function onProduct(
  environment: Readonly<Record<string, string>>,
  act: (client: S3Client, rest: RestClient) => Promise<void>,
): Promise<void> {
  const product: Product = await startProduct({ environment })
  const client = sdkFor(product)
  try {
    await asking(product, (rest) => act(client, rest))
  } finally {
    client.destroy()
    await product.stop()
  }
}

async function asking(product: Product, act: (rest: RestClient) => Promise<void>): Promise<void> {
  const login = Buffer.from(`${product.user}:${product.password}`).toString('base64')
  const rest = new RestClient(product.management, `Basic ${login}`)
  try {
    await act(rest)
  } finally {
    rest.close()
  }
}

async function put(client: S3Client, Bucket: string, ...keys: readonly string[]): Promise<void> {
  for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: Key }))
}

async function setRules(client: S3Client, Bucket: string, ...Rules: LifecycleRule[]): Promise<void> {
  await client.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules } }))
}

// Each has a product of its own, and waits for it most of the time.
const skip = reasonUnlessWhole('src/resources/protocols/s3/lifecycle-runs.test.ts')
describeUnless(skip, 'lifecycle rules', { concurrency: 2 }, () => {
  it('a rule with a date that is past is followed within seconds, and seen by administrators', { timeout }, () =>
    onProduct({}, async (client, rest) => {
      await client.send(new CreateBucketCommand({ Bucket: 'dated' }))
      await put(client, 'dated', 'logs/1', 'logs/2', 'kept')
      const past = new Date('2026-01-01T00:00:00Z')
      await setRules(client, 'dated', {
        ID: 'old logs',
        Status: 'Enabled',
        Filter: { Prefix: 'logs/' },
        Expiration: { Date: past },
      })
      const keys = async () => [...(await listAll(client, 'dated')).keys()]
      await until('the logs are gone', async () => (await keys()).length === 1)
      assert.deepEqual(await keys(), ['kept'])

      const runs = '/api/protocols/s3/lifecycle-runs?fields=*&expired_objects=2'
      await until('the run is on record', async () => recordsOf((await rest.get(runs)).body).length === 1)
      const jobs = '/api/cluster/jobs?fields=state&description=Apply%20lifecycle%20rules'
      const states = async () => recordsOf((await rest.get(jobs)).body).map((job) => job['state'] as unknown)
      // A job ends in a commit of its own, after that of its record.
      await until('the job has ended', async () => !(await states()).includes('running'))
      assert.deepEqual(await states(), ['success'])
      const events = await rest.get('/api/support/ems/events?fields=*&message.name=s3.lifecycle.*')
      const names = new Set<unknown>(recordsOf(events.body).map((event) => event['message']?.['name']))
      assert.deepEqual(names, new Set(['s3.lifecycle.ended', 's3.lifecycle.removed']))
    }),
  )

  it('days can be seconds in tests: objects, versions, markers and uploads go in turn', { timeout }, () =>
    onProduct({ HOLDFAST_LIFECYCLE_DAY_SECONDS: '2' }, async (client) => {
      const Bucket = 'short'
      await client.send(new CreateBucketCommand({ Bucket }))
      await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }))
      await put(client, Bucket, 'k', 'k')
      await client.send(new CreateMultipartUploadCommand({ Bucket, Key: 'unfinished' }))
      await setRules(client, Bucket, {
        ID: 'all',
        Status: 'Enabled',
        Filter: {},
        Expiration: { Days: 1 },
        NoncurrentVersionExpiration: { NoncurrentDays: 1 },
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
      })
      await until('nothing is left', async () => {
        const { Versions = [], DeleteMarkers = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }))
        const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }))
        return Versions.length + DeleteMarkers.length + Uploads.length === 0
      })
    }),
  )

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`a run that ${signal} ends goes on at the next start, and counts every object once`, { timeout }, async () => {
      let product = await startProduct()
      const client = sdkFor(product)
      await client.send(new CreateBucketCommand({ Bucket: 'large' }))
      client.destroy()
      await product.stop({ keepFolder: true })
      await fill(join(product.folder, places.catalog), OBJECTS)

      product = await startProduct({ folder: product.folder })
      try {
        const again = sdkFor(product)
        const rule: LifecycleRule = { ID: 'all', Status: 'Enabled', Filter: {}, Expiration: { Days: 1 } }
        await setRules(again, 'large', rule)
        again.destroy()
        await asking(product, async (rest) => {
          const jobs = '/api/cluster/jobs?fields=*&state=running&description=Apply%20lifecycle%20rules'
          await until('the run is under way', async () => recordsOf((await rest.get(jobs)).body).length > 0)
        })
        await product.stop({ signal, keepFolder: true })
        product = await startProduct({ folder: product.folder })
        await asking(product, async (rest) => {
          const runs = '/api/protocols/s3/lifecycle-runs?fields=*'
          await until('the run has ended', async () => recordsOf((await rest.get(runs)).body).length > 0)
          const [run] = recordsOf((await rest.get(runs)).body)
          assert.deepEqual([run?.['expired_objects'], run?.['examined'], run?.['buckets']], [OBJECTS, OBJECTS, 1])
          const resumed = await rest.get('/api/support/ems/events?message.name=cluster.job.resumed')
          assert.equal(recordsOf(resumed.body).length, 1)
        })
      } finally {
        await product.stop()
      }
    })
  }
})

/** Enough for some seconds. */
const OBJECTS = 40_000

/** Puts old objects into the only bucket of a product that is stopped. */
async function fill(file: string, count: number): Promise<void> {
  const catalog = openSqliteCatalog({ file, commit: 'in-process' })
  const [bucket = ''] = (await catalog.buckets()).keys()
  for (let at = 0; at < count; at += 500) {
    await catalog.commit(Array.from({ length: 500 }, (_, i) => write(bucket, `k${at + i}`, { modifiedMs: 0 })))
  }
  await catalog.close()
}
