/** Damaged bytes of a pack that no object needs: they do not keep the pack for good, and are not dropped either. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { contents } from '../../../ports/volumes.suite.ts'
import type { DirectoryVolumes } from '../volumes.ts'
import { addressOf } from './names.ts'
import { store, withTree } from './test-tree.ts'

interface Damaged {
  readonly volumes: DirectoryVolumes
  readonly folder: string
  readonly blobs: readonly string[]
  readonly bodies: ReadonlyMap<string, Buffer>
  /** Those that somebody needs. */
  readonly needed: Set<string>
  readonly compact: (all?: boolean) => ReturnType<DirectoryVolumes['compact']>
}

/** A pack of ten blobs, of which the header of one is damaged. */
const withDamage = (use: (damaged: Damaged) => Promise<void>): Promise<void> =>
  withTree(async ({ folder, engine }) => {
    const writer = engine()
    const bodies = new Map<string, Buffer>()
    for (let nth = 0; nth < 10; nth++) {
      const bytes = randomBytes(5000)
      bodies.set(await store(writer, bytes), bytes)
    }
    await writer.close()
    const blobs = [...bodies.keys()]
    flip(folder, blobs[4] ?? '')
    const needed = new Set(blobs)
    const volumes = engine()
    const manner = {
      deadShare: 0.3,
      async *needed(beginning: string) {
        for (const one of needed) if (one.startsWith(beginning)) yield one
      },
    }
    await use({
      volumes,
      folder,
      blobs,
      bodies,
      needed,
      compact: (all = true) => volumes.compact('v1', { ...manner, all }),
    })
  })

function flip(folder: string, blob: string): void {
  const { pack = '', offset = 0 } = addressOf(blob) ?? {}
  const file = readFileSync(join(folder, pack))
  file[offset + 20] = (file[offset + 20] ?? 0) ^ 1
  writeFileSync(join(folder, pack), file)
}

const asideOf = (folder: string) => {
  const aside = join(folder, '../../../lost-and-found/unknown/v1')
  return existsSync(aside) ? readdirSync(aside).map((name) => join(aside, name)) : []
}
async function drop({ volumes, needed }: Damaged, blobs: readonly string[]): Promise<void> {
  for (const blob of blobs) {
    needed.delete(blob)
    await volumes.unlink('v1', blob)
  }
}
async function neededAreWhole({ volumes, bodies, needed }: Damaged, apartFrom = ''): Promise<void> {
  for (const blob of needed) {
    if (blob !== apartFrom) assert.ok((await contents(volumes, 'v1', blob)).equals(bodies.get(blob) ?? Buffer.alloc(0)))
  }
}

void describe('damaged bytes of a pack', () => {
  void it('that an object needs keep the pack as it is, which is looked at again when more is unlinked', () =>
    withDamage(async (damaged) => {
      const { blobs, folder, compact } = damaged
      const lost = { blob: blobs[4], isNeeded: true }
      assert.deepEqual((await compact()).damaged, [lost])
      assert.deepEqual((await compact(false)).damaged, [], 'it was looked at, and nothing has changed')
      await drop(damaged, blobs.slice(0, 4))
      const again = await compact(false)
      assert.deepEqual([again.damaged, again.freedBytes, again.setAside], [[lost], 0, 0])
      assert.deepEqual(asideOf(folder), [])
      await neededAreWhole(damaged, blobs[4])
    }))

  void it('that nobody needs go to lost-and-found when the pack is compacted, once', () =>
    withDamage(async (damaged) => {
      const { blobs, bodies, folder, compact } = damaged
      await drop(damaged, [blobs[4] ?? ''])
      const before = await compact()
      assert.deepEqual([before.damaged[0]?.isNeeded, before.setAside, before.freedBytes], [false, 0, 0])
      assert.deepEqual(asideOf(folder), [], 'it is not worth it yet')
      await drop(damaged, blobs.slice(0, 3))
      const { setAside, freedBytes, damaged: left } = await compact(false)
      assert.deepEqual([setAside, left], [1, []])
      assert.ok(freedBytes > 4 * 5000)
      const [file = '', ...others] = asideOf(folder)
      assert.deepEqual(others, [])
      assert.ok(readFileSync(file).includes(bodies.get(blobs[4] ?? '')?.subarray(0, 4000) ?? 'nothing'))
      await neededAreWhole(damaged)
      assert.deepEqual((await compact()).setAside, 0)
      assert.equal(asideOf(folder).length, 1)
    }))

  void it('do not keep a pack that nobody needs anything of', () =>
    withDamage(async (damaged) => {
      const { blobs, folder, compact } = damaged
      await drop(damaged, blobs)
      assert.equal((await compact()).setAside, 1)
      assert.deepEqual(readdirSync(folder), [])
      assert.equal(asideOf(folder).length, 1)
    }))
})
