/** What a browser sends when a form uploads a file: multipart/form-data, with a policy that someone signed for it. */
import { createHmac, randomBytes } from 'node:crypto'
import type { Identity } from './target.ts'

export interface Form {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

export type Condition =
  | Readonly<Record<string, string>>
  | readonly [string, string, string]
  | readonly [string, number, number]

/** Fields in their order, with the file last, as Amazon wants it. */
export function formOf(fields: Readonly<Record<string, string>>, file: string | Buffer | undefined): Form {
  const boundary = `----holdfast${randomBytes(8).toString('hex')}`
  const pieces = Object.entries(fields).map(([name, value]) =>
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`),
  )
  if (file !== undefined) {
    const head = 'Content-Disposition: form-data; name="file"; filename="up.txt"\r\nContent-Type: text/plain'
    pieces.push(Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`), Buffer.from(file), Buffer.from('\r\n'))
  }
  pieces.push(Buffer.from(`--${boundary}--\r\n`))
  return { body: Buffer.concat(pieces), headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } }
}

/** The fields that make a form one of `identity`, for what the conditions allow. */
export function signedFields(
  conditions: readonly Condition[],
  identity: Identity & { readonly region: string },
  expires = new Date(Date.now() + 600_000),
): Record<string, string> {
  const timestamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const date = timestamp.slice(0, 8)
  const credential = `${identity.accessKey}/${date}/${identity.region}/s3/aws4_request`
  const own = { 'x-amz-algorithm': 'AWS4-HMAC-SHA256', 'x-amz-credential': credential, 'x-amz-date': timestamp }
  const every = [...conditions, ...Object.entries(own).map(([name, value]) => ({ [name]: value }))]
  const document = JSON.stringify({ expiration: expires.toISOString(), conditions: every })
  const policy = Buffer.from(document).toString('base64')
  const key = [date, identity.region, 's3', 'aws4_request'].reduce<string | Buffer>(
    (secret, part) => createHmac('sha256', secret).update(part).digest(),
    `AWS4${identity.secret}`,
  )
  return { ...own, policy, 'x-amz-signature': createHmac('sha256', key).update(policy).digest('hex') }
}
