/** What the generator is told to do, and what it tells back. */
export interface Order {
  /** `http://127.0.0.1:9080` */
  readonly base: string
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Path and query; `{n}` becomes a number of eight digits. */
  readonly target: string
  /** Which numbers: any of the first so many, one after the other, or each client its own. */
  readonly numbers:
    | { readonly pick: 'random'; readonly count: number }
    | { readonly pick: 'next'; readonly from: number }
    | { readonly pick: 'client' }
  readonly body?: { readonly bytes: number } | { readonly json: string } | undefined
  /** With names in lower case; `{n}` becomes the number. */
  readonly headers?: Readonly<Record<string, string>>
  readonly credentials?:
    | { readonly accessKey: string; readonly secretKey: string }
    | { readonly user: string; readonly password: string }
  readonly clients: number
  /** It ends after so long, and not before each client has had one answer; or after so many requests. */
  readonly until: { readonly seconds: number } | { readonly requests: number }
}

export interface Load {
  readonly seconds: number
  /** Of each request, in the order they ended. */
  readonly milliseconds: Float64Array
  readonly bytes: number
  /** Answers that were not 2xx, by status; 0 stands for a broken connection. */
  readonly failures: Readonly<Record<string, number>>
  readonly firstFailure: string
  /** Where `next` goes on. */
  readonly next: number
}

export const BODY_BYTES_MAX = 64 * 2 ** 20

/** `{n}` in a target or a body. */
export function numbered(text: string, n: number): string {
  return text.replaceAll('{n}', String(n).padStart(8, '0'))
}
