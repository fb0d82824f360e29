import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const OWN_MOUNTS = ['--user', '--map-root-user', '--mount']
const PROGRAM = fileURLToPath(new URL('run-full-disk.ts', import.meta.url))
const canMount = spawnSync('unshare', [...OWN_MOUNTS, 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()]).status === 0
const skip = canMount ? false : 'this machine lets nobody mount anything, even for themselves'

test('on a disk that is full of small blobs, unlinking some makes room for others, and loses none', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'packs-full-'))
  const script = 'mount -t tmpfs -o size=8m tmpfs "$1" && exec "$2" "$3" "$1"'
  const ran = spawnSync('unshare', [...OWN_MOUNTS, 'sh', '-c', script, 'sh', folder, process.execPath, PROGRAM], {
    encoding: 'utf8',
  })
  rmdirSync(folder)
  assert.equal(ran.status, 0, ran.stderr)
  const { filled, freedBytes, filledAgain, whole, held, listed } = JSON.parse(ran.stdout) as Record<string, number>
  assert.ok((filled ?? 0) > 1500, ran.stdout)
  assert.ok((freedBytes ?? 0) > 2_000_000, ran.stdout)
  assert.ok((filledAgain ?? 0) > 400, ran.stdout)
  assert.equal(whole, 3 * (held ?? 0), ran.stdout)
  assert.equal(listed, held, ran.stdout)
})
