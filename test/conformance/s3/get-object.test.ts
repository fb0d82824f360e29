/** Operations: GetObject. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const future = 'Thu, 01 Dec 2089 16:00:00 GMT'
const past = 'Thu, 01 Dec 2011 16:00:00 GMT'

test('an object comes with its size, ETag, time and Accept-Ranges', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('key', '0123456789')
  const { headers, text } = await succeeds(bucket.get('key'))
  assert.equal(text, '0123456789')
  assert.equal(headers['content-length'], '10')
  assert.equal(headers.etag, etag)
  assert.equal(headers['accept-ranges'], 'bytes')
  assert.match(String(headers['last-modified']), /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/)
})

test('an absent key answers 404 NoSuchKey', async () => {
  const bucket = await s3.bucket()
  const answer = await fails(bucket.get('absent'), 404, 'NoSuchKey')
  assert.equal(answer.element('Key'), 'absent')
})

test('ranges from, to and of the end answer 206 with Content-Range, past the end 416 InvalidRange [range]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', '0123456789')
  const wanted = [
    ['bytes=2-4', '234', 'bytes 2-4/10'],
    ['bytes=5-', '56789', 'bytes 5-9/10'],
    ['bytes=-3', '789', 'bytes 7-9/10'],
    ['bytes=8-100', '89', 'bytes 8-9/10'],
    ['bytes=-100', '0123456789', 'bytes 0-9/10'],
    ['bytes=0-0', '0', 'bytes 0-0/10'],
  ] as const
  for (const [range, text, told] of wanted) {
    const answer = await succeeds(bucket.get('key', { range }), 206)
    assert.equal(answer.text, text, range)
    assert.equal(answer.header('content-range'), told)
    assert.equal(answer.header('content-length'), String(text.length))
  }
  for (const range of ['bytes=10-', 'bytes=10-20', 'bytes=-0']) {
    const answer = await fails(bucket.get('key', { range }), 416, 'InvalidRange')
    assert.equal(answer.element('ActualObjectSize'), '10')
  }
})

test('of an object of no bytes every range is past the end', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('empty')
  await fails(bucket.get('empty', { range: 'bytes=0-0' }), 416, 'InvalidRange')
  await fails(bucket.get('empty', { range: 'bytes=-1' }), 416, 'InvalidRange')
})

test('several ranges, and what is no range of bytes, answer 200 with the whole', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', '0123456789')
  for (const range of ['bytes=0-1,3-4', 'bytes=4-2', 'lines=1-2', 'bytes=a-b']) {
    assert.equal((await succeeds(bucket.get('key', { range }))).text, '0123456789', range)
  }
})

test('If-None-Match with the ETag answers 304 with the ETag and no body [get-if-none-match-304]', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('key', 'x')
  for (const given of [etag, etag.replaceAll('"', ''), '*', `"other", ${etag}`]) {
    const { headers, body } = await succeeds(bucket.get('key', { 'if-none-match': given }), 304)
    assert.equal(headers.etag, etag, given)
    assert.equal(body.length, 0)
  }
  await succeeds(bucket.get('key', { 'if-none-match': '"other"' }))
})

test('If-Match with another ETag answers 412 PreconditionFailed [get-if-match-412]', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('key', 'x')
  await fails(bucket.get('key', { 'if-match': '"other"' }), 412, 'PreconditionFailed')
  await succeeds(bucket.get('key', { 'if-match': etag }))
  await succeeds(bucket.get('key', { 'if-match': '*' }))
})

test('If-Modified-Since answers 304 when nothing changed, If-Unmodified-Since 412 when something did', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  const modified = (await bucket.head('key')).must('last-modified')
  await succeeds(bucket.get('key', { 'if-modified-since': modified }), 304)
  await succeeds(bucket.get('key', { 'if-modified-since': past }))
  await fails(bucket.get('key', { 'if-unmodified-since': past }), 412, 'PreconditionFailed')
  await succeeds(bucket.get('key', { 'if-unmodified-since': modified }))
})

test('ETags go before times: If-Match that holds ignores If-Unmodified-Since, If-None-Match that fails answers 304', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('key', 'x')
  await succeeds(bucket.get('key', { 'if-match': etag, 'if-unmodified-since': past }))
  await succeeds(bucket.get('key', { 'if-none-match': etag, 'if-modified-since': past }), 304)
})

test('an absent key answers 404 whatever the conditions are', async () => {
  const bucket = await s3.bucket()
  for (const headers of [{ 'if-match': '"x"' }, { 'if-none-match': '*' }, { 'if-modified-since': future }]) {
    await fails(bucket.get('absent', headers), 404, 'NoSuchKey')
  }
})

test('conditions are looked at before the range', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('key', '0123456789')
  await succeeds(bucket.get('key', { range: 'bytes=0-1', 'if-none-match': etag }), 304)
  await fails(bucket.get('key', { range: 'bytes=50-', 'if-match': '"other"' }), 412, 'PreconditionFailed')
})

test('If-Range with the ETag answers the range, with another the whole', async () => {
  const bucket = await s3.bucket()
  const etag = await bucket.hold('key', '0123456789')
  assert.equal((await succeeds(bucket.get('key', { range: 'bytes=0-1', 'if-range': etag }), 206)).text, '01')
  assert.equal((await succeeds(bucket.get('key', { range: 'bytes=0-1', 'if-range': '"other"' }))).text, '0123456789')
})

test('response- parameters replace the headers of the answer', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x', { 'content-type': 'text/plain' })
  const replaced = {
    'content-type': 'text/csv',
    'content-language': 'de',
    expires: future,
    'cache-control': 'no-cache',
    'content-disposition': 'attachment; filename="ä b.csv"',
    'content-encoding': 'identity',
  }
  const query = Object.fromEntries(Object.entries(replaced).map(([name, value]) => [`response-${name}`, value]))
  const answer = await succeeds(bucket.get('key', {}, query))
  const seen = (name: string) => Buffer.from(answer.header(name) ?? '', 'latin1').toString('utf8')
  for (const [name, value] of Object.entries(replaced)) {
    assert.ok([answer.header(name), seen(name)].includes(value), `${name}: ${answer.header(name)}`)
  }
})

test('response- parameters without credentials answer 400 InvalidRequest', async () => {
  const bucket = await s3.bucket()
  const request = { key: 'key', query: { 'response-content-type': 'text/csv' }, signing: 'anonymous' } as const
  await bucket.hold('key', 'x')
  await bucket.call('DELETE', { query: 'publicAccessBlock' })
  const statement = {
    Effect: 'Allow',
    Principal: '*',
    Action: 's3:GetObject',
    Resource: `arn:aws:s3:::${bucket.name}/*`,
  }
  const policy = JSON.stringify({ Version: '2012-10-17', Statement: statement })
  await succeeds(bucket.call('PUT', { query: 'policy', body: policy }), [200, 204])
  await fails(bucket.call('GET', request), 400, 'InvalidRequest')
})

test('partNumber answers 206 with that part and how many there are [get-part-number]', async () => {
  const bucket = await s3.bucket()
  const first = Buffer.alloc(5 * 2 ** 20, 'a')
  const id = await bucket.begin('key')
  const parts = [await bucket.part('key', id, 1, first), await bucket.part('key', id, 2, 'the second part')]
  await succeeds(bucket.complete('key', id, parts))
  const answer = await succeeds(bucket.get('key', {}, { partNumber: 2 }), 206)
  assert.equal(answer.text, 'the second part')
  assert.equal(answer.header('x-amz-mp-parts-count'), '2')
  assert.equal(answer.header('content-range'), `bytes ${first.length}-${first.length + 14}/${first.length + 15}`)
  const head = await succeeds(bucket.head('key', {}, { partNumber: 1 }), 206)
  assert.equal(head.header('content-length'), String(first.length))
  await fails(bucket.get('key', {}, { partNumber: 3 }), 416, 'InvalidPartNumber')
})

test('partNumber 1 of an object that has no parts is the whole of it', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'whole')
  assert.equal((await succeeds(bucket.get('key', {}, { partNumber: 1 }), [200, 206])).text, 'whole')
  await fails(bucket.get('key', {}, { partNumber: 2 }), 416, 'InvalidPartNumber')
})

test('partNumber together with a range answers 400 InvalidRequest', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'whole')
  await fails(bucket.get('key', { range: 'bytes=0-1' }, { partNumber: 1 }), 400, 'InvalidRequest')
})

test('partNumber that is no number from 1 to 10,000 answers 400 InvalidArgument', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'whole')
  for (const wrong of ['0', '10001', 'x']) {
    await fails(bucket.get('key', {}, { partNumber: wrong }), 400, 'InvalidArgument')
  }
})

test('a deleted key answers 404 with x-amz-delete-marker, the version of the marker 405', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const version = (await bucket.put('key', 'x')).must('x-amz-version-id')
  const marker = (await succeeds(bucket.delete('key'), 204)).must('x-amz-version-id')
  const gone = await fails(bucket.get('key'), 404, 'NoSuchKey')
  assert.equal(gone.header('x-amz-delete-marker'), 'true')
  assert.equal(gone.header('x-amz-version-id'), marker)
  const direct = await fails(bucket.get('key', {}, { versionId: marker }), 405, 'MethodNotAllowed')
  assert.equal(direct.header('x-amz-delete-marker'), 'true')
  assert.ok(direct.header('last-modified') !== undefined)
  assert.equal((await bucket.get('key', {}, { versionId: version })).text, 'x')
})

test('a version that is not there answers 404 NoSuchVersion, one that cannot be 400 InvalidArgument', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const elsewhere = (await bucket.put('other', 'x')).must('x-amz-version-id')
  await bucket.hold('key', 'x')
  await fails(bucket.get('key', {}, { versionId: elsewhere }), 404, 'NoSuchVersion')
  await fails(bucket.get('key', {}, { versionId: '' }), 400, 'InvalidArgument')
  await fails(bucket.get('key', {}, { versionId: 'no such id' }), 400, 'InvalidArgument')
})

test('without credentials it answers 403 AccessDenied [anonymous-403]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  await fails(bucket.call('GET', { key: 'key', signing: 'anonymous' }), 403, 'AccessDenied')
  await fails(bucket.call('GET', { key: 'absent', signing: 'anonymous' }), 403, 'AccessDenied')
})
