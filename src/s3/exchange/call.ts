import type { Verifier } from '../auth/sigv4.ts'
import type { BodyPlan, BodyRequest } from '../body/body.ts'
import { s3Error } from '../errors.ts'
import type { RequestHeaders } from '../request/headers.ts'
import type { IncomingBody } from '../objects/store-body.ts'
import type { ObjectStore, OpenBucket } from '../objects/store.ts'
import type { Operation } from '../request/router.ts'
import type { BucketChange } from '../../records/bucket-notes.ts'
import type { RequestFacts } from '../policy/context.ts'
import type { Bucket, Server, User } from '../tenancy/records.ts'
import type { TenancyView } from '../tenancy/tenancy.ts'
import type { Turn } from './turns.ts'

/** The one region there is. Clients may sign for any. */
export const region = 'us-east-1'

/** What an operation is given: an authenticated, authorised request, its body not yet asked for. */
export interface ServiceCall {
  readonly operation: Operation
  readonly headers: RequestHeaders
  readonly query: ReadonlyMap<string, string>
  /** Absent: without credentials. */
  readonly caller: User | undefined
  /** The region that the request was signed for. Without a signature, the one there is. */
  readonly signedRegion: string
  readonly svm: string
  readonly server: Server
  readonly view: TenancyView
  /** The records as they are by now: `view` is from when the request came. */
  readonly look: () => Promise<TenancyView>
  readonly store: ObjectStore
  readonly control: BucketControl
  /** The name in the path or the host, whether there is such a bucket or not. */
  readonly bucketName: string
  /** Address of the bucket as the client has it: `https://s3.example.com/bucket`, or `https://bucket.s3.example.com`. */
  readonly bucketUrl: string
  /** What the headers say about the body. Refuses what they tell is wrong. */
  planBody(options: BodyOptions): BodyPlan
  /** The body, once. Asking for its first byte is what answers `Expect: 100-continue`. */
  body(plan: BodyPlan): IncomingBody
  /**
   * The whole of a small body. Checksum headers are about the body, but with CompleteMultipartUpload about the object that
   * is made. Where integrity is needed, so is a body: none at all is `MissingRequestBodyError`.
   */
  document(options?: { readonly isIntegrityNeeded?: boolean; readonly isChecksumOfObject?: boolean }): Promise<Buffer>
  /** Looks up another bucket, such as that of a copy's source. */
  findBucket(name: string): Promise<OpenBucket>
  /** Whether the policies let the caller do something with a bucket or object. */
  allows(action: string, bucket: string, key?: Uint8Array, asking?: Asking): Promise<boolean>
  /** For handlers that `ask for themselves`: the bytes of the body as they came, whatever the headers say of them. */
  rawBody(): AsyncGenerator<Buffer>
  readonly turn: Turn
  /** Who sent a form is known by what is in it. */
  readonly formVerifier: Verifier<User>
  readonly nowMs: number
}

/** What differs from the request itself where something else is asked about, or where the body tells more. */
export interface Asking extends Partial<Pick<RequestFacts, 'requestTags' | 'requestLock' | 'headers' | 'signed'>> {
  /** In place of the caller, also for nobody. */
  readonly as?: { readonly user: User | undefined }
  /** Version of the object that is asked about, `null` for the current one whatever the request names. */
  readonly version?: string | null | undefined
}

export interface BucketCall extends ServiceCall {
  readonly bucket: OpenBucket
  readonly record: Bucket
}

export interface ObjectCall extends BucketCall {
  readonly key: Uint8Array
}

export type BodyOptions = Pick<BodyRequest, 'maxBytes' | 'fallbackAlgorithm'>

/** How buckets are made and removed: by the management plane, so that there is one place that does. */
export interface BucketControl {
  readonly createBucket: (order: {
    readonly svm: string
    readonly server: string
    readonly name: string
    readonly caller: BucketCaller
    /** Fields of its record beside those that every new bucket has. */
    readonly fields?: BucketChange
  }) => Promise<BucketOutcome>
  /** Changes fields of a bucket's record; `null` removes one. `operation` is for the audit trail. */
  readonly configureBucket: (order: {
    readonly bucket: string
    readonly fields: BucketChange
    readonly operation: string
    readonly caller: BucketCaller
  }) => Promise<BucketOutcome>
  readonly versionBucket: (order: {
    readonly bucket: string
    readonly state: 'enabled' | 'suspended'
    readonly caller: BucketCaller
  }) => Promise<BucketOutcome>
  readonly deleteBucket: (order: {
    readonly svm: string
    readonly bucket: string
    readonly caller: BucketCaller
  }) => Promise<BucketOutcome>
}

/** For the audit trail. Empty names: without credentials. */
export interface BucketCaller {
  readonly user: string
  readonly svm: string
}

/**
 * `exists`: the SVM has a bucket of that name. `missing`: it has not, or its server is gone. `no-room`: no data volume of
 * the server can take it. `too-many`: the cluster has as many buckets as it may. `refused`: the bucket is in another state
 * now than it was judged by.
 */
export type BucketOutcome = 'done' | 'exists' | 'missing' | 'not-empty' | 'no-room' | 'too-many' | 'refused'

export interface Reply {
  /** Without it, that of the operation. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Text and a buffer are an XML document. */
  readonly body?: string | Buffer | BytesToSend
}

export interface BytesToSend {
  readonly sizeBytes: number
  /** Absent where only the headers are asked for. */
  readonly bytes: AsyncIterableIterator<Buffer, undefined> | undefined
  /** Called with each piece that was sent, which is not looked at any more. */
  readonly spent?: (piece: Buffer) => void
}

/** Throws `AccessDenied` unless allowed. */
export async function demand(
  call: ServiceCall,
  action: string,
  bucket: string,
  key?: Uint8Array,
  asking?: Asking,
): Promise<void> {
  if (!(await call.allows(action, bucket, key, asking))) throw s3Error('AccessDenied')
}

/** Writes settings of the bucket into its record. They hold from the next request on. */
export async function configure(call: BucketCall, fields: BucketChange): Promise<void> {
  const { control, bucket, caller, operation } = call
  const outcome = await control.configureBucket({
    bucket: bucket.uuid,
    fields,
    operation: operation.name,
    caller: { user: caller?.name ?? '', svm: caller?.svm ?? '' },
  })
  refuseOutcome(outcome, bucket.name)
}

/** What a change of a bucket came to, where there is only one good end. */
export function refuseOutcome(outcome: BucketOutcome, name: string): void {
  if (outcome === 'done') return
  if (outcome === 'missing') throw s3Error('NoSuchBucket', { fields: { BucketName: name } })
  throw s3Error('OperationAborted')
}
