import { invalidArgument } from '../errors.ts'
import { region } from '../exchange/call.ts'
import type { Reply, ServiceCall } from '../exchange/call.ts'
import { bucketNameProblem } from '../request/keys.ts'
import { xmlDocument } from '../xml/xml.ts'
import { owner } from './owner.ts'

/** Amazon's limit for one page. Without `max-buckets` all are listed. */
const bucketsPageMax = 10_000

export async function listBuckets({ query, svm, view }: ServiceCall): Promise<Reply> {
  const pageMax = readPageMax(query.get('max-buckets'))
  const prefix = query.get('prefix') ?? ''
  const wantedRegion = query.get('bucket-region') ?? region
  const after = readToken(query.get('continuation-token'))
  const all = wantedRegion === region ? await view.buckets(svm) : []
  const found = all.filter(({ name }) => name.startsWith(prefix) && name > after)
  const page = found.slice(0, pageMax)
  const last = page.at(-1)
  return {
    body: xmlDocument('ListAllMyBucketsResult', {
      Owner: owner(svm),
      Buckets: {
        Bucket: page.map(({ name, createdMs }) => ({
          Name: name,
          CreationDate: new Date(createdMs).toISOString(),
          BucketRegion: region,
        })),
      },
      ContinuationToken:
        last !== undefined && page.length < found.length ? Buffer.from(last.name).toString('base64url') : undefined,
      Prefix: query.has('prefix') ? prefix : undefined,
    }),
  }
}

function readPageMax(text: string | undefined): number {
  if (text === undefined) return Infinity
  const count = Number(text)
  if (/^\d{1,5}$/.test(text) && count >= 1 && count <= bucketsPageMax) return count
  throw invalidArgument(`max-buckets is a number from 1 to ${bucketsPageMax}.`, 'max-buckets', text)
}

/** The name of the last bucket shown. */
function readToken(token: string | undefined): string {
  if (token === undefined || token === '') return ''
  const bytes = Buffer.from(token, 'base64url')
  const name = bytes.toString('utf8')
  if (bytes.toString('base64url') === token && bucketNameProblem(name) === undefined) return name
  throw invalidArgument('The continuation token provided is incorrect', 'continuation-token', token)
}
