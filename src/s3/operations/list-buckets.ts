import { invalidArgument } from '../errors.ts'
import { region } from '../call.ts'
import type { Reply, ServiceCall } from '../call.ts'
import { xmlDocument } from '../xml.ts'
import { owner } from './owner.ts'
import { readCount } from './parameters.ts'

/** Amazon's limit for one page. Without `max-buckets` all are listed. */
const bucketsPageMax = 10_000

export async function listBuckets({ query, svm, view }: ServiceCall): Promise<Reply> {
  const pageMax = query.has('max-buckets') ? readCount(query, 'max-buckets', bucketsPageMax) : Infinity
  if (pageMax < 1) throw invalidArgument('max-buckets must be at least 1.', 'max-buckets', '0')
  const prefix = query.get('prefix') ?? ''
  const wantedRegion = query.get('bucket-region') ?? region
  const after = Buffer.from(query.get('continuation-token') ?? '', 'base64url').toString('utf8')
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
