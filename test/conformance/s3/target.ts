/**
 * The S3 endpoint that the suite asks. Without settings a data plane is started in the process of each file, over a
 * temporary folder. With these any endpoint is asked, Amazon's included:
 *
 *     HOLDFAST_S3_ENDPOINT             http(s)://host:port
 *     HOLDFAST_S3_ACCESS_KEY           of a user who may do everything
 *     HOLDFAST_S3_SECRET_KEY
 *     HOLDFAST_S3_OTHER_ACCESS_KEY     of a user who may do nothing until a policy says so
 *     HOLDFAST_S3_OTHER_SECRET_KEY
 *     HOLDFAST_S3_OTHER_PRINCIPAL      that user, as bucket policies name it
 *     HOLDFAST_S3_REGION               us-east-1 unless said
 *     HOLDFAST_S3_STYLE                path, or virtual: which way buckets are addressed
 *     HOLDFAST_S3_DOMAIN               that bucket names are put before, with virtual; the host of the endpoint unless said
 *     HOLDFAST_S3_INSECURE             1: any certificate will do
 *
 * Every test makes its own buckets, with names that nobody else has, and what is in them goes after the file's tests.
 */
import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import { startTestPlane, keys } from '../../../src/s3/test-plane.ts'
import { Bucket, type BucketOptions } from './bucket.ts'
import { Connection, succeeds, type Answer, type Request } from './http.ts'

export interface Identity {
  readonly accessKey: string
  readonly secret: string
}

export interface Settings {
  readonly url: string
  readonly region: string
  readonly owner: Identity
  readonly other: (Identity & { readonly principal: string }) | undefined
  readonly isVirtualHosted: boolean
  /** What bucket names are put before in hosts; unknown where the server may not have one. */
  readonly domain: string | undefined
  readonly isInsecure: boolean
}

/** To be called once in a file, at its top. */
export async function openEndpoint(): Promise<Endpoint> {
  const given = settingsOf(process.env)
  if (given !== undefined) return new Endpoint(given)
  const plane = await startTestPlane()
  const other = { accessKey: 'AKIDOTHEREXAMPLE', secret: 'a secret of the other user', principal: 'other' }
  await plane.addUser(other.principal, { accessKeyId: other.accessKey, secretAccessKey: other.secret })
  return new Endpoint(
    {
      url: plane.url,
      region: 'us-east-1',
      owner: { accessKey: keys.accessKeyId, secret: keys.secretAccessKey },
      other,
      isVirtualHosted: false,
      domain: 's3.example.com',
      isInsecure: false,
    },
    () => plane.close(),
  )
}

/** The endpoint, as a client who knows HTTP and no SDK sees it. */
export class Endpoint {
  readonly settings: Settings
  readonly #connection: Connection
  readonly #made: Bucket[] = []

  constructor(settings: Settings, close: () => Promise<void> = () => Promise.resolve()) {
    this.settings = settings
    this.#connection = new Connection(settings)
    after(async () => {
      try {
        for (const bucket of this.#made.toReversed()) await bucket.remove()
      } finally {
        this.#connection.close()
        await close()
      }
    })
  }

  /** Why tests that need a second user cannot run, for their `skip`. */
  get lacksOther(): string | false {
    return this.settings.other === undefined && 'the settings name no second user'
  }

  get other(): Identity & { readonly principal: string } {
    const { other } = this.settings
    if (other === undefined) throw new Error('The settings name no second user.')
    return other
  }

  /** A request at the service, or at any path that `request` names. */
  call(method: string, request: Request = {}): Promise<Answer> {
    return this.#connection.send(method, request)
  }

  /** A name that no other test has. */
  freshName(): string {
    return `holdfast-${Date.now().toString(36)}-${randomBytes(6).toString('hex')}`
  }

  /** A bucket that is not made, or not yet: it is removed if it is there after the tests. */
  unmade(name = this.freshName()): Bucket {
    const bucket = new Bucket(name, this.#connection)
    this.#made.push(bucket)
    return bucket
  }

  /** An empty bucket. */
  async bucket(options: BucketOptions = {}): Promise<Bucket> {
    const bucket = this.unmade()
    const headers = options.hasObjectLock === true ? { 'x-amz-bucket-object-lock-enabled': 'true' } : {}
    await succeeds(bucket.call('PUT', { headers }))
    if (options.isVersioned === true) await bucket.setVersioning('Enabled')
    return bucket
  }
}

function settingsOf(environment: Readonly<Record<string, string | undefined>>): Settings | undefined {
  const url = environment['HOLDFAST_S3_ENDPOINT']
  if (url === undefined) return undefined
  const must = (name: string): string => {
    const value = environment[name]
    if (value === undefined) throw new Error(`HOLDFAST_S3_ENDPOINT is set, so ${name} must be set too.`)
    return value
  }
  const isVirtualHosted = environment['HOLDFAST_S3_STYLE'] === 'virtual'
  return {
    url,
    region: environment['HOLDFAST_S3_REGION'] ?? 'us-east-1',
    owner: { accessKey: must('HOLDFAST_S3_ACCESS_KEY'), secret: must('HOLDFAST_S3_SECRET_KEY') },
    other:
      environment['HOLDFAST_S3_OTHER_ACCESS_KEY'] === undefined
        ? undefined
        : {
            accessKey: must('HOLDFAST_S3_OTHER_ACCESS_KEY'),
            secret: must('HOLDFAST_S3_OTHER_SECRET_KEY'),
            principal: must('HOLDFAST_S3_OTHER_PRINCIPAL'),
          },
    isVirtualHosted,
    domain: environment['HOLDFAST_S3_DOMAIN'] ?? (isVirtualHosted ? new URL(url).host : undefined),
    isInsecure: environment['HOLDFAST_S3_INSECURE'] === '1',
  }
}
