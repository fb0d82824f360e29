import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { newBlob, refusedWith } from '../../ports/volumes.suite.ts'
import { DirectoryVolumes } from './volumes.ts'

void describe('folders of aggregates', () => {
  const within = (use: (root: string) => Promise<void>) => async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), 'claims-')))
    try {
      await use(root)
    } finally {
      await rm(root, { recursive: true })
    }
  }

  void it(
    'a folder that was made for an aggregate goes with it, and its parents that were made too',
    within(async (root) => {
      const volumes = new DirectoryVolumes(join(root, 'a/b/c'), 'one')
      await volumes.claim('one', [])
      await volumes.claim('one', [])
      await volumes.create('v1')
      await volumes.remove('v1')
      await volumes.release('one')
      await volumes.release('one')
      assert.deepEqual(readdirSync(root), [])
    }),
  )

  void it(
    'blobs set aside go with it where nobody was answered for them; others stay, and so does their folder',
    within(async (root) => {
      for (const isUnacknowledged of [true, false]) {
        const folder = join(root, 'aggregate')
        const volumes = new DirectoryVolumes(folder, 'one')
        await volumes.claim('one', [])
        await volumes.create('v1')
        const blob = newBlob()
        await (await volumes.write('v1', blob)).commit(Buffer.from('{}'))
        await volumes.setAside('v1', blob, { nowMs: 1000, isUnacknowledged })
        await volumes.remove('v1')
        await volumes.release('one')
        assert.deepEqual(readdirSync(root), isUnacknowledged ? [] : ['aggregate'])
        if (isUnacknowledged) continue
        assert.deepEqual(readdirSync(folder, { recursive: true }), [
          'lost-and-found',
          'lost-and-found/unknown',
          'lost-and-found/unknown/v1',
          `lost-and-found/unknown/v1/${blob}.1000`,
        ])
        await refusedWith('exists', new DirectoryVolumes(folder, 'two').claim('two', []))
      }
    }),
  )

  void it(
    'an empty folder that was there stays, with what a new file system has in it',
    within(async (root) => {
      await mkdir(join(root, 'disk/lost+found'), { recursive: true })
      const volumes = new DirectoryVolumes(join(root, 'disk'), 'one')
      await volumes.claim('one', [])
      await volumes.release('one')
      assert.deepEqual(readdirSync(join(root, 'disk')), ['lost+found'])
    }),
  )

  void it(
    'a folder that holds anything, or is another aggregate’s, is refused and left as it was',
    within(async (root) => {
      await mkdir(join(root, 'used'))
      await writeFile(join(root, 'used/photo.jpg'), 'x')
      await refusedWith('exists', new DirectoryVolumes(join(root, 'used'), 'one').claim('one', []))
      assert.deepEqual(readdirSync(join(root, 'used')), ['photo.jpg'])
      await new DirectoryVolumes(join(root, 'a'), 'one').claim('one', [])
      const second = new DirectoryVolumes(join(root, 'a'), 'two')
      await refusedWith('exists', second.claim('two', []))
      await second.release('two')
      await new DirectoryVolumes(join(root, 'a'), 'one').space()
      await refusedWith('io', new DirectoryVolumes(join(root, 'used/photo.jpg/x'), 'one').claim('one', []))
    }),
  )

  void it(
    'a folder inside or around another aggregate is refused before anything is made, also through a link',
    within(async (root) => {
      const place = join(root, 'aggr1')
      await new DirectoryVolumes(place).create('v1')
      await symlink(place, join(root, 'link'))
      for (const path of ['aggr1', 'aggr1/new', 'link/new', 'link/volumes/v1/new', '.']) {
        await refusedWith('exists', new DirectoryVolumes(join(root, path), 'one').claim('one', [place]))
      }
      assert.ok(!existsSync(join(root, 'aggr1/new')))
      await new DirectoryVolumes(join(root, 'aggr12'), 'one').claim('one', [place])
    }),
  )

  void it(
    'an aggregate whose disk is not mounted is away for whoever asks, until it is back',
    within(async (root) => {
      const place = join(root, 'mount')
      const volumes = new DirectoryVolumes(place, 'one')
      await volumes.claim('one', [])
      await volumes.create('v1')
      const blob = newBlob()
      await (await volumes.write('v1', blob)).commit(Buffer.from('{}'))
      await rename(place, join(root, 'away'))
      await mkdir(place)
      await refusedWith('away', volumes.space())
      await refusedWith('away', volumes.create('v2'))
      await refusedWith('away', volumes.open('v1', blob))
      await refusedWith('away', volumes.write('v1', newBlob()))
      await refusedWith('away', volumes.unlink('v1', blob))
      await refusedWith('away', volumes.remove('v1'))
      assert.deepEqual(readdirSync(place), [])
      await rm(place, { recursive: true })
      await rename(join(root, 'away'), place)
      await (await volumes.open('v1', blob)).close()
      await refusedWith('missing', volumes.open('v1', newBlob()))
      assert.ok((await volumes.space()).sizeBytes > 0)
    }),
  )

  void it(
    'aggregates on one file system are told to be so',
    within(async (root) => {
      const [a, b] = ['a', 'b'].map((name) => new DirectoryVolumes(join(root, name)))
      assert.equal((await a?.space())?.disk, (await b?.space())?.disk)
      assert.notEqual((await new DirectoryVolumes('/proc').space()).disk, (await a?.space())?.disk)
    }),
  )
})
