import assert from 'node:assert/strict'
import { createHash, randomFillSync } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { NewFile } from './new-file.ts'

const KIB = 1024
const PIECE = 512 * KIB

let folder: string
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-new-file-'))
})
after(() => rm(folder, { recursive: true }))

/** Memory that begins at a page, as that of bodies. */
const atPage = (bytes: number): Buffer =>
  randomFillSync(Buffer.from(new ArrayBuffer(bytes, { maxByteLength: bytes }), 0, bytes))

/** The pieces are appended in groups, and must be what the file has then. */
async function roundTrip(name: string, groups: readonly (readonly Uint8Array[])[]): Promise<void> {
  const path = join(folder, name)
  const file = await NewFile.open(path, 'wx', 0o600)
  for (const group of groups) await file.append(group)
  await file.sync()
  await file.close()
  const expected = createHash('sha256')
  for (const piece of groups.flat()) expected.update(piece)
  const found = createHash('sha256').update(await readFile(path))
  assert.equal(found.digest('hex'), expected.digest('hex'))
}

void describe('a file that is being written', () => {
  void it('has what was written directly and what was not, in order', async () => {
    const end = randomFillSync(Buffer.alloc(1234))
    await roundTrip('direct', [[atPage(PIECE)], [atPage(PIECE)], [end]])
    await roundTrip('between', [[atPage(PIECE)], [atPage(64 * KIB)], [atPage(PIECE)], [end, end]])
    await roundTrip('misplaced', [[end], [atPage(PIECE)], [atPage(PIECE)]])
    await roundTrip('groups', [[atPage(PIECE), end], [atPage(PIECE)], [end]])
  })

  void it('takes large pieces from any memory', async () => {
    const whole = atPage(PIECE + 8 * KIB)
    for (const from of [1, 16, 512, 4096]) {
      await roundTrip(`from-${from}`, [[whole.subarray(from, from + PIECE)], [atPage(PIECE)]])
    }
  })

  void it('that must be new is refused where there is one', async () => {
    const path = join(folder, 'there')
    const first = await NewFile.open(path, 'wx', 0o600)
    await first.close()
    await assert.rejects(NewFile.open(path, 'wx', 0o600), { code: 'EEXIST' })
  })
})
