import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import {
  GetObjectCommand,
  GetObjectLegalHoldCommand,
  GetObjectRetentionCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutBucketCorsCommand,
  PutBucketVersioningCommand,
} from '@aws-sdk/client-s3'
import { signForm } from '../auth/sign.ts'
import { checksumAlgorithms } from '../checksums/algorithms.ts'
import { keys, send, startTestPlane } from '../test-plane.ts'
import type { TestPlane } from '../test-plane.ts'

const Bucket = 'forms'
const identity = { accessKey: keys.accessKeyId, secret: keys.secretAccessKey, region: 'us-east-1' }
let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket(Bucket)
})
after(() => t.close())

interface Upload {
  readonly bucket?: string
  /** Fields that the policy fixes. */
  readonly fields?: Readonly<Record<string, string>>
  readonly conditions?: readonly unknown[]
  /** Fields that the page adds or changes after the policy was signed. */
  readonly added?: Readonly<Record<string, string>>
  readonly without?: readonly string[]
  readonly expiresSeconds?: number
  readonly isAnonymous?: boolean
  readonly file?: string | Buffer
  readonly fileName?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Of an error. */
  readonly code: string | undefined
}

/** Sends a form as a browser does. */
async function upload({ bucket = Bucket, fields = {}, file = 'bytes', ...more }: Upload): Promise<Answer> {
  const { conditions = [], expiresSeconds = 60 } = more
  const given = { key: 'uploaded', ...fields }
  const signed =
    more.isAnonymous === true
      ? given
      : signForm({ bucket, fields: given, conditions }, identity, { now: new Date(), expiresSeconds })
  const form = new FormData()
  for (const [name, value] of Object.entries({ ...signed, ...more.added })) {
    if (more.without?.includes(name) !== true) form.append(name, value)
  }
  form.append('file', new Blob([new Uint8Array(Buffer.from(file))], { type: 'image/jpeg' }), more.fileName ?? 'cat.jpg')
  return answerOf(
    await fetch(`${t.url}/${bucket}`, {
      method: 'POST',
      body: form,
      redirect: 'manual',
      ...(more.headers === undefined ? {} : { headers: more.headers }),
    }),
  )
}

/** Sends a body that no browser would. */
async function uploadText(body: string, type = 'multipart/form-data; boundary=b'): Promise<Answer> {
  return answerOf(await fetch(`${t.url}/${Bucket}`, { method: 'POST', body, headers: { 'content-type': type } }))
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  return { status: response.status, headers: response.headers, text, code: /<Code>(.*)<\/Code>/.exec(text)?.[1] }
}

async function refused(sent: Upload, status: number, code: string, message?: RegExp): Promise<void> {
  const blobs = (await t.blobs()).length
  const answer = await upload(sent)
  assert.deepEqual([answer.status, answer.code], [status, code], answer.text)
  if (message !== undefined) assert.match(answer.text, message)
  assert.equal((await t.blobs()).length, blobs)
}

test('a signed form stores its file under its key, with what its fields say', async () => {
  const file = 'the bytes of a picture'
  const answer = await upload({
    fields: {
      key: 'photos/${filename}',
      'Content-Type': 'image/jpeg',
      'Cache-Control': 'no-cache',
      'x-amz-meta-who': 'Zoë',
      'x-amz-storage-class': 'STANDARD_IA',
      'x-amz-website-redirect-location': '/cats',
      acl: 'bucket-owner-full-control',
    },
    fileName: 'my cat.jpg',
    file,
  })
  assert.equal(answer.status, 204, answer.text)
  assert.equal(answer.text, '')
  const md5 = createHash('md5').update(file).digest('hex')
  assert.equal(answer.headers.get('etag'), `"${md5}"`)
  assert.equal(answer.headers.get('location'), `${t.url}/${Bucket}/photos/my%20cat.jpg`)
  assert.equal(answer.headers.get('x-amz-version-id'), null)

  const got = await t.s3.send(new GetObjectCommand({ Bucket, Key: 'photos/my cat.jpg', ChecksumMode: 'ENABLED' }))
  assert.equal(await got.Body?.transformToString(), file)
  assert.deepEqual([got.ContentType, got.CacheControl, got.StorageClass], ['image/jpeg', 'no-cache', 'STANDARD_IA'])
  assert.equal(got.WebsiteRedirectLocation, '/cats')
  // The SDK shows the bytes of a header one by one.
  assert.equal(Buffer.from(got.Metadata?.['who'] ?? '', 'latin1').toString('utf8'), 'Zoë')
  assert.ok(got.ChecksumCRC64NVME)
  assert.equal(answer.headers.get('x-amz-checksum-crc64nvme'), got.ChecksumCRC64NVME)
})

test('without a field for it, the type of the object is not that of the part', async () => {
  assert.equal((await upload({ fields: { key: 'untyped' } })).status, 204)
  const head = await t.s3.send(new HeadObjectCommand({ Bucket, Key: 'untyped' }))
  assert.equal(head.ContentType, 'binary/octet-stream')
})

test('the page gets the status or the redirect it asked for', async () => {
  const ok = await upload({ fields: { success_action_status: '200' } })
  assert.deepEqual([ok.status, ok.text], [200, ''])
  const created = await upload({ fields: { key: 'a/b c', success_action_status: '201' } })
  assert.equal(created.status, 201)
  assert.equal(created.headers.get('content-type'), 'application/xml')
  assert.ok(
    created.text.includes(`<Location>${t.url}/${Bucket}/a/b%20c</Location><Bucket>forms</Bucket><Key>a/b c</Key>`),
  )
  assert.equal((await upload({ fields: { success_action_status: '418' } })).status, 204)
  const redirect = await upload({ fields: { success_action_redirect: 'https://page.example/done' } })
  assert.equal(redirect.status, 303)
  const etag = createHash('md5').update('bytes').digest('hex')
  assert.equal(
    redirect.headers.get('location'),
    `https://page.example/done?bucket=forms&key=uploaded&etag=%22${etag}%22`,
  )
})

test('an empty file and one that looks like a boundary are stored as they are', async () => {
  for (const file of ['', '\r\n--b\r\n', '\r\n------formdata-undici-0', '-'.repeat(70_000)]) {
    assert.equal((await upload({ fields: { key: 'odd' }, file })).status, 204)
    const got = await t.s3.send(new GetObjectCommand({ Bucket, Key: 'odd' }))
    assert.equal(await got.Body?.transformToString(), file)
  }
})

test('a form that the policy does not cover is denied and stores nothing', async () => {
  const policy = (message: string): RegExp => new RegExp(`Invalid according to Policy: ${message}`)
  await refused({ expiresSeconds: -1 }, 403, 'AccessDenied', policy('Policy expired'))
  await refused({ added: { key: 'other' } }, 403, 'AccessDenied', policy('Policy Condition failed: .*key'))
  await refused(
    { added: { 'x-amz-meta-more': '1' } },
    403,
    'AccessDenied',
    policy('Extra input fields: x-amz-meta-more'),
  )
  await refused(
    { fields: { 'x-amz-meta-a': '1' }, without: ['x-amz-meta-a'] },
    403,
    'AccessDenied',
    policy('.*x-amz-meta-a'),
  )
  await refused({ conditions: [['starts-with', '$key', 'other/']] }, 403, 'AccessDenied', policy('.*starts-with'))
  const elsewhere = signForm({ bucket: 'another', fields: {} }, identity, { now: new Date(), expiresSeconds: 60 })
  await refused({ added: elsewhere }, 403, 'AccessDenied', policy('.*bucket'))
  await t.addBucket('other-forms')
  assert.equal((await upload({ added: { 'x-ignore-me': '1' } })).status, 204)
})

test('a form whose signature is wrong, partial or old is refused', async () => {
  await refused({ added: { 'x-amz-signature': '0'.repeat(64) } }, 403, 'SignatureDoesNotMatch')
  await refused({ added: { policy: 'e30=' } }, 403, 'SignatureDoesNotMatch')
  await refused(
    { added: { 'x-amz-credential': 'NOBODY/20260101/us-east-1/s3/aws4_request', 'x-amz-date': '20260101T000000Z' } },
    403,
    'InvalidAccessKeyId',
  )
  await refused({ without: ['x-amz-signature'] }, 400, 'InvalidArgument', /X-Amz-Signature/)
  await refused({ without: ['policy'] }, 400, 'InvalidArgument', /&apos;policy&apos;|'policy'/)
  await refused(
    { added: { AWSAccessKeyId: keys.accessKeyId, signature: 'x' } },
    400,
    'InvalidRequest',
    /AWS4-HMAC-SHA256/,
  )
  await refused({ added: { 'x-amz-security-token': 'x' } }, 400, 'InvalidToken')
})

test('a form is signed by its fields alone', async () => {
  const blobs = (await t.blobs()).length
  const body =
    '--b\r\nContent-Disposition: form-data; name="key"\r\n\r\nk\r\n--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--b--'
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  const answer = await send(t, 'POST', `/${Bucket}`, { headers, body })
  assert.deepEqual([answer.status, (await t.blobs()).length], [400, blobs])
  assert.match(answer.text, /<Code>InvalidRequest<\/Code>/)
})

test('the size of the file is that which the policy allows', async () => {
  const conditions = [['content-length-range', 3, 10]]
  await refused({ conditions, file: 'ab' }, 400, 'EntityTooSmall', /<ProposedSize>2<.*<MinSizeAllowed>3</)
  await refused({ conditions, file: 'a'.repeat(11) }, 400, 'EntityTooLarge', /<ProposedSize>11<.*<MaxSizeAllowed>10</)
  await refused({ conditions, file: Buffer.alloc(8 * 2 ** 20) }, 400, 'EntityTooLarge')
  for (const file of ['abc', 'a'.repeat(10)]) assert.equal((await upload({ conditions, file })).status, 204)
})

test('a policy document that cannot be read is refused', async () => {
  for (const conditions of [[{}], [['content-length-range', 0]], [['content-length-range', -1, 5]], ['x']]) {
    await refused({ conditions }, 400, 'InvalidPolicyDocument')
  }
})

test('a form needs a key, exactly one file, and the shape of a form', async () => {
  await refused({ without: ['key'] }, 400, 'InvalidArgument', /<ArgumentName>key</)
  await refused({ fields: { key: '' } }, 400, 'InvalidArgument', /length greater than 0/)
  await refused({ fields: { key: 'k'.repeat(1025) } }, 400, 'KeyTooLongError')
  const part = (name: string, value: string): string =>
    `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
  const codes = async (body: string, type?: string): Promise<string | undefined> => (await uploadText(body, type)).code
  assert.equal(await codes(`${part('key', 'k')}--b--`), 'InvalidArgument')
  assert.equal(await codes(part('key', 'k')), 'IncompleteBody')
  assert.equal(await codes('nothing of a form'), 'IncompleteBody')
  assert.equal(await codes('--b\r\nnot a header\r\n\r\n\r\n--b--'), 'MalformedPOSTRequest')
  assert.equal(await codes('x', 'multipart/form-data'), 'MalformedPOSTRequest')
  assert.equal((await uploadText('a=b', 'application/x-www-form-urlencoded')).status, 412)
  assert.equal(
    await codes(`${part('key', 'k'.repeat(30_000))}${part('file', 'x')}--b--`),
    'MaxPostPreDataLengthExceededError',
  )
  const many = Array.from({ length: 150 }, (_, index) => part(`f${index}`, '')).join('')
  assert.equal(await codes(`${many}${part('file', 'x')}--b--`), 'MaxPostPreDataLengthExceededError')
})

test('two files are refused, and none of them is kept', async () => {
  const blobs = (await t.blobs()).length
  await allowEverybody('open-forms')
  const part = (name: string, value: string): string =>
    `--b\r\nContent-Disposition: form-data; name="${name}"; filename="x"\r\n\r\n${value}\r\n`
  const body = `${part('key', 'k')}${part('file', '1')}${part('file', '2')}--b--`
  const headers = { 'content-type': 'multipart/form-data; boundary=b' }
  const answer = await answerOf(await fetch(`${t.url}/open-forms`, { method: 'POST', body, headers }))
  assert.deepEqual([answer.code, (await t.blobs()).length], ['InvalidArgument', blobs])
})

test('digests of the form are verified', async () => {
  const file = 'digested'
  const md5 = createHash('md5').update(file).digest('base64')
  const digest = checksumAlgorithms.SHA256.begin()
  digest.update(Buffer.from(file))
  const sha256 = digest.value().toString('base64')
  const other = createHash('sha256').update('x').digest('base64')
  assert.equal((await upload({ file, fields: { 'Content-MD5': md5 } })).status, 204)
  const answer = await upload({
    file,
    fields: { 'x-amz-checksum-sha256': sha256, 'x-amz-checksum-algorithm': 'SHA256' },
  })
  assert.deepEqual([answer.status, answer.headers.get('x-amz-checksum-sha256')], [204, sha256])
  const computed = await upload({ file, fields: { 'x-amz-checksum-algorithm': 'SHA256' } })
  assert.equal(computed.headers.get('x-amz-checksum-sha256'), sha256)
  await refused({ file: 'x', fields: { 'Content-MD5': md5 } }, 400, 'BadDigest')
  await refused({ file, fields: { 'Content-MD5': 'short' } }, 400, 'InvalidDigest')
  await refused({ file, fields: { 'x-amz-checksum-sha256': other } }, 400, 'BadDigest')
  await refused(
    { file, fields: { 'x-amz-checksum-sha256': sha256, 'x-amz-checksum-crc32': 'AAAAAA==' } },
    400,
    'InvalidRequest',
  )
})

test('tags come as a document, and are kept', async () => {
  const tagging = '<Tagging><TagSet><Tag><Key>a b</Key><Value>é</Value></Tag></TagSet></Tagging>'
  assert.equal((await upload({ fields: { key: 'tagged', tagging } })).status, 204)
  const { TagSet } = await t.s3.send(new GetObjectTaggingCommand({ Bucket, Key: 'tagged' }))
  assert.deepEqual(TagSet, [{ Key: 'a b', Value: 'é' }])
  await refused({ fields: { tagging: 'a=b' } }, 400, 'MalformedXML')
})

test('what a PUT would be refused for, a form is refused for', async () => {
  await refused({ fields: { acl: 'public-read' } }, 400, 'AccessControlListNotSupported')
  await refused({ fields: { 'x-amz-storage-class': 'ATTIC' } }, 400, 'InvalidStorageClass')
  await refused({ fields: { 'x-amz-server-side-encryption': 'AES256' } }, 501, 'NotImplemented')
  for (const acl of ['bucket-owner-read', 'public-read'])
    await refused({ fields: { acl } }, 400, 'AccessControlListNotSupported')
  const redirect = { 'x-amz-website-redirect-location': 'ftp://example.com' }
  await refused({ fields: redirect }, 400, 'InvalidRedirectLocation')
  await refused({ fields: { 'x-amz-meta-long': 'x'.repeat(3000) } }, 400, 'MetadataTooLarge')
  await refused({ fields: { 'x-amz-meta-lines': 'a\r\nb' } }, 400, 'InvalidArgument')
  await refused({ fields: { 'x-amz-object-lock-legal-hold': 'ON' } }, 400, 'InvalidRequest')
  await refused({ bucket: 'no-such-bucket' }, 404, 'NoSuchBucket')
})

test('a condition in the headers of the request holds for a form too', async () => {
  const fields = { key: 'once' }
  assert.equal((await upload({ fields, headers: { 'if-none-match': '*' } })).status, 204)
  await refused({ fields, headers: { 'if-none-match': '*' } }, 412, 'PreconditionFailed')
})

test('versions and locks are those of the bucket, and of the fields', async () => {
  const uuid = await t.addBucket('locked-forms')
  const record = (await t.catalog.record('protocols/s3/buckets', uuid))?.body ?? {}
  await t.put('protocols/s3/buckets', uuid, {
    ...record,
    $hasLocks: true,
    'retention.mode': 'governance',
    'retention.default_period': 'P1D',
  })
  const versioned = { Bucket: 'locked-forms', VersioningConfiguration: { Status: 'Enabled' } } as const
  await t.s3.send(new PutBucketVersioningCommand(versioned))
  const first = await upload({ bucket: 'locked-forms' })
  const second = await upload({ bucket: 'locked-forms', fields: { 'x-amz-object-lock-legal-hold': 'ON' } })
  const [one, two] = [first, second].map(({ headers }) => headers.get('x-amz-version-id') ?? '')
  assert.ok(one !== '' && two !== '' && one !== two)
  const at = { Bucket: 'locked-forms', Key: 'uploaded', VersionId: one }
  const { Retention } = await t.s3.send(new GetObjectRetentionCommand(at))
  assert.equal(Retention?.Mode, 'GOVERNANCE')
  assert.ok(Math.abs((Retention?.RetainUntilDate?.getTime() ?? 0) - Date.now() - 86_400_000) < 60_000)
  const hold = await t.s3.send(new GetObjectLegalHoldCommand({ ...at, VersionId: two }))
  assert.equal(hold.LegalHold?.Status, 'ON')
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const own = await upload({
    bucket: 'locked-forms',
    fields: { 'x-amz-object-lock-mode': 'COMPLIANCE', 'x-amz-object-lock-retain-until-date': until },
  })
  const ownVersion = own.headers.get('x-amz-version-id') ?? ''
  const kept = await t.s3.send(new GetObjectRetentionCommand({ ...at, VersionId: ownVersion }))
  assert.equal(kept.Retention?.RetainUntilDate?.toISOString(), until)
})

test('while versions are suspended a form makes the version null, and its answer tells none', async () => {
  const bucket = 'suspended-forms'
  await t.addBucket(bucket)
  for (const Status of ['Enabled', 'Suspended'] as const) {
    await t.s3.send(new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration: { Status } }))
  }
  assert.equal((await upload({ bucket })).headers.get('x-amz-version-id'), null)
  const head = await t.s3.send(new HeadObjectCommand({ Bucket: bucket, Key: 'uploaded' }))
  assert.equal(head.VersionId, 'null')
})

async function allowEverybody(bucket: string, conditions?: readonly object[]): Promise<void> {
  await t.addBucket(bucket, {
    statements: [
      {
        effect: 'allow',
        principals: ['*'],
        actions: ['PutObject'],
        resources: [`${bucket}/*`],
        ...(conditions === undefined ? {} : { conditions }),
      } as never,
    ],
  })
}

test('a form without a policy is from nobody: allowed only where everybody is', async () => {
  await refused({ isAnonymous: true }, 403, 'AccessDenied')
  await allowEverybody('public-forms')
  assert.equal((await upload({ isAnonymous: true, bucket: 'public-forms' })).status, 204)
  // To write tags is another permission.
  const tagging = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>'
  await refused({ isAnonymous: true, bucket: 'public-forms', fields: { tagging } }, 403, 'AccessDenied')
})

test('whoever signed a form needs the permission', async () => {
  const guest = { accessKeyId: 'GUESTKEYEXAMPLE', secretAccessKey: 'guest-secret' }
  await t.addUser('guest', guest)
  const fields = signForm(
    { bucket: Bucket, fields: { key: 'uploaded' } },
    { accessKey: guest.accessKeyId, secret: guest.secretAccessKey, region: 'eu-west-1' },
    { now: new Date(), expiresSeconds: 60 },
  )
  await refused({ added: fields }, 403, 'AccessDenied', /<Message>Access Denied</)
})

test('a page of another origin may read the answer where CORS says so, an error too', async () => {
  await t.s3.send(
    new PutBucketCorsCommand({
      Bucket,
      CORSConfiguration: {
        CORSRules: [{ AllowedOrigins: ['https://page.example'], AllowedMethods: ['POST'], ExposeHeaders: ['ETag'] }],
      },
    }),
  )
  const headers = { origin: 'https://page.example' }
  const stored = await upload({ headers })
  const denied = await upload({ headers, expiresSeconds: -1 })
  assert.deepEqual([stored.status, denied.status], [204, 403])
  for (const answer of [stored, denied]) {
    assert.equal(answer.headers.get('access-control-allow-origin'), 'https://page.example')
    assert.equal(answer.headers.get('access-control-expose-headers'), 'ETag')
  }
})

test('a file that cannot fit is refused by the length of its request, and by the commit without it', async () => {
  await t.addBucket('small-forms', { limitBytes: 100_000 })
  await refused({ bucket: 'small-forms', file: Buffer.alloc(8 * 2 ** 20) }, 403, 'QuotaExceeded')
  await refused({ bucket: 'small-forms', file: Buffer.alloc(110_000) }, 403, 'QuotaExceeded')
  assert.equal((await upload({ bucket: 'small-forms', file: Buffer.alloc(90_000) })).status, 204)
})

test('a form that breaks off leaves nothing', async () => {
  await allowEverybody('cut-forms')
  const blobs = (await t.blobs()).length
  const { hostname, port, host } = new URL(t.url)
  const head = (length: string): string =>
    `POST /cut-forms HTTP/1.1\r\nHost: ${host}\r\nContent-Type: multipart/form-data; boundary=b\r\n${length}\r\n\r\n`
  const fields =
    '--b\r\nContent-Disposition: form-data; name="key"\r\n\r\ncut\r\n' +
    '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n'
  const whole = `${fields}${'x'.repeat(200_000)}`
  for (const bytes of [10, fields.length, whole.length]) {
    const socket = connect(Number(port), hostname)
    const closed = once(socket.resume(), 'close')
    // All of it arrives before the end does.
    socket.end(`${head('Content-Length: 1000000')}${whole.slice(0, bytes)}`)
    await closed
  }
  while ((await t.blobs()).length !== blobs) await wait(20)
  assert.equal((await send(t, 'GET', '/cut-forms/cut')).status, 404)
})

test('a refused form leaves its connection usable', async () => {
  const { hostname, port, host } = new URL(t.url)
  const body = `--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n${'x'.repeat(500_000)}\r\n--b--`
  const socket = connect(Number(port), hostname)
  let answers = ''
  socket.on('data', (piece) => (answers += piece.toString('latin1')))
  const head =
    `POST /${Bucket} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: multipart/form-data; boundary=b\r\n` +
    `Content-Length: ${body.length}\r\n\r\n`
  socket.write(head)
  socket.write(body)
  socket.write(`GET /livez HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  while (!answers.includes('"ok"')) await wait(20)
  socket.destroy()
  assert.match(answers, /^HTTP\/1\.1 400 .*<ArgumentName>key<.*HTTP\/1\.1 200 OK.*"ok"/s)
})
