import type { BodyPlan, BodyRequest } from './body.ts'
import { s3Error } from './errors.ts'
import type { RequestHeaders } from './headers.ts'
import type { IncomingBody } from './objects/store-body.ts'
import type { ObjectStore, OpenBucket } from './objects/store.ts'
import type { Operation } from './router.ts'
import type { Server, User } from './tenancy-records.ts'
import type { TenancyView } from './tenancy.ts'

/** The one region there is. Clients may sign for any. */
export const region = 'us-east-1'

/** What an operation is given: an authenticated, authorised request, its body not yet asked for. */
export interface ServiceCall {
  readonly operation: Operation
  readonly headers: RequestHeaders
  readonly query: ReadonlyMap<string, string>
  /** Absent: without credentials. */
  readonly caller: User | undefined
  readonly svm: string
  readonly server: Server
  readonly view: TenancyView
  readonly store: ObjectStore
  readonly control: BucketControl
  /** The name in the path or the host, whether there is such a bucket or not. */
  readonly bucketName: string
  /** What the headers say about the body. Refuses what they tell is wrong. */
  planBody(options: BodyOptions): BodyPlan
  /** The body, once. Asking for its first byte is what answers `Expect: 100-continue`. */
  body(plan: BodyPlan): IncomingBody
  /**
   * The whole of a small body. Checksum headers are about the body, but with CompleteMultipartUpload about the object that
   * is made.
   */
  document(options?: { readonly isIntegrityNeeded?: boolean; readonly isChecksumOfObject?: boolean }): Promise<Buffer>
  /** Looks up another bucket, such as that of a copy's source. */
  findBucket(name: string): Promise<OpenBucket>
  allows(action: string, bucket: string, key?: Uint8Array): Promise<boolean>
}

export interface BucketCall extends ServiceCall {
  readonly bucket: OpenBucket
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
 * the server can take it. `too-many`: the cluster has as many buckets as it may.
 */
export type BucketOutcome = 'done' | 'exists' | 'missing' | 'not-empty' | 'no-room' | 'too-many'

export interface Reply {
  /** Without it, that of the operation. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Text is an XML document. */
  readonly body?: string | BytesToSend
}

export interface BytesToSend {
  readonly sizeBytes: number
  /** Absent where only the headers are asked for. */
  readonly bytes: AsyncIterable<Buffer> | undefined
}

/** Throws `AccessDenied` unless allowed. */
export async function demand(call: ServiceCall, action: string, bucket: string, key?: Uint8Array): Promise<void> {
  if (!(await call.allows(action, bucket, key))) throw s3Error('AccessDenied')
}

/** What a change of a bucket came to, where there is only one good end. */
export function refuseOutcome(outcome: BucketOutcome, name: string): void {
  if (outcome === 'done') return
  if (outcome === 'missing') throw s3Error('NoSuchBucket', { fields: { BucketName: name } })
  throw s3Error('OperationAborted')
}
