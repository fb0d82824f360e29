/** What the sender of the speed table is told to send, and what it tells back. */
export interface SpeedOrder {
  /** `https://127.0.0.1:9443` */
  readonly base: string
  readonly accessKey: string
  readonly secretKey: string
  readonly region: string
  readonly payload: PayloadSigning
  readonly clients: number
  readonly requests: readonly SpeedRequest[]
  /** All requests are sent so often, each time in the same order. */
  readonly cycles: number
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
  /** Latencies are told for each kind. */
  readonly kind?: string
}

export interface SpeedLoad {
  readonly requests: number
  readonly failed: number
  readonly firstFailure: string
  /** Of the bodies of requests and answers. */
  readonly bytes: number
  readonly seconds: number
  /** Processor seconds of the sender itself. */
  readonly senderSeconds: number
  /** How long each request took, by kind. */
  readonly milliseconds: Readonly<Record<string, Float64Array>>
}
