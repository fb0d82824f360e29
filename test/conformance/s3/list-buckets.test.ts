/** Operations: ListBuckets. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds, type Answer, type Request } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const list = (query: Request['query'] = '') => succeeds(s3.call('GET', { query }))
const namesOf = (answer: Answer) => answer.blocks('Bucket').flatMap((one) => one.elements('Name'))

/** Three buckets that begin alike, in order. */
async function three(): Promise<{ prefix: string; names: string[] }> {
  const prefix = `${s3.freshName()}-`
  const names = ['a', 'b', 'c'].map((end) => `${prefix}${end}`)
  for (const name of names.toReversed()) await succeeds(s3.unmade(name).call('PUT'))
  return { prefix, names }
}

test('buckets are listed by name, with the time they were made, and their owner', async () => {
  const fromMs = Date.now() - 60_000
  const { names } = await three()
  const answer = await list()
  const listed = namesOf(answer)
  assert.deepEqual(
    listed.filter((name) => names.includes(name)),
    names,
  )
  assert.deepEqual(listed, listed.toSorted())
  assert.ok((answer.block('Owner').element('ID') ?? '') !== '')
  for (const made of answer.elements('CreationDate')) assert.match(made, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const one = answer.blocks('Bucket').find((bucket) => bucket.element('Name') === names[0])
  assert.ok(Date.parse(one?.element('CreationDate') ?? '') > fromMs)
})

test('prefix filters, and is echoed [listbuckets-prefix]', async () => {
  const { prefix, names } = await three()
  const answer = await list({ prefix })
  assert.deepEqual(namesOf(answer), names)
  assert.equal(answer.element('Prefix'), prefix)
  assert.deepEqual(namesOf(await list({ prefix: `${prefix}b` })), [names[1]])
  assert.deepEqual(namesOf(await list({ prefix: `${prefix}nothing` })), [])
})

test('max-buckets pages, and continuation-token goes on behind the last [listbuckets-pages]', async () => {
  const { prefix, names } = await three()
  const first = await list({ prefix, 'max-buckets': 2 })
  assert.deepEqual(namesOf(first), names.slice(0, 2))
  const token = first.element('ContinuationToken')
  assert.ok(token !== undefined && token !== '', first.text)
  const second = await list({ prefix, 'max-buckets': 2, 'continuation-token': token })
  assert.deepEqual(namesOf(second), names.slice(2))
  assert.equal(second.element('ContinuationToken'), undefined)
})

test('a page that ends with the last bucket has no continuation token', async () => {
  const { prefix, names } = await three()
  const answer = await list({ prefix, 'max-buckets': 3 })
  assert.deepEqual(namesOf(answer), names)
  assert.equal(answer.element('ContinuationToken'), undefined)
})

test('paged listings tell the region of each bucket, and bucket-region filters by it', async () => {
  const { prefix, names } = await three()
  const answer = await list({ prefix, 'max-buckets': 10 })
  assert.deepEqual(
    answer.blocks('Bucket').map((one) => one.element('BucketRegion')),
    names.map(() => s3.settings.region),
  )
  assert.deepEqual(namesOf(await list({ prefix, 'bucket-region': s3.settings.region })), names)
})

test('max-buckets that is no number from 1 to 10,000 answers 400 InvalidArgument', async () => {
  for (const wrong of ['0', '10001', '-1', 'many']) {
    await fails(s3.call('GET', { query: { 'max-buckets': wrong } }), 400, 'InvalidArgument')
  }
})

test('a continuation token that nobody gave out answers 400 InvalidArgument', async () => {
  await fails(s3.call('GET', { query: { 'continuation-token': '!nonsense!' } }), 400, 'InvalidArgument')
})
