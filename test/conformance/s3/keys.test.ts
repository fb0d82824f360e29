/** Operations: PutObject, GetObject, HeadObject, DeleteObject, ListObjectsV2. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { fails, succeeds, type Answer } from './http.ts'
import { openEndpoint } from './target.ts'
import { escaped } from './xml.ts'

const s3 = await openEndpoint()

/** The keys are stored, read, listed and deleted as they are, each its own object. */
async function areKept(...keys: readonly string[]): Promise<void> {
  const bucket = await s3.bucket()
  for (const key of keys) await bucket.hold(key, `content of ${key}`)
  for (const key of keys) {
    assert.equal((await succeeds(bucket.get(key))).text, `content of ${key}`)
    await succeeds(bucket.head(key))
  }
  const bytes = (key: string) => Buffer.from(key)
  assert.deepEqual(
    await bucket.keys(),
    keys.toSorted((a, b) => bytes(a).compare(bytes(b))),
  )
  for (const key of keys) await succeeds(bucket.delete(key), 204)
  assert.deepEqual(await bucket.keys(), [])
}

test('slashes count, one by one [key-slashes]', () => areKept('a//b', 'a/b', 'a///b', '/a', '//'))
test('dots are just a name [key-dots]', () => areKept('x/../y/./z', '..', '.', './a', '../../etc/passwd', 'y/z'))
test('a slash at the end makes another key [key-trailing-slash]', () => areKept('dir/', 'dir'))
test('letters of all languages, emoji and blanks [key-unicode]', () =>
  areKept('é à', '日本語', '😀/🎉', 'mixed ä', ' '))
test('plus, blank, percent, ampersand and equals sign [key-plus-space]', () =>
  areKept('a+b c%d&e=f', 'a b', 'a+b', 'a%20b', '%', '?a#b', "'(!)*~", 'a;b,c:d@e$'))
test('a key of 1,024 bytes [key-1024]', () => areKept('k'.repeat(1024), `${'ä'.repeat(511)}ab`))
test('300 bytes between two slashes [key-300-in-one-name]', () => areKept(`a/${'n'.repeat(300)}/b`))
test('a key and another below it, as if it were a folder [key-file-and-dir]', () => areKept('fd', 'fd/x', 'fd/x/y'))
test('names that programs like to make special', () =>
  areKept('__proto__', 'constructor', 'index.html', '.htaccess', 'null', 'uploads', 'a\\b', '-rf'))

test('accents put together and taken apart are two keys', () => areKept('\u00e9', 'e\u0301'))

/** Characters that XML cannot hold, that it holds only as references, and that look like what stands for the others. */
const hard = [
  '\u0001',
  '\u000b',
  '\u001f',
  '\ufffe',
  '\uffff',
  '\r',
  '\n',
  '\t',
  '\u007f',
  '\u0085',
  '\u{1fffe}',
  '%01',
]
const hardKeys = hard.map((character) => `a${character}b`).toSorted((a, b) => Buffer.from(a).compare(Buffer.from(b)))
const isUrl = { 'encoding-type': 'url' }
const decoded = (keys: readonly string[]) => keys.map((key) => decodeURIComponent(key))

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

/** Whether readers take the document that go by XML 1.0 to the letter, such as expat, libxml2 and that of Go. */
function isStrict({ text }: Answer): boolean {
  return !unwritable.test(text) && !/&#x(?:[0-8bcef]|1[\da-f]|fff[ef]);/i.test(text)
}

test('keys that XML cannot hold are stored and read, and come as references in listings, encoded where asked', async () => {
  const bucket = await s3.bucket()
  await areHeld(bucket)
  const listings: readonly (readonly [Record<string, string>, string])[] = [
    [{ 'list-type': '2' }, 'Contents'],
    [{}, 'Contents'],
    [{ versions: '' }, 'Version'],
  ]
  for (const [query, entry] of listings) {
    const keysOf = async (more: Record<string, string>) => {
      const answer = await succeeds(bucket.call('GET', { query: { ...query, ...more } }))
      return { answer, keys: answer.blocks(entry).flatMap((one) => one.elements('Key')) }
    }
    assert.deepEqual((await keysOf({})).keys, hardKeys)
    const { answer, keys } = await keysOf(isUrl)
    assert.ok(isStrict(answer), answer.text)
    assert.deepEqual(decoded(keys), hardKeys)
    // Prefixes too, and what marks where the next page begins.
    const page = await keysOf({ ...isUrl, prefix: 'a\u0001', delimiter: 'b', 'max-keys': '1' })
    assert.ok(isStrict(page.answer), page.answer.text)
    assert.deepEqual(decoded(page.answer.block('CommonPrefixes').elements('Prefix')), ['a\u0001b'])
  }
})

test('uploads of keys that XML cannot hold are begun, listed, and completed', async () => {
  const bucket = await s3.bucket()
  for (const key of hardKeys) await bucket.begin(key)
  const uploads = async (more: Record<string, string>) => {
    const answer = await succeeds(bucket.call('GET', { query: { uploads: '', ...more } }))
    return { answer, keys: answer.blocks('Upload').flatMap((one) => one.elements('Key')) }
  }
  assert.deepEqual((await uploads({})).keys, hardKeys)
  const { answer, keys } = await uploads(isUrl)
  assert.ok(isStrict(answer), answer.text)
  assert.deepEqual(decoded(keys), hardKeys)
  // In answers about one key a strict reader finds the id of the upload, whatever the key.
  for (const key of ['a\u0001b', 'a\ufffeb']) {
    const begun = await succeeds(bucket.call('POST', { key, query: 'uploads' }))
    assert.ok(isStrict(begun), begun.text)
    const uploadId = begun.element('UploadId') ?? ''
    const part = await bucket.part(key, uploadId, 1, 'x')
    const parts = await succeeds(bucket.call('GET', { key, query: { uploadId } }))
    assert.ok(isStrict(parts), parts.text)
    const completed = await succeeds(bucket.complete(key, uploadId, [part]))
    assert.ok(isStrict(completed), completed.text)
    assert.equal((await succeeds(bucket.get(key))).text, 'x')
  }
})

test('DeleteObjects takes keys that XML cannot hold, raw and as references, and a strict reader takes its answer', async () => {
  const bucket = await s3.bucket()
  const references = (key: string) =>
    Array.from(key)
      .map((one) => `&#x${one.codePointAt(0)?.toString(16)};`)
      .join('')
  const decimals = (key: string) =>
    Array.from(key)
      .map((one) => `&#000${one.codePointAt(0)};`)
      .join('')
  // Readers of XML take a carriage return for a line feed, so SDKs send it as a reference.
  const raw = (key: string) => escaped(key).replaceAll('\r', '&#13;')
  for (const write of [raw, references, decimals]) {
    await areHeld(bucket)
    const answer = await succeeds(bucket.deleteMany(hardKeys.map((key) => `<Key>${write(key)}</Key>`)))
    assert.ok(isStrict(answer), answer.text)
    assert.deepEqual(answer.blocks('Error'), [])
    // A key that cannot be told as it is comes percent-encoded.
    const told = hardKeys.map((key) => (unwritable.test(key) ? encodeURIComponent(key) : key))
    assert.deepEqual(
      answer.blocks('Deleted').flatMap((one) => one.elements('Key')),
      told,
    )
    assert.deepEqual(await bucket.keys(), [])
  }
})

test('errors about keys that XML cannot hold are read by strict readers', async () => {
  const bucket = await s3.bucket()
  for (const key of hardKeys) {
    const answer = await fails(bucket.get(key), 404, 'NoSuchKey')
    assert.ok(isStrict(answer), answer.text)
  }
  const query = { 'encoding-type': '\u0001' }
  const answer = await fails(bucket.call('GET', { query }), 400, 'InvalidArgument')
  assert.ok(isStrict(answer), answer.text)
})

test('bytes that are no UTF-8, such as half of a surrogate pair, are no key: 400', async () => {
  const bucket = await s3.bucket()
  for (const bytes of ['%ED%A0%80', '%FF', '%C3']) {
    const rawPath = s3.settings.isVirtualHosted ? `/${bytes}` : `/${bucket.name}/${bytes}`
    await fails(bucket.call('PUT', { rawPath, body: 'x' }), 400, 'InvalidURI')
  }
  await fails(bucket.deleteMany(['<Key>&#xd800;</Key>']), 400, 'MalformedXML')
  assert.deepEqual(await bucket.keys(), [])
})

async function areHeld(bucket: Bucket): Promise<void> {
  for (const key of hardKeys) await bucket.hold(key, key)
  for (const key of hardKeys) assert.equal((await succeeds(bucket.get(key))).text, key)
}

test('a key of 1,025 bytes answers 400 KeyTooLongError [key-1025-400]', async () => {
  const bucket = await s3.bucket()
  await fails(bucket.put('k'.repeat(1025), 'x'), 400, 'KeyTooLongError')
  await fails(bucket.put('ä'.repeat(513), 'x'), 400, 'KeyTooLongError')
  assert.deepEqual(await bucket.keys(), [])
})

test('how a key is percent-encoded makes no difference', async () => {
  const bucket = await s3.bucket()
  await bucket.hold("a'(b)*", 'x')
  for (const written of ["a'(b)*", 'a%27%28b%29%2A', '%61%27(b)%2a']) {
    const rawPath = s3.settings.isVirtualHosted ? `/${written}` : `/${bucket.name}/${written}`
    assert.equal((await succeeds(bucket.call('GET', { rawPath, signing: 'presigned' }))).text, 'x')
  }
})
