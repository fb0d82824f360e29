/** Objects that are newer than a backup come back by the labels of their blobs, and what cannot is told. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { keys as credentials, send } from '../../src/s3/test-plane.ts'
import { killAll, run, SMALL, startWith, type Started } from '../support/started.ts'
import { canSeeProcesses, descendants, isAlive } from './processes.ts'
import { describeUnless, reasonUnlessWhole } from './programs.ts'

const environment = {
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
}
const VERSIONING = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>'
const skip =
  reasonUnlessWhole('src/s3/objects/labels.test.ts') ||
  (canSeeProcesses ? false : 'the processes of the product are found in /proc')

describeUnless(skip, 'a catalog that was rebuilt from labels', {}, () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-rebuild-'))
  const [data, backups] = [join(root, 'data'), join(root, 'backups')]
  let cluster: Started
  let openUpload = ''
  let versions: readonly string[] = []
  let rebuilt = ''

  const ask = async (method: string, target: string, options: Parameters<typeof send>[3] = {}) => {
    const answer = await send({ url: cluster.s3Http }, method, target, options)
    assert.ok(answer.status < 300, `${method} ${target}: ${answer.status} ${answer.text}`)
    return answer
  }
  const statusOf = async (target: string) => (await send({ url: cluster.s3Http }, 'GET', target)).status
  const holdfast = async (...args: string[]) => {
    const begun = run(args, SMALL)
    assert.equal(await begun.ended, 0, begun.said())
    return begun.said()
  }
  const begin = async (target: string) =>
    /<UploadId>(.*?)</.exec((await ask('POST', `${target}?uploads`)).text)?.[1] ?? ''
  const versionsOf = async (key: string) =>
    [...(await ask('GET', `/kept?versions&prefix=${key}`)).text.matchAll(/<VersionId>(.*?)</g)].map(([, id = '']) => id)

  before(async () => {
    cluster = await startWith(['--data', data], environment)
    await ask('PUT', '/papers')
    await ask('PUT', '/kept')
    await ask('PUT', '/kept?versioning', { body: VERSIONING })
    await ask('PUT', '/papers/early', { body: 'first' })
    await ask('PUT', '/kept/k', { body: 'v1' })
    openUpload = await begin('/papers/parts')
    await holdfast('backup', '--data', data, '--to', backups)

    await ask('PUT', '/papers/late', {
      body: 'late',
      headers: { 'content-type': 'text/x-late', 'x-amz-meta-who': 'me', 'x-amz-tagging': 'a=b' },
    })
    await ask('PUT', '/papers/early', { body: 'second' })
    await ask('PUT', '/kept/k', { body: 'v2' })
    await ask('PUT', '/kept/k', { body: 'v3' })
    versions = await versionsOf('k')
    await ask('PUT', `/papers/parts?partNumber=1&uploadId=${openUpload}`, { body: 'the only part' })
    const unknown = await begin('/papers/large')
    const { headers } = await ask('PUT', `/papers/large?partNumber=1&uploadId=${unknown}`, { body: 'a part' })
    const part = `<Part><PartNumber>1</PartNumber><ETag>${headers.etag}</ETag></Part>`
    await ask('POST', `/papers/large?uploadId=${unknown}`, {
      body: `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`,
    })
    await ask('PUT', '/since')
    await ask('PUT', '/since/x', { body: 'in a bucket that no backup has' })

    const pids = [cluster.pid, ...descendants(cluster.pid).map(({ pid }) => pid)]
    for (const pid of pids) process.kill(pid, 'SIGKILL')
    while (pids.some((pid) => isAlive(pid))) await wait(25)
    await holdfast('restore', '--from', backups, '--data', data, '--move-aside')
    rebuilt = await holdfast('rebuild', '--data', data)
    cluster = await startWith(['--data', data], environment)
  })
  after(async () => {
    await killAll()
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })

  it('has the newest of each key, with its headers, metadata and tags', async () => {
    const late = await ask('GET', '/papers/late')
    assert.deepEqual(
      [late.text, late.headers['content-type'], late.headers['x-amz-meta-who'], late.headers['x-amz-tagging-count']],
      ['late', 'text/x-late', 'me', '1'],
    )
    assert.equal((await ask('GET', '/papers/early')).text, 'second')
  })

  it('has all versions, by their ids and in their order', async () => {
    assert.equal(versions.length, 3)
    assert.deepEqual(await versionsOf('k'), versions)
    for (const [at, id] of versions.entries()) {
      assert.equal((await ask('GET', `/kept/k?versionId=${id}`)).text, `v${3 - at}`)
    }
  })

  it('has the parts of uploads that it knows: they can be completed', async () => {
    const { text } = await ask('GET', `/papers/parts?uploadId=${openUpload}`)
    const etag = /<ETag>(.*?)</.exec(text)?.[1] ?? ''
    await ask('POST', `/papers/parts?uploadId=${openUpload}`, {
      body: `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`,
    })
    assert.equal((await ask('GET', '/papers/parts')).text, 'the only part')
  })

  it('tells what it could not give back', async () => {
    assert.match(rebuilt, /^Recovered objects and parts: 5\.$/m)
    assert.match(rebuilt, /^ {2}part of an unknown upload: 1$/m)
    assert.match(rebuilt, /^ {2}(unknown bucket|in the tree of an unknown volume): 1$/m)
    assert.equal(await statusOf('/papers/large'), 404)
    assert.equal(await statusOf('/since/x'), 404)
    const report = readFileSync(join(data, 'rebuild-report.txt'), 'utf8')
    assert.match(report, /"why":"part of an unknown upload",.*"key":"large",.*"part":1/)
  })

  it('is the same when it is rebuilt again, and can be backed up', async () => {
    cluster.kill('SIGTERM')
    assert.equal(await cluster.ended, 0)
    assert.match(await holdfast('rebuild', '--data', data), /Recovered objects and parts: 0\./)
    await holdfast('backup', '--data', data, '--to', backups)
    cluster = await startWith(['--data', data], environment)
    assert.equal((await ask('GET', '/papers/late')).text, 'late')
  })
})
