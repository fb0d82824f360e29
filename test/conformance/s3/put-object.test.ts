/** Operations: PutObject. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually, fails, succeeds } from './http.ts'
import { md5, md5Hex } from './sums.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

test('an object is stored as it was sent, and its ETag is the MD5 of it', async () => {
  const bucket = await s3.bucket()
  const bytes = Buffer.from(Array.from({ length: 256 * 300 }, (_, at) => at % 256))
  const { headers, body } = await succeeds(bucket.put('key', bytes))
  assert.equal(headers.etag, `"${md5Hex(bytes)}"`)
  assert.equal(body.length, 0)
  assert.ok((await bucket.get('key')).body.equals(bytes))
})

test('an object of no bytes is an object', async () => {
  const bucket = await s3.bucket()
  assert.equal(await bucket.hold('empty'), `"${md5Hex('')}"`)
  const { headers } = await succeeds(bucket.get('empty'))
  assert.equal(headers['content-length'], '0')
})

test('a second write replaces the first', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'the first, which is longer')
  await bucket.hold('key', 'the second')
  assert.equal((await bucket.get('key')).text, 'the second')
  assert.deepEqual(await bucket.keys(), ['key'])
})

test('the headers that describe the content come back with it', async () => {
  const bucket = await s3.bucket()
  const described = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="a.csv"',
    'content-encoding': 'gzip',
    'content-language': 'de, fr',
    'cache-control': 'max-age=60',
    expires: 'Thu, 01 Dec 2033 16:00:00 GMT',
  }
  await bucket.hold('key', 'x', described)
  for (const answer of [await bucket.get('key'), await bucket.head('key')]) {
    for (const [name, value] of Object.entries(described)) assert.equal(answer.header(name), value, name)
  }
})

test('without a Content-Type it is binary/octet-stream', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  assert.equal((await bucket.head('key')).header('content-type'), 'binary/octet-stream')
})

test('user metadata comes back with names in lower case', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x', { 'x-amz-meta-Colour': 'blue', 'x-amz-meta-empty': '' })
  const { headers } = await bucket.get('key')
  assert.equal(headers['x-amz-meta-colour'], 'blue')
  assert.equal(headers['x-amz-meta-empty'], '')
})

test('user metadata of 2 KB is taken, more answers 400 MetadataTooLarge [metadata-too-large]', async () => {
  const bucket = await s3.bucket()
  // The size is that of names without the prefix, and of values.
  await bucket.hold('key', 'x', { 'x-amz-meta-a': 'v'.repeat(2047) })
  await fails(bucket.put('other', 'x', { 'x-amz-meta-a': 'v'.repeat(2048) }), 400, 'MetadataTooLarge')
  await fails(bucket.head('other'), 404)
})

test('x-amz-tagging tags the object, and reads tell how many tags there are [tagging]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x', { 'x-amz-tagging': 'team=a%20b&cost=' })
  for (const answer of [await bucket.get('key'), await bucket.head('key')]) {
    assert.equal(answer.header('x-amz-tagging-count'), '2')
  }
  const tags = (await succeeds(bucket.read('tagging', 'key'))).blocks('Tag')
  const pairs = tags.map((tag) => [tag.element('Key') ?? '', tag.element('Value') ?? ''] as const)
  assert.deepEqual(
    new Map(pairs),
    new Map([
      ['team', 'a b'],
      ['cost', ''],
    ]),
  )
  await bucket.hold('plain', 'x')
  assert.equal((await bucket.head('plain')).header('x-amz-tagging-count'), undefined)
})

test('more than 10 tags, or one twice, are refused and nothing is stored', async () => {
  const bucket = await s3.bucket()
  const eleven = Array.from({ length: 11 }, (_, at) => `k${at}=v`).join('&')
  await fails(bucket.put('key', 'x', { 'x-amz-tagging': eleven }), 400)
  await fails(bucket.put('key', 'x', { 'x-amz-tagging': 'a=1&a=2' }), 400)
  await fails(bucket.head('key'), 404)
})

test('a tag without a name answers 400 InvalidArgument', async () => {
  const bucket = await s3.bucket()
  for (const tagging of ['=', '=value', 'a=b&=']) {
    await fails(bucket.put('key', 'x', { 'x-amz-tagging': tagging }), 400, 'InvalidArgument')
  }
})

test('a right Content-MD5 is taken, a wrong one answers 400 BadDigest and stores nothing [md5-bad]', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'hello', { 'content-md5': md5('hello') })
  await fails(bucket.put('key', 'other', { 'content-md5': md5('hello') }), 400, 'BadDigest')
  assert.equal((await bucket.get('key')).text, 'hello')
})

test('a Content-MD5 that is not base64 of 16 bytes answers 400 InvalidDigest [md5-invalid]', async () => {
  const bucket = await s3.bucket()
  for (const wrong of ['nonsense', md5Hex('x'), Buffer.alloc(15).toString('base64'), '']) {
    await fails(bucket.put('key', 'x', { 'content-md5': wrong }), 400, 'InvalidDigest')
  }
  await fails(bucket.head('key'), 404)
})

test('the storage class STANDARD is taken, an unknown one answers 400 InvalidStorageClass', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x', { 'x-amz-storage-class': 'STANDARD' })
  // Amazon leaves the header out for STANDARD.
  assert.ok(['STANDARD', undefined].includes((await bucket.head('key')).header('x-amz-storage-class')))
  await fails(bucket.put('other', 'x', { 'x-amz-storage-class': 'NOWHERE' }), 400, 'InvalidStorageClass')
})

test('a size of more than 5 GiB answers 400 EntityTooLarge before the body comes', async () => {
  const bucket = await s3.bucket()
  const headers = { 'content-length': String(5 * 2 ** 30 + 1), expect: '100-continue' }
  await fails(bucket.call('PUT', { key: 'key', headers, signing: 'unsigned' }), 400, 'EntityTooLarge')
})

test('a body without a length answers 411 MissingContentLength', async () => {
  const bucket = await s3.bucket()
  const headers = { 'transfer-encoding': 'chunked' }
  await fails(bucket.put('key', 'x', headers, { signing: 'unsigned' }), 411, 'MissingContentLength')
})

test('a bucket that is not there answers 404 NoSuchBucket [no-such-bucket]', async () => {
  await fails(s3.unmade().put('key', 'x'), 404, 'NoSuchBucket')
  await fails(s3.unmade().get('key'), 404, 'NoSuchBucket')
  await fails(s3.unmade().call('GET'), 404, 'NoSuchBucket')
})

test('in a bucket with versions each write answers the id of its version', async () => {
  const bucket = await s3.bucket({ isVersioned: true })
  const first = (await succeeds(bucket.put('key', '1'))).must('x-amz-version-id')
  const second = (await succeeds(bucket.put('key', '2'))).must('x-amz-version-id')
  assert.notEqual(first, second)
  assert.equal((await bucket.get('key')).header('x-amz-version-id'), second)
  assert.equal((await bucket.get('key', {}, { versionId: first })).text, '1')
})

test('writes of all kinds take bucket-owner-full-control, other lists answer 400 AccessControlListNotSupported', async () => {
  const bucket = await s3.bucket()
  await bucket.hold('source', 'x')
  const owner = (await succeeds(bucket.read('acl'))).block('Owner').element('ID') ?? ''
  const writes = (headers: Record<string, string>) => [
    () => bucket.put('put', 'x', headers),
    () => bucket.copy('source', 'copy', headers),
    () => bucket.call('POST', { key: 'parts', query: 'uploads', headers }),
  ]
  for (const headers of [
    { 'x-amz-acl': 'public-read' },
    { 'x-amz-acl': 'bucket-owner-read' },
    { 'x-amz-grant-read': 'id="someone"' },
    { 'x-amz-grant-read': `id="${owner}"` },
    { 'x-amz-grant-full-control': 'id="someone"' },
  ] as Record<string, string>[]) {
    for (const write of writes(headers)) await fails(write(), 400, 'AccessControlListNotSupported')
  }
  assert.deepEqual(await bucket.keys(), ['source'])
  for (const headers of [
    { 'x-amz-acl': 'bucket-owner-full-control' },
    { 'x-amz-grant-full-control': `id="${owner}"` },
  ] as Record<string, string>[]) {
    for (const write of writes(headers)) await succeeds(write())
  }
})

test('private is taken too, unless BucketOwnerEnforced was chosen for the bucket', async () => {
  const headers = { 'x-amz-acl': 'private' }
  const bucket = await s3.bucket()
  await succeeds(bucket.put('key', 'x', headers))
  await succeeds(bucket.call('POST', { key: 'parts', query: 'uploads', headers }))
  const ownership = '<Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule>'
  await succeeds(bucket.configure('ownershipControls', `<OwnershipControls>${ownership}</OwnershipControls>`))
  await eventually(() => fails(bucket.put('key', 'y', headers), 400, 'AccessControlListNotSupported'))
  const made = s3.unmade()
  await succeeds(made.call('PUT', { headers: { 'x-amz-object-ownership': 'BucketOwnerEnforced' } }))
  await fails(made.put('key', 'x', headers), 400, 'AccessControlListNotSupported')
  await succeeds(made.put('key', 'x', { 'x-amz-acl': 'bucket-owner-full-control' }))
})

test('x-amz-website-redirect-location is kept and told by GET and HEAD, a copy has only its own', async () => {
  const bucket = await s3.bucket()
  const redirect = { 'x-amz-website-redirect-location': '/elsewhere' }
  const told = async (key: string) => [
    (await succeeds(bucket.get(key))).header('x-amz-website-redirect-location'),
    (await succeeds(bucket.head(key))).header('x-amz-website-redirect-location'),
  ]
  await bucket.hold('put', 'x', redirect)
  assert.deepEqual(await told('put'), ['/elsewhere', '/elsewhere'])
  const id = await bucket.begin('parts', { 'x-amz-website-redirect-location': 'https://example.com/a?b' })
  await succeeds(bucket.complete('parts', id, [await bucket.part('parts', id, 1, 'x')]))
  assert.deepEqual(await told('parts'), ['https://example.com/a?b', 'https://example.com/a?b'])
  await succeeds(bucket.copy('put', 'plain'))
  assert.deepEqual(await told('plain'), [undefined, undefined])
  for (const directive of ['COPY', 'REPLACE']) {
    await succeeds(bucket.copy('put', 'own', { ...redirect, 'x-amz-metadata-directive': directive }))
    assert.deepEqual(await told('own'), ['/elsewhere', '/elsewhere'])
  }
  // To give an object another one is a change.
  await succeeds(bucket.copy('put', 'put', { 'x-amz-website-redirect-location': '/further' }))
  assert.deepEqual(await told('put'), ['/further', '/further'])
  await bucket.hold('put', 'y')
  assert.deepEqual(await told('put'), [undefined, undefined])
})

test('a redirect to anything but a path or a page answers 400 InvalidRedirectLocation, and nothing is stored', async () => {
  const bucket = await s3.bucket()
  for (const location of ['', 'example.com', 'ftp://example.com', `/${'x'.repeat(2048)}`]) {
    const headers = { 'x-amz-website-redirect-location': location }
    await fails(bucket.put('key', 'x', headers), 400, 'InvalidRedirectLocation')
    await fails(bucket.call('POST', { key: 'key', query: 'uploads', headers }), 400, 'InvalidRedirectLocation')
  }
  await fails(bucket.head('key'), 404)
})

test('encryption with a key of the client is refused by name: 501, and nothing is stored [sse-c]', async () => {
  const bucket = await s3.bucket()
  const key = Buffer.alloc(32, 7)
  const customer = 'x-amz-server-side-encryption-customer'
  const headers = {
    [`${customer}-algorithm`]: 'AES256',
    [`${customer}-key`]: key.toString('base64'),
    [`${customer}-key-md5`]: md5(key),
  }
  const refused = await fails(bucket.put('key', 'x', headers), 501, 'NotImplemented')
  assert.match(refused.element('Message') ?? '', new RegExp(customer))
  await fails(bucket.head('key'), 404)
})

test('encryption by the server is refused by name: 501, and nothing is stored [sse-s3]', async () => {
  const bucket = await s3.bucket()
  for (const method of ['AES256', 'aws:kms']) {
    const answer = bucket.put('key', 'x', { 'x-amz-server-side-encryption': method })
    const refused = await fails(answer, 501, 'NotImplemented')
    assert.match(refused.element('Message') ?? '', /x-amz-server-side-encryption/)
  }
  await fails(bucket.head('key'), 404)
})

test('x-amz-expected-bucket-owner of another answers 403 AccessDenied, of the owner it is taken [expected-owner-403]', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.put('key', 'x', { 'x-amz-expected-bucket-owner': '123456789012' }), 403, 'AccessDenied')
  await fails(bucket.call('GET', { headers: { 'x-amz-expected-bucket-owner': '123456789012' } }), 403, 'AccessDenied')
  await fails(bucket.head('key'), 404)
  const owner = (await succeeds(bucket.read('acl'))).block('Owner').element('ID') ?? ''
  await succeeds(bucket.put('key', 'x', { 'x-amz-expected-bucket-owner': owner }))
})

test('who may not write gets 403, and nothing is stored', { skip: s3.lacksOther }, async () => {
  const bucket = await s3.bucket()
  await fails(bucket.call('PUT', { key: 'key', body: 'x', as: s3.other }), 403, 'AccessDenied')
  await fails(bucket.head('key'), 404)
})

test('a part number without an upload answers 400 InvalidArgument, and the object stays', async () => {
  const bucket = await s3.bucket()
  await succeeds(bucket.put('key', 'whole'))
  await fails(bucket.call('PUT', { key: 'key', query: 'partNumber=1', body: 'part' }), 400, 'InvalidArgument')
  assert.equal((await bucket.get('key')).text, 'whole')
})
