/** Signature version 2: Amazon S3 User Guide, "Signing and authenticating REST requests (AWS signature version 2)". */
import { createHmac } from 'node:crypto'
import type { Identity } from './target.ts'

export function signedVersion2(
  method: string,
  bucket: string,
  key: string,
  { accessKey, secret }: Identity,
): { readonly headers: Readonly<Record<string, string>> } {
  const date = new Date().toUTCString()
  // Verb, Content-MD5, Content-Type, Date, x-amz- headers, resource.
  const text = [method, '', '', date, `/${bucket}/${key}`].join('\n')
  const signature = createHmac('sha1', secret).update(text).digest('base64')
  return { headers: { date, authorization: `AWS ${accessKey}:${signature}` } }
}
