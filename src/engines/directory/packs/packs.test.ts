import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { copyFile, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { crc32 } from 'node:zlib'
import { contents, newBlob, refusedWith } from '../../../ports/volumes.suite.ts'
import { Appender, PACK_BYTES } from './appender.ts'
import { addressOf, blobNameOf, FileNames, readFileName } from './names.ts'
import { recordHead } from './record.ts'
import { ALL, LABEL, namesIn, store, withTree } from './test-tree.ts'
import { WaitingBytes } from './waiting-bytes.ts'

void describe('names of packs', () => {
  void it('tell where a blob is, and how old its pack is', () => {
    const names = new FileNames('0123abcd')
    const pack = names.pack(1_795_245_436_000)
    assert.match(pack, /^01a1fcf76c600123abcd0001$/)
    const address = { pack, offset: 36, length: 4321 }
    assert.deepEqual(addressOf(blobNameOf(address)), address)
    assert.equal(blobNameOf(address).length, 39)
    for (const other of [newBlob(), '', '../x', `${blobNameOf(address)}0`]) assert.equal(addressOf(other), undefined)
    assert.equal(readFileName(names.fragment(pack))?.pack, pack)
    assert.equal(readFileName(pack)?.writer, '0123abcd')
    assert.equal(readFileName(`${names.fragment(pack)}.new`)?.isWhole, false)
    assert.throws(() => new FileNames('x'), RangeError)
  })
})

void describe('packs in a directory', () => {
  void it('a thousand small blobs are one file, and are reached without a look at others', () =>
    withTree(async ({ folder, engine }) => {
      const volumes = engine()
      const blobs = await Promise.all(Array.from({ length: 1000 }, () => store(volumes, randomBytes(500))))
      assert.equal(readdirSync(folder).length, 1)
      assert.equal(new Set(blobs).size, 1000)
      assert.ok(!existsSync(join(folder, '../objects/aa')))
    }))

  void it('whoever lists blobs may rest between reads of packs, and end the listing', () =>
    withTree(async ({ engine }) => {
      const volumes = engine()
      for (let nth = 0; nth < 4; nth++)
        await Promise.all(Array.from({ length: 20 }, () => store(volumes, randomBytes(20_000))))
      let readBytes = 0
      const between = (bytes: number) => {
        readBytes += bytes
        return Promise.resolve()
      }
      assert.equal((await Array.fromAsync(volumes.blobs('v1', { between }))).length, 80)
      assert.ok(readBytes >= 2 ** 20)
      const ended = new Error('It is enough.')
      const ending = volumes.blobs('v1', { between: () => Promise.reject(ended) })
      await assert.rejects(Array.fromAsync(ending), ended)
    }))

  void it('a size of 0 for what may be packed gives each blob a file', () =>
    withTree(async ({ folder, engine }) => {
      const volumes = engine({ bodyBytesMax: 0 })
      const blob = newBlob()
      assert.equal(await store(volumes, Buffer.from('abc'), blob), blob)
      assert.ok(!existsSync(folder))
    }))

  void it('two engines never append to one file', () =>
    withTree(async ({ folder, engine }) => {
      const two = [engine(), engine()]
      await Promise.all(Array.from({ length: 100 }, (_, nth) => store(two[nth % 2] ?? engine(), randomBytes(300))))
      assert.equal(readdirSync(folder).length, 2)
      assert.equal((await namesIn(engine())).size, 100)
    }))

  void it('a full pack is followed by another', () =>
    withTree(async ({ folder, engine }) => {
      const volumes = engine()
      const body = randomBytes(64 * 1024)
      const blobs: string[] = []
      for (let written = 0; written < PACK_BYTES * 1.2; written += 64 * body.length) {
        blobs.push(...(await Promise.all(Array.from({ length: 64 }, () => store(volumes, body)))))
      }
      assert.equal(readdirSync(folder).length, 2)
      const other = engine()
      for (const blob of blobs) assert.ok((await contents(other, 'v1', blob)).equals(body))
    }))

  void it('what was cut off at the end of a pack is not among the blobs, and what is before it stays', () =>
    withTree(async ({ folder, engine }) => {
      const volumes = engine()
      const [first, last] = [await store(volumes, randomBytes(4000)), await store(volumes, randomBytes(4000))]
      const [pack = ''] = readdirSync(folder)
      const whole = statSync(join(folder, pack)).size
      for (const cut of [1, 100, 4010]) {
        await truncate(join(folder, pack), whole - cut)
        const other = engine()
        assert.deepEqual(await namesIn(other), new Set([first]))
        assert.equal((await contents(other, 'v1', first)).length, 4000)
        await refusedWith('damaged', other.open('v1', last))
      }
    }))

  void it('a flipped bit in a record is damage of that blob and of no other, wherever it is', () =>
    withTree(async ({ folder, engine }) => {
      const volumes = engine()
      const bodies = Array.from({ length: 3 }, () => randomBytes(300))
      const blobs: string[] = []
      for (const body of bodies) blobs.push(await store(volumes, body))
      const [pack = ''] = readdirSync(folder)
      const file = await readFile(join(folder, pack))
      const { offset = 0, length = 0 } = addressOf(blobs[1] ?? '') ?? {}
      for (let at = offset; at < offset + length; at++) {
        // The state has no checksum: see damage.test.ts.
        if (at >= offset + 4 && at < offset + 8) continue
        const changed = Buffer.from(file)
        changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8))
        await writeFile(join(folder, pack), changed)
        await refusedWith('damaged', contents(volumes, 'v1', blobs[1] ?? ''))
        assert.ok((await contents(volumes, 'v1', blobs[2] ?? '')).equals(bodies[2] ?? LABEL))
        const listed = await namesIn(volumes)
        assert.ok(listed.has(blobs[0] ?? '') && listed.has(blobs[2] ?? ''))
      }
    }))

  void it('a record that is damaged in its head or its body is written anew under its name', () =>
    withTree(async ({ folder, engine }) => {
      const body = randomBytes(300)
      for (const within of [12, 200]) {
        const volumes = engine()
        const blob = await store(volumes, body)
        const [twin, other] = [await store(volumes, body), await store(volumes, randomBytes(300))]
        const { pack = '', offset = 0 } = addressOf(blob) ?? {}
        const file = await readFile(join(folder, pack))
        file[offset + within] = (file[offset + within] ?? 0) ^ 1
        await writeFile(join(folder, pack), file)
        await refusedWith('damaged', contents(volumes, 'v1', blob))
        const reader = await volumes.open('v1', twin)
        const label = await reader.label()
        await refusedWith('damaged', volumes.rewrite('v1', blob, reader, { label, crc: crc32(body) ^ 1 }))
        for (let times = 0; times < 2; times++) {
          const committed = await volumes.rewrite('v1', blob, reader, { label, crc: crc32(body) })
          assert.deepEqual(committed, { blob, storedBytes: 300, crc: crc32(body) })
        }
        for (const look of [volumes, engine()]) assert.ok((await contents(look, 'v1', blob)).equals(body))
        await volumes.open('v1', other)
        await volumes.close()
      }
    }))

  void it('bytes of a client that look like records are not taken for them', () =>
    withTree(async ({ folder, engine }) => {
      const volumes = engine()
      await store(volumes, randomBytes(400))
      const [pack = ''] = readdirSync(folder)
      const copied = await readFile(join(folder, pack))
      const other = engine()
      const blob = await store(other, copied)
      const [, second = ''] = readdirSync(folder).toSorted()
      const { offset = 0 } = addressOf(blob) ?? {}
      const file = await readFile(join(folder, second))
      // Its header is damaged, so what comes next is looked for in its body.
      file[offset + 12] = (file[offset + 12] ?? 0) ^ 1
      await writeFile(join(folder, second), file)
      assert.equal((await namesIn(engine())).size, 1)
    }))

  void it('a pack whose space is mostly of unlinked blobs becomes smaller, and one without blobs goes', () =>
    withTree(async ({ folder, engine }) => {
      const volumes = engine()
      const blobs = await Promise.all(Array.from({ length: 100 }, () => store(volumes, randomBytes(4000))))
      const isUnderWay = await volumes.compact('v1', ALL)
      assert.deepEqual([isUnderWay.waiting, isUnderWay.freedBytes], [1, 0])
      await volumes.close()
      const compactor = engine()
      for (const blob of blobs.slice(0, 20)) await compactor.unlink('v1', blob)
      assert.equal((await compactor.compact('v1', ALL)).freedBytes, 0)
      for (const blob of blobs.slice(20, 60)) await compactor.unlink('v1', blob)
      const before = await compactor.packs()
      assert.ok((before?.deadBytes ?? 0) > 60 * 4000 && before?.compactedMs === undefined)
      const { freedBytes } = await compactor.compact('v1', { deadShare: 0.3 })
      assert.ok(freedBytes > 60 * 4000 - 10_000, `${freedBytes}`)
      const left = readdirSync(folder).map((name) => statSync(join(folder, name)).size)
      assert.ok(left.length === 1 && (left[0] ?? 0) < 45 * 4200)
      const counted = async () => {
        for (;;) {
          const sums = await compactor.packs()
          if (sums !== undefined && sums.bytes === left[0]) return sums
          await new Promise(setImmediate)
        }
      }
      const after = await counted()
      assert.deepEqual([after.files, after.deadBytes], [1, 0])
      assert.ok((after.compactedMs ?? 0) > 0)
      assert.deepEqual(await namesIn(engine()), new Set(blobs.slice(60)))
      for (const blob of blobs.slice(60)) await compactor.unlink('v1', blob)
      await compactor.compact('v1', { deadShare: 0.3 })
      assert.deepEqual(readdirSync(folder), [])
    }))

  void it('what is unlinked while its pack is copied is had back the next time', () =>
    withTree(async ({ folder, engine }) => {
      const volumes = engine()
      const blobs = await Promise.all(Array.from({ length: 1000 }, () => store(volumes, randomBytes(4000))))
      await volumes.close()
      const compactor = engine()
      for (const blob of blobs.slice(0, 500)) await compactor.unlink('v1', blob)
      let left = blobs.slice(500)
      // The pieces read come first, then those that are copied.
      let pieces = 0
      const between = async () => {
        if (++pieces < 5) return
        for (const blob of left) await compactor.unlink('v1', blob)
        left = []
      }
      await compactor.compact('v1', { ...ALL, between })
      assert.deepEqual(left, [])
      assert.deepEqual(await namesIn(engine()), new Set())
      await compactor.compact('v1', { deadShare: 0.3 })
      assert.deepEqual(readdirSync(folder), [])
    }))

  void it('after a crash amid compaction each blob is there once, and what was unlinked stays so', () =>
    withTree(async ({ folder, engine }) => {
      const volumes = engine()
      const blobs = await Promise.all(Array.from({ length: 50 }, () => store(volumes, randomBytes(2000))))
      await volumes.close()
      const [pack = ''] = readdirSync(folder)
      const compactor = engine()
      for (const blob of blobs.slice(0, 20)) await compactor.unlink('v1', blob)
      const before = join(folder, '..', 'before')
      await copyFile(join(folder, pack), before)
      await compactor.compact('v1', ALL)
      // It ended before the old file went, and left another one that was not whole.
      await copyFile(before, join(folder, pack))
      await writeFile(join(folder, `${pack}.0123456700ff.new`), 'half of it')
      const after = engine()
      for (const blob of blobs.slice(20, 30)) await after.unlink('v1', blob)
      const left = new Set(blobs.slice(30))
      assert.deepEqual(await namesIn(after), left)
      const last = engine()
      await last.compact('v1', ALL)
      assert.equal(readdirSync(folder).length, 1)
      assert.deepEqual(await namesIn(last), left)
      for (const blob of left) assert.equal((await contents(last, 'v1', blob)).length, 2000)
    }))

  void it('a pack with damage between its records stays as it is', () =>
    withTree(async ({ folder, engine }) => {
      const volumes = engine()
      const blobs: string[] = []
      for (let nth = 0; nth < 10; nth++) blobs.push(await store(volumes, randomBytes(1000)))
      await volumes.close()
      const [pack = ''] = readdirSync(folder)
      const file = await readFile(join(folder, pack))
      const { offset = 0 } = addressOf(blobs[5] ?? '') ?? {}
      file[offset + 12] = (file[offset + 12] ?? 0) ^ 1
      await writeFile(join(folder, pack), file)
      const compactor = engine()
      for (const blob of blobs.slice(0, 5)) await compactor.unlink('v1', blob)
      const { damaged, freedBytes } = await compactor.compact('v1', ALL)
      assert.deepEqual(damaged, [{ blob: blobs[5], isNeeded: false }])
      assert.equal(freedBytes, 0)
      assert.equal(readFileSync(join(folder, pack)).length, file.length)
      assert.deepEqual(await namesIn(compactor), new Set(blobs.slice(6)))
    }))

  void it('a failed sync refuses its records and is the end of the pack; what was answered before stays', () =>
    withTree(async ({ folder, engine }) => {
      await store(engine(), Buffer.from('to make the folder'))
      const names = new FileNames('ffffffff')
      let fails = false
      const appender = new Appender(
        {
          folder,
          newFile: () => {
            const name = names.pack(Date.now())
            return { name, pack: name }
          },
          ensureFolder: async () => {},
          syncFolder: async () => {},
          datasync: async () => {
            if (fails) throw Object.assign(new Error('EIO'), { code: 'EIO' })
          },
        },
        { copies: false, waiting: new WaitingBytes(Infinity) },
      )
      const append = (body: Buffer) => {
        const draft = { isFrame: false, sizeBytes: body.length, storedBytes: body.length, crc: 0 }
        return appender.append(recordHead(LABEL, draft), body)
      }
      const first = await append(randomBytes(100))
      fails = true
      await refusedWith('io', append(randomBytes(100)))
      await refusedWith('io', append(randomBytes(100)))
      fails = false
      const last = await append(randomBytes(100))
      assert.notEqual(addressOf(first)?.pack, addressOf(last)?.pack)
      const listed = (await Array.fromAsync(engine().blobs('v1'))).filter((blob) => blob.includes('ffffffff'))
      assert.deepEqual(new Set(listed), new Set([first, last]))
      await appender.close()
    }))

  void it('whatever is answered is whole when the process is killed, at any moment', () =>
    withTree(async ({ folder, engine }) => {
      const aggregate = join(folder, '../../..')
      const program = fileURLToPath(new URL('run-packs.ts', import.meta.url))
      for (let kills = 0; kills < 3; kills++) {
        const child = fork(program, [aggregate], { serialization: 'advanced' })
        const answered: { readonly blob: string; readonly crc: string }[] = []
        child.on('message', (one: { blob: string; crc: string }) => {
          answered.push(one)
          if (answered.length === 40 + kills * 37) child.kill('SIGKILL')
        })
        await once(child, 'exit')
        const volumes = engine()
        const listed = await namesIn(volumes)
        for (const { blob, crc } of answered) {
          assert.ok(listed.has(blob))
          const bytes = await contents(volumes, 'v1', blob)
          assert.equal(bytes.toString('latin1', 0, 16), crc)
        }
        for (const blob of listed) assert.ok((await contents(volumes, 'v1', blob)).length > 0)
      }
    }))
})
