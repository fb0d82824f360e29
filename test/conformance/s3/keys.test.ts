/** Operations: PutObject, GetObject, HeadObject, DeleteObject, ListObjectsV2. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

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
