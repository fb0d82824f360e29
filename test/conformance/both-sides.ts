/** Buckets and users for tests that look at them from both sides: S3 and the management interface. */
import assert from 'node:assert/strict'
import { Agent } from 'node:https'
import { setTimeout as wait } from 'node:timers/promises'
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import { asText, recordsOf, type Body } from '../support/body.ts'
import { fresh } from '../support/product.ts'
import { uuidOf, type Target } from './target.ts'

export interface MadeBucket {
  readonly name: string
  readonly uuid: string
  /** In the management interface. */
  readonly path: string
}

export class BothSides {
  readonly target: Target
  /** The UUID of the SVM whose object store it is. */
  readonly svm: string
  /** Its object store in the management interface. */
  readonly service: string
  readonly s3: S3Client

  constructor(target: Target, svm: string) {
    this.target = target
    this.svm = svm
    this.service = `/api/protocols/s3/services/${svm}`
    this.s3 = this.clientWith(target.accessKey, target.secretKey)
  }

  static async of(target: Target): Promise<BothSides> {
    return new BothSides(target, await uuidOf(target.api, '/api/svm/svms', 'svm1'))
  }

  clientWith(accessKeyId: string, secretAccessKey: string): S3Client {
    return new S3Client({
      endpoint: this.target.s3 ?? '',
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: { accessKeyId, secretAccessKey },
      maxAttempts: 1,
      requestHandler: new NodeHttpHandler({ httpsAgent: new Agent({ rejectUnauthorized: false }) }),
    })
  }

  /** A bucket made by S3. It is gone after the test. */
  async withBucket(
    run: (bucket: MadeBucket) => Promise<void>,
    options: { readonly ObjectLockEnabledForBucket?: boolean } = {},
  ): Promise<void> {
    const { s3, target, svm } = this
    const name = fresh('settings').replaceAll('_', '-')
    await s3.send(new CreateBucketCommand({ Bucket: name, ...options }))
    const { body } = await target.api.get(`/api/protocols/s3/buckets?name=${name}&fields=uuid`)
    const uuid = asText(recordsOf(body)[0]?.['uuid'])
    try {
      await run({ name, uuid, path: `/api/protocols/s3/buckets/${svm}/${uuid}` })
    } finally {
      const { Contents = [] } = await s3.send(new ListObjectsV2Command({ Bucket: name }))
      for (const { Key } of Contents) await s3.send(new DeleteObjectCommand({ Bucket: name, Key }))
      await s3.send(new DeleteBucketCommand({ Bucket: name }))
    }
  }

  /** A user of no group, who may do what policies of buckets say. */
  async withUser(run: (user: { readonly name: string; readonly client: S3Client }) => Promise<void>): Promise<void> {
    const { api } = this.target
    const name = fresh('user')
    const [made] = recordsOf((await api.call('POST', `${this.service}/users`, { name })).body)
    const client = this.clientWith(asText(made?.['access_key']), asText(made?.['secret_key']))
    try {
      await run({ name, client })
    } finally {
      client.destroy()
      await api.call('DELETE', `${this.service}/users/${name}`)
    }
  }

  async patch(path: string, body: object): Promise<void> {
    const reply = await this.target.api.call('PATCH', path, body)
    assert.equal(reply.status, 200, reply.text)
  }

  async shown(path: string, fields: string): Promise<Body> {
    return (await this.target.api.get(`${path}?fields=${fields}`)).body
  }
}

/** `done`, or the name of the error. */
export function outcomeOf(sent: Promise<unknown>): Promise<string> {
  return sent.then(
    () => 'done',
    (failure: unknown) => (failure as Error).name,
  )
}

/** A changed record may take a moment to reach the workers. */
export async function until(wanted: string, ask: () => Promise<unknown>): Promise<void> {
  for (let tries = 0; tries < 1000 && (await outcomeOf(ask())) !== wanted; tries++) await wait(50)
  assert.equal(await outcomeOf(ask()), wanted)
}
