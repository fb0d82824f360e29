import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isWhole } from '../../../test/support/whole.ts'
import { CatalogUnavailable } from '../../ports/catalog.ts'
import { proveCatalog } from '../../ports/catalog.suite.ts'
import { draft, listed, openBucket, put } from '../../ports/catalog/fixtures.suite.ts'
import { contents, newBlob, proveVolumes, refusedWith } from '../../ports/volumes.suite.ts'
import { provePacks } from '../../ports/volumes-packs.suite.ts'
import { openSqliteCatalog } from '../sqlite/catalog.ts'
import { SimulatedClock } from './clock.ts'
import { faultyCatalog } from './faulty-catalog.ts'
import { SimulatedRandom } from './random.ts'
import { SimulatedVolumes } from './volumes.ts'

const memory = () => openSqliteCatalog({ file: ':memory:', commit: 'in-process' })

const inMemory = async () => {
  const volumes = new SimulatedVolumes({ random: new SimulatedRandom(1) })
  return { volumes, reopen: async () => volumes, close: async () => {} }
}
proveVolumes('simulated', inMemory)
provePacks('simulated', inMemory)

proveCatalog(
  'with faults that never come',
  async () => {
    const catalog = faultyCatalog(memory(), { random: new SimulatedRandom(1), faults: {} })
    return { catalog, reopen: async () => catalog, close: () => catalog.close() }
  },
  { runs: isWhole ? 60 : 3 },
)

void describe('simulated chance', () => {
  void it('is the same for the same seed, and other for another', () => {
    const draw = (seed: number) => {
      const random = new SimulatedRandom(seed)
      return [random.uuid(), random.bytes(8).toString('hex'), random.below(1e6), random.chance(0.5)]
    }
    assert.deepEqual(draw(7), draw(7))
    assert.notDeepEqual(draw(7), draw(8))
    assert.match(new SimulatedRandom(3).uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  void it('keeps to its probabilities', () => {
    const random = new SimulatedRandom(11)
    let hits = 0
    for (let i = 0; i < 10_000; i++) if (random.chance(0.3)) hits++
    assert.ok(hits > 2700 && hits < 3300, `${hits}`)
  })
})

void describe('simulated time', () => {
  void it('stands still until it is moved, and wakes sleepers in the order of their times', async () => {
    const clock = new SimulatedClock(1000)
    const woken: string[] = []
    const sleep = async (name: string, ms: number) => {
      await clock.sleep(ms)
      woken.push(`${name} at ${clock.now()}`)
    }
    const all = [sleep('c', 30), sleep('a', 10), sleep('b', 10)]
    all.push(clock.sleep(5).then(() => sleep('d', 10)))
    await clock.advance(29)
    assert.deepEqual(woken, ['a at 1010', 'b at 1010', 'd at 1015'])
    assert.equal(clock.elapsed(), 29)
    await clock.until(Promise.all(all))
    assert.equal(clock.now(), 1030)
    assert.equal(clock.sleeping, 0)
    await assert.rejects(clock.until(new Promise(() => {})), /Everybody waits/)
  })

  void it('a sleep ends early, without an error, when its signal aborts', async () => {
    const clock = new SimulatedClock()
    const end = new AbortController()
    const slept = clock.sleep(1000, end.signal)
    end.abort()
    await slept
    await clock.sleep(1000, end.signal)
    assert.equal(clock.sleeping, 0)
  })
})

void describe('simulated volumes', () => {
  const opened = async () => {
    const volumes = new SimulatedVolumes({ random: new SimulatedRandom(5), capacityBytes: 100 })
    await volumes.create('v')
    return volumes
  }

  void it('the call that was told to fail fails, and leaves nothing', async () => {
    for (const [call, reason] of [
      [1, 'no-space'],
      [2, 'io'],
      [3, 'no-space'],
    ] as const) {
      const volumes = await opened()
      volumes.failCall(call, reason)
      const attempt = async () => {
        const writer = await volumes.write('v', newBlob())
        await writer.write(Buffer.from('abc'))
        await writer.commit(Buffer.alloc(0))
      }
      await refusedWith(reason, attempt())
      assert.deepEqual(await Array.fromAsync(volumes.blobs('v')), [])
      await attempt()
    }
  })

  void it('a crash keeps what was committed; the rest is gone or unfinished, and its writers fail', async () => {
    const volumes = await opened()
    const done = newBlob()
    const writer = await volumes.write('v', done)
    await writer.write(Buffer.from('abc'))
    await writer.commit(Buffer.alloc(0))
    const open = await Promise.all(Array.from({ length: 20 }, () => volumes.write('v', newBlob())))
    volumes.crash()
    assert.equal(String(await contents(volumes, 'v', done)), 'abc')
    const left = (await Array.fromAsync(volumes.blobs('v'))).filter((blob) => blob !== done)
    assert.ok(left.length > 0 && left.length < 20)
    for (const blob of left) await refusedWith('damaged', volumes.open('v', blob))
    for (const one of open) await refusedWith('io', one.commit(Buffer.alloc(0)))
  })

  void it('a full disk takes no more', async () => {
    const volumes = await opened()
    const writer = await volumes.write('v', newBlob())
    await writer.write(Buffer.alloc(100))
    await refusedWith('no-space', writer.write(Buffer.alloc(1)))
    assert.equal((await volumes.space()).availableBytes, 100)
  })
})

void describe('a faulty catalog', () => {
  void it('fails commits before they are done, or loses their answers, as its seed says', async () => {
    const run = async (failBefore: number, loseAnswer: number) => {
      const real = memory()
      await openBucket(real, 'b')
      const clock = new SimulatedClock()
      const faults = { failBefore, loseAnswer, delayMs: 10 }
      const catalog = faultyCatalog(real, { random: new SimulatedRandom(9), clock, faults })
      const commits = Array.from({ length: 20 }, (_, i) => catalog.commit([put('b', `k${i}`, draft(`b${i}`))]))
      const settled = await clock.until(Promise.allSettled(commits))
      for (const one of settled) assert.ok(one.status === 'fulfilled' || one.reason instanceof CatalogUnavailable)
      const stored = (await listed(catalog, 'b')).length
      await catalog.close()
      return [settled.filter(({ status }) => status === 'fulfilled').length, stored]
    }
    assert.deepEqual(await run(1, 0), [0, 0])
    assert.deepEqual(await run(0, 1), [0, 20])
    const [answered = 0, stored = 0] = await run(0.3, 0.3)
    assert.ok(answered > 0 && answered < stored && stored < 20)
    assert.deepEqual(await run(0.3, 0.3), [answered, stored])
  })
})
