/** Operations: PutBucketLifecycleConfiguration, GetBucketLifecycleConfiguration, DeleteBucketLifecycle. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const rules = (...inside: readonly string[]) =>
  `<LifecycleConfiguration>${inside.map((rule) => `<Rule>${rule}</Rule>`).join('')}</LifecycleConfiguration>`
const enabled = '<Status>Enabled</Status>'
const all = '<Filter><Prefix></Prefix></Filter>'
const days = (count: number | string) => `<Expiration><Days>${count}</Days></Expiration>`

test('rules with And filter, sizes and AbortIncompleteMultipartUpload are given back [lifecycle]', async () => {
  const bucket = await s3.bucket()
  const filter =
    '<Filter><And><Prefix>logs/</Prefix><Tag><Key>a</Key><Value>1</Value></Tag>' +
    '<ObjectSizeGreaterThan>10</ObjectSizeGreaterThan><ObjectSizeLessThan>2000000</ObjectSizeLessThan></And></Filter>'
  const abort =
    '<AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload>'
  const older =
    '<NoncurrentVersionExpiration><NoncurrentDays>30</NoncurrentDays>' +
    '<NewerNoncurrentVersions>3</NewerNoncurrentVersions></NoncurrentVersionExpiration>'
  const document = rules(
    `<ID>logs</ID>${filter}${enabled}${days(5)}`,
    `<ID>uploads</ID>${all}${enabled}${abort}`,
    `<ID>older</ID>${all}<Status>Disabled</Status>${older}`,
  )
  await succeeds(bucket.configure('lifecycle', document))
  const [logs, uploads, last] = (await succeeds(bucket.read('lifecycle'))).blocks('Rule')
  assert.equal(logs?.element('ID'), 'logs')
  assert.equal(logs?.block('And').element('Prefix'), 'logs/')
  assert.equal(logs?.block('And').block('Tag').element('Value'), '1')
  assert.equal(logs?.block('And').element('ObjectSizeGreaterThan'), '10')
  assert.equal(logs?.block('And').element('ObjectSizeLessThan'), '2000000')
  assert.equal(logs?.block('Expiration').element('Days'), '5')
  assert.equal(uploads?.element('DaysAfterInitiation'), '7')
  assert.equal(last?.element('Status'), 'Disabled')
  assert.equal(last?.element('NoncurrentDays'), '30')
  assert.equal(last?.element('NewerNoncurrentVersions'), '3')
})

test('a bucket without rules answers 404 NoSuchLifecycleConfiguration, also after DeleteBucketLifecycle', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.read('lifecycle'), 404, 'NoSuchLifecycleConfiguration')
  await succeeds(bucket.configure('lifecycle', rules(`${all}${enabled}${days(1)}`)))
  await succeeds(bucket.call('DELETE', { query: 'lifecycle' }), 204)
  await fails(bucket.read('lifecycle'), 404, 'NoSuchLifecycleConfiguration')
})

test('a rule without ID is given one', async () => {
  const bucket = await s3.bucket()
  await succeeds(bucket.configure('lifecycle', rules(`${all}${enabled}${days(1)}`, `${all}${enabled}${days(2)}`)))
  const ids = (await succeeds(bucket.read('lifecycle'))).elements('ID')
  assert.equal(new Set(ids).size, 2)
  assert.ok(ids.every((id) => id !== ''))
})

test('writes and reads of an object that a rule will expire tell when, and by which rule', async () => {
  const bucket = await s3.bucket()
  const filter = '<Filter><Prefix>logs/</Prefix></Filter>'
  await succeeds(bucket.configure('lifecycle', rules(`<ID>one</ID>${filter}${enabled}${days(5)}`)))
  const put = await succeeds(bucket.put('logs/a', 'x'))
  const told = put.must('x-amz-expiration')
  assert.match(told, /rule-id="one"/)
  // At the midnight that follows five days after today.
  const date = Date.parse(/expiry-date="([^"]+)"/.exec(told)?.[1] ?? '')
  assert.equal(date % 86_400_000, 0)
  assert.ok(date - Date.now() > 5 * 86_400_000 && date - Date.now() <= 6 * 86_400_000, told)
  for (const answer of [await bucket.head('logs/a'), await bucket.get('logs/a')]) {
    assert.equal(answer.header('x-amz-expiration'), told)
  }
  const source = { 'x-amz-copy-source': `${bucket.name}/logs/a` }
  const copied = await succeeds(bucket.call('PUT', { key: 'logs/copy', headers: source }))
  assert.equal(copied.header('x-amz-expiration'), told)
  const uploadId = await bucket.begin('logs/parts')
  const part = await bucket.part('logs/parts', uploadId, 1, 'x')
  const completed = await succeeds(bucket.complete('logs/parts', uploadId, [part]))
  assert.equal(completed.header('x-amz-expiration'), told)
  await bucket.hold('other', 'x')
  assert.equal((await bucket.head('other')).header('x-amz-expiration'), undefined)
})

test('an upload that a rule will abort tells when, and by which rule', async () => {
  const bucket = await s3.bucket()
  const filter = '<Filter><Prefix>parts/</Prefix></Filter>'
  const abort =
    '<AbortIncompleteMultipartUpload><DaysAfterInitiation>7</DaysAfterInitiation></AbortIncompleteMultipartUpload>'
  await succeeds(bucket.configure('lifecycle', rules(`<ID>uploads</ID>${filter}${enabled}${abort}`)))
  const begun = await succeeds(bucket.call('POST', { key: 'parts/a', query: 'uploads' }))
  assert.equal(begun.header('x-amz-abort-rule-id'), 'uploads')
  const leftMs = Date.parse(begun.must('x-amz-abort-date')) - Date.now()
  assert.ok(leftMs > 7 * 86_400_000 - 60_000 && leftMs <= 8 * 86_400_000, begun.header('x-amz-abort-date'))
  const query = { uploadId: begun.element('UploadId') ?? '' }
  const listed = await succeeds(bucket.call('GET', { key: 'parts/a', query }))
  assert.equal(listed.header('x-amz-abort-date'), begun.header('x-amz-abort-date'))
  const other = await succeeds(bucket.call('POST', { key: 'other', query: 'uploads' }))
  assert.equal(other.header('x-amz-abort-date'), undefined)
})

test('Expiration takes a date at midnight, or ExpiredObjectDeleteMarker', async () => {
  const bucket = await s3.bucket()
  const date = '<Expiration><Date>2089-01-01T00:00:00.000Z</Date></Expiration>'
  const marker = '<Expiration><ExpiredObjectDeleteMarker>true</ExpiredObjectDeleteMarker></Expiration>'
  await succeeds(
    bucket.configure('lifecycle', rules(`<ID>a</ID>${all}${enabled}${date}`, `<ID>b</ID>${all}${enabled}${marker}`)),
  )
  const [first, second] = (await bucket.read('lifecycle')).blocks('Rule')
  assert.equal(Date.parse(first?.element('Date') ?? ''), Date.parse('2089-01-01T00:00:00Z'))
  assert.equal(second?.element('ExpiredObjectDeleteMarker'), 'true')
})

test('the older form with Prefix in the rule is taken', async () => {
  const bucket = await s3.bucket()
  await succeeds(bucket.configure('lifecycle', rules(`<Prefix>logs/</Prefix>${enabled}${days(1)}`)))
  assert.equal((await bucket.read('lifecycle')).block('Rule').element('Prefix'), 'logs/')
})

test('days under 1, a date not at midnight, one ID twice or too long answer 400 InvalidArgument', async () => {
  const bucket = await s3.bucket()
  const rule = `<ID>a</ID>${all}${enabled}${days(1)}`
  const wrong = [
    rules(`${all}${enabled}${days(0)}`),
    rules(`${all}${enabled}<Expiration><Date>2089-01-01T12:00:00Z</Date></Expiration>`),
    rules(rule, rule),
    rules(`<ID>${'x'.repeat(256)}</ID>${all}${enabled}${days(1)}`),
  ]
  for (const document of wrong) await fails(bucket.configure('lifecycle', document), 400, 'InvalidArgument')
  await fails(bucket.read('lifecycle'), 404, 'NoSuchLifecycleConfiguration')
})

test('no rule, no status, an unknown status or Filter beside Prefix answer 400 MalformedXML', async () => {
  const bucket = await s3.bucket()
  const wrong = [
    '<LifecycleConfiguration/>',
    'x',
    rules(`${all}${days(1)}`),
    rules(`${all}<Status>enabled</Status>${days(1)}`),
    rules(`<Prefix>a</Prefix>${all}${enabled}${days(1)}`),
  ]
  for (const document of wrong) await fails(bucket.configure('lifecycle', document), 400, 'MalformedXML')
})

test('a rule that does nothing answers 400', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.configure('lifecycle', rules(`${all}${enabled}`)), 400)
})

test('1,000 rules are taken, more are refused', async () => {
  const bucket = await s3.bucket()
  const many = (count: number) =>
    rules(
      ...Array.from(
        { length: count },
        (_, at) => `<ID>r${at}</ID><Filter><Prefix>p${at}/</Prefix></Filter>${enabled}${days(1)}`,
      ),
    )
  await succeeds(bucket.configure('lifecycle', many(1000)))
  await fails(bucket.configure('lifecycle', many(1001)), 400)
})

test('transitions are refused by name, as there is one storage class: 501', async () => {
  const bucket = await s3.bucket()
  const transition = '<Transition><Days>30</Days><StorageClass>GLACIER</StorageClass></Transition>'
  const answer = await fails(
    bucket.configure('lifecycle', rules(`${all}${enabled}${transition}`)),
    501,
    'NotImplemented',
  )
  assert.match(answer.element('Message') ?? '', /Transition/)
})
