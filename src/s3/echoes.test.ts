/** What comes back of a request that was refused. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { keys, send, startTestPlane, type TestPlane } from './test-plane.ts'
import { echoCharactersMax } from './xml/xml.ts'

let t: TestPlane
before(async () => {
  t = await startTestPlane()
  await t.addBucket('echoes')
})
after(() => t.close())

test('an error is small and well-formed, whatever the request was', async () => {
  const long = 'é😀<'.repeat(2500)
  const text = encodeURIComponent(long)
    .slice(0, 28_000)
    .replace(/%[^%]?$/, '')
  const ascii = 'x'.repeat(28_000)
  const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')
  const scope = `${stamp.slice(0, 8)}/us-east-1/s3/aws4_request`
  const rest = `SignedHeaders=host;x-amz-date, Signature=${'0'.repeat(64)}`
  const credential = (given: string) => `AWS4-HMAC-SHA256 Credential=${given}, ${rest}`
  const dated = { 'x-amz-date': stamp, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' }
  const cases: [string, string, Record<string, string>][] = [
    ['GET', `/echoes/${text}`, {}],
    ['GET', `/${ascii}`, {}],
    ['GET', `/echoes/x?versionId=${ascii}`, { authorization: 'AWS x:y' }],
    ['GET', `/echoes?list-type=2&max-keys=${text}`, {}],
    ['GET', '/echoes', { authorization: ascii }],
    ['GET', '/echoes', { ...dated, authorization: credential(`${ascii}/${scope}`) }],
    [
      'GET',
      '/echoes',
      { ...dated, authorization: credential(`${keys.accessKeyId}/${ascii}/us-east-1/s3/aws4_request`) },
    ],
    [
      'GET',
      '/echoes',
      { ...dated, authorization: credential(`${keys.accessKeyId}/${stamp.slice(0, 8)}/${ascii}/s3/aws4_request`) },
    ],
    [
      'GET',
      '/echoes',
      { ...dated, authorization: credential(`${keys.accessKeyId}/${stamp.slice(0, 8)}/us-east-1/${ascii}/x`) },
    ],
    ['GET', `/echoes?x=${ascii}`, { ...dated, authorization: credential(`${keys.accessKeyId}/${scope}`) }],
    ['OPTIONS', `/${ascii}`, { origin: 'http://a', 'access-control-request-method': 'GET' }],
    ['PUT', '/echoes/x', { 'x-amz-copy-source': ascii }],
  ]
  for (const [method, target, headers] of cases) {
    const { status, text } = await send(t, method, target, { headers, isAnonymous: true })
    const what = `${method} ${target.slice(0, 40)} ${JSON.stringify(headers).slice(0, 200)}`
    assert.ok(status >= 400 && status < 500, `${what}: ${status}`)
    assert.ok(Buffer.byteLength(text) < 40_000, `${what}: ${text.length} characters`)
    for (const [, name, content = ''] of text.matchAll(/<(\w+)>([^<]*)<\/\1>/g)) {
      if (/^(Canonical|StringToSign)/.test(name ?? '')) continue
      assert.ok(
        content.length <= echoCharactersMax * 6 &&
          Array.from(content.replaceAll(/&\w+;/g, '.')).length <= echoCharactersMax + 1,
        `${what}: ${name}`,
      )
    }
    assert.match(text, /<\/Error>$/, what)
  }
})

test('a key of any length that a key may have comes back whole', async () => {
  const key = 'k'.repeat(1024)
  const { text } = await send(t, 'GET', `/echoes/${key}`)
  assert.ok(text.includes(`<Key>${key}</Key>`))
})
