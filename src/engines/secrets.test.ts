import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeSecrets, openSecrets } from './secrets.ts'

test('the cluster key is made once, alone in the folder, readable by its owner only', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-secrets-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'cluster.key')
  const made = await makeSecrets(file)
  const again = await openSecrets(file)
  assert.equal(again.unseal(made.seal('words')), 'words')
  assert.deepEqual(await readdir(folder), ['cluster.key'])
  assert.equal((await stat(file)).mode & 0o777, 0o600)
})

test('a cluster key that is missing, too short or unreadable is told, and no other is made in its place', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-secrets-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'cluster.key')
  await assert.rejects(openSecrets(file), /cluster key .* is missing/)
  await writeFile(file, randomBytes(31))
  await assert.rejects(openSecrets(file), /is damaged: it has 31 bytes/)
  await rm(file)
  await mkdir(file)
  await assert.rejects(openSecrets(file), /cannot be read/)
  assert.deepEqual(await readdir(folder), ['cluster.key'])
})

test('a sealed secret that was changed is not opened, and two seals of one secret differ', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-secrets-'))
  t.after(() => rm(folder, { recursive: true }))
  const secrets = await makeSecrets(join(folder, 'cluster.key'))
  const sealed = Buffer.from(secrets.seal('words'), 'base64')
  assert.notEqual(secrets.seal('words'), secrets.seal('words'))
  sealed[14] = (sealed[14] ?? 0) ^ 1
  assert.throws(() => secrets.unseal(sealed.toString('base64')))
})

test('a password is known by its hash, another is not', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-secrets-'))
  t.after(() => rm(folder, { recursive: true }))
  const secrets = await makeSecrets(join(folder, 'cluster.key'))
  const hash = await secrets.hashPassword('correct horse')
  assert.equal(await secrets.checkPassword('correct horse', hash), true)
  assert.equal(await secrets.checkPassword('correct hors', hash), false)
  assert.ok(!hash.includes('correct'))
})

test('a decoy has the form and the cost of a hash, and is that of no password', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-secrets-'))
  t.after(() => rm(folder, { recursive: true }))
  const secrets = await makeSecrets(join(folder, 'cluster.key'))
  const [hash, decoy] = [await secrets.hashPassword('words'), secrets.decoyHash()]
  const form = (text: string) => text.split(':').map((part, at) => (at < 2 ? part : Buffer.from(part, 'base64').length))
  assert.deepEqual(form(decoy), form(hash))
  assert.notEqual(decoy, secrets.decoyHash())
  assert.equal(await secrets.checkPassword('words', decoy), false)
})
