/** What the sender of the speed table is told to send, and what it tells back. */
export interface SpeedOrder {
  /** `https://127.0.0.1:9443` */
  readonly base: string
  readonly accessKey: string
  readonly secretKey: string
  readonly payload: PayloadSigning
  readonly clients: number
  readonly requests: readonly SpeedRequest[]
}

/** Whether the signature covers the digest of the body. */
export type PayloadSigning = 'signed' | 'unsigned'

/** A request of which the sender makes several, each with a number of its own. */
export interface SpeedRequest {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  /** Path and query, escaped as they are to be signed. `{n}` becomes a number of eight digits. */
  readonly target: string
  /** The first number, and how many follow it. With `times`, each number comes so often. */
  readonly from: number
  readonly count: number
  readonly times?: number
  /** Bytes of the body. No two bodies are the same. */
  readonly bytes?: number
}

export interface SpeedLoad {
  readonly requests: number
  readonly failed: number
  readonly firstFailure: string
  /** Of the bodies of requests and answers. */
  readonly bytes: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
}
