import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSecrets } from './secrets.ts'

test('the cluster key is made once, alone in the folder, readable by its owner only', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-secrets-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = join(folder, 'cluster.key')
  const made = await Promise.all([openSecrets(file), openSecrets(file), openSecrets(file)])
  const again = await openSecrets(file)
  for (const secrets of made) assert.equal(again.unseal(secrets.seal('words')), 'words')
  assert.deepEqual(await readdir(folder), ['cluster.key'])
  assert.equal((await stat(file)).mode & 0o777, 0o600)
})

test('a sealed secret that was changed is not opened, and two seals of one secret differ', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-secrets-'))
  t.after(() => rm(folder, { recursive: true }))
  const secrets = await openSecrets(join(folder, 'cluster.key'))
  const sealed = Buffer.from(secrets.seal('words'), 'base64')
  assert.notEqual(secrets.seal('words'), secrets.seal('words'))
  sealed[14] = (sealed[14] ?? 0) ^ 1
  assert.throws(() => secrets.unseal(sealed.toString('base64')))
})

test('a password is known by its hash, another is not', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-secrets-'))
  t.after(() => rm(folder, { recursive: true }))
  const secrets = await openSecrets(join(folder, 'cluster.key'))
  const hash = await secrets.hashPassword('correct horse')
  assert.equal(await secrets.checkPassword('correct horse', hash), true)
  assert.equal(await secrets.checkPassword('correct hors', hash), false)
  assert.ok(!hash.includes('correct'))
})
