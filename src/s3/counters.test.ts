import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { realSystem } from '../engines/system.ts'
import type { Clock } from '../ports/system.ts'
import { presign } from './auth/sign.ts'
import { keys, send, startTestPlane, svm, volume, type TestPlane } from './test-plane.ts'

let t: TestPlane
before(async () => {
  // Counters are written once a second; nobody waits for that here.
  const { clock } = realSystem
  const hurried: Clock = {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    sleep: (ms, signal) => clock.sleep(Math.min(ms, 20), signal),
  }
  t = await startTestPlane({ system: { ...realSystem, clock: hurried } })
  await t.addBucket('plain')
  await t.addBucket('open', {
    statements: [
      { effect: 'allow', principals: ['*'], actions: ['GetObject'], resources: ['open/*'] },
      { effect: 'deny', principals: ['*'], actions: ['*'], resources: ['open/secret'] },
    ],
  })
})
after(() => t.close())

/** What was counted of the server while something was done: by the time that everything is written. */
async function counted(act: () => Promise<void>, table = 'object_store_server', row = svm): Promise<Growth> {
  const read = async () => (await t.catalog.counters(table)).get(row) ?? {}
  await settled()
  const earlier = await read()
  await act()
  await settled()
  const later = await read()
  return (name) => (later[name] ?? 0) - (earlier[name] ?? 0)
}

type Growth = (name: string) => number

/** Counters are written together: a counted request that is seen has those before it written, too. */
async function settled(): Promise<void> {
  const requests = async () => (await t.catalog.counters('object_store_server')).get(svm)?.['head_bucket_total'] ?? 0
  const earlier = await requests()
  assert.equal((await send(t, 'HEAD', '/plain')).status, 200)
  while ((await requests()) === earlier) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** The request by which `settled` sees that all is written. */
const PROBES = 1

test('signatures are counted by their version and place, and bodies by their coding', async () => {
  const growth = await counted(async () => {
    await send(t, 'PUT', '/plain/a', { body: 'a' })
    const identity = { accessKey: keys.accessKeyId, secret: keys.secretAccessKey, region: 'us-east-1' }
    const { host } = new URL(t.url)
    const rawQuery = presign({ method: 'GET', rawPath: '/plain/a', rawQuery: '', headers: { host } }, identity, {
      now: new Date(),
      expiresSeconds: 60,
    })
    const got = await send(t, 'GET', `/plain/a?${rawQuery}`, { isAnonymous: true })
    assert.equal(got.status, 200, got.text)
    const old = await send(t, 'GET', '/plain/a', { isAnonymous: true, headers: { authorization: 'AWS key:signature' } })
    assert.equal(old.status, 400)
    await send(t, 'PUT', '/plain/chunked', {
      body: '1\r\na\r\n0\r\n\r\n',
      hash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      headers: { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': '1' },
    })
  })
  assert.equal(growth('signature_v4_requests'), 3 + PROBES)
  assert.equal(growth('presigned_url_requests'), 1)
  assert.equal(growth('signature_v2_requests'), 1)
  assert.equal(growth('chunked_upload_requests'), 1)
})

test('decisions of policies are counted by who asked and what they came to', async () => {
  await send(t, 'PUT', '/open/secret', { body: 'x' })
  await send(t, 'PUT', '/open/shown', { body: 'x' })
  const growth = await counted(async () => {
    const status = async (target: string) => (await send(t, 'GET', target, { isAnonymous: true })).status
    assert.deepEqual(
      [await status('/open/shown'), await status('/open/secret'), await status('/plain/a')],
      [200, 403, 403],
    )
  })
  assert.equal(growth('allow_access'), PROBES)
  assert.equal(growth('anonymous_access'), 1)
  assert.equal(growth('anonymous_deny_access'), 2)
  assert.equal(growth('explicit_deny_access'), 1)
  assert.equal(growth('default_deny_access'), 1)
})

test('reads of whole objects are counted beside reads of ranges', async () => {
  await send(t, 'PUT', '/plain/ranged', { body: 'abcdef' })
  const growth = await counted(
    async () => {
      assert.equal((await send(t, 'GET', '/plain/ranged')).status, 200)
      assert.equal((await send(t, 'GET', '/plain/ranged', { headers: { range: 'bytes=1-2' } })).status, 206)
    },
    'volume',
    volume,
  )
  assert.deepEqual([growth('read_ops'), growth('sequential_reads')], [2, 1])
})

test('what is not HTTP, or not XML, is counted, and so are connections', async () => {
  const growth = await counted(async () => {
    const { hostname, port } = new URL(t.url)
    const socket = connect(Number(port), hostname)
    socket.end('this is no HTTP\r\n\r\n')
    socket.resume()
    await once(socket, 'close')
    const body = '<Delete'
    const headers = { 'content-md5': createHash('md5').update(body).digest('base64') }
    assert.match((await send(t, 'POST', '/plain?delete', { body, headers })).text, /MalformedXML/)
  })
  assert.equal(growth('request_parse_errors'), 2)
  assert.equal(growth('server_connection_close'), 1)
  assert.ok(growth('connections') >= 1)
})

test('a client that closes its connection within an answer is counted as that, and no failure of the server', async () => {
  await send(t, 'PUT', '/plain/large', { body: Buffer.alloc(32 * 2 ** 20) })
  const growth = await counted(async () => {
    const controller = new AbortController()
    const { host } = new URL(t.url)
    const rawQuery = presign(
      { method: 'GET', rawPath: '/plain/large', rawQuery: '', headers: { host } },
      { accessKey: keys.accessKeyId, secret: keys.secretAccessKey, region: 'us-east-1' },
      { now: new Date(), expiresSeconds: 60 },
    )
    const response = await fetch(`${t.url}/plain/large?${rawQuery}`, { signal: controller.signal })
    assert.equal(response.status, 200)
    controller.abort()
    const total = async () => (await t.catalog.counters('object_store_server')).get(svm)?.['get_object_total'] ?? 0
    const earlier = await total()
    while ((await total()) === earlier) await new Promise((resolve) => setTimeout(resolve, 5))
  })
  assert.deepEqual([growth('get_object_failed_client_close'), growth('get_object_failed')], [1, 0])
  assert.ok(growth('output_flow_control_entry') > 0)
  assert.equal(growth('output_flow_control_entry'), growth('output_flow_control_exit'))
})

test('bodies that are compressed are counted, and those that do not become smaller', async () => {
  const compressing = await t.catalog.record('storage/volumes', volume)
  await t.put('storage/volumes', volume, { ...compressing?.body, 'efficiency.compression': 'inline' }, '')
  const growth = await counted(
    async () => {
      assert.equal((await send(t, 'PUT', '/plain/zeros', { body: Buffer.alloc(200_000) })).status, 200)
      assert.equal((await send(t, 'PUT', '/plain/noise', { body: randomBytes(200_000) })).status, 200)
    },
    'volume',
    volume,
  )
  assert.deepEqual([growth('compress_attempts'), growth('compress_failures')], [2, 1])
})
