/**
 * Quotas against a model that is written straight and slow: it reads all rows and parts of a volume, and adds up.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Catalog, Change, ObjectDraft, QuotaLimits, QuotaRow, QuotaTarget } from '../../catalog.ts'
import { CommitRefused } from '../../catalog.ts'
import { bytes, draft, openBucket, part, put, reclaimAll, refused, takeSnapshot, text } from '../fixtures.suite.ts'
import { SEED } from '../model/steps.suite.ts'

const USERS = ['anna', 'bert', '']
const KEYS = ['a', 'b', 'c']
const BUCKETS = 2

export function proveQuotas(catalog: () => Catalog, reopen: () => Promise<Catalog>, numRuns: number): void {
  const set = (volume: string, quota: QuotaTarget, limits: QuotaLimits | null) =>
    catalog().commit([{ do: 'set-quota', volume, quota, limits }])
  const owned = (blob: string, sizeBytes: number, owner: string) => draft(blob, sizeBytes, { owner })
  const shown = async (volume: string) =>
    (await catalog().quotas(volume)).map(
      ({ type, tree, name, usedBytes, usedFiles }) =>
        `${type} ${tree ?? '-'} ${name ?? '-'}: ${usedBytes}, ${usedFiles}`,
    )

  void describe('quotas', () => {
    void it('a user holds no more than the hard limit, while others go on', async () => {
      await openBucket(catalog(), 'q1')
      await set('q1-v', { type: 'user', name: 'anna' }, { hardBytes: 10 })
      await catalog().commit([put('q1', 'a', owned('a1', 6, 'anna'))])
      await refused('full', catalog().commit([put('q1', 'b', owned('b1', 5, 'anna'))]), { scope: 'quota:user' })
      await catalog().commit([put('q1', 'b', owned('b2', 5, 'bert')), put('q1', 'c', owned('c1', 4, 'anna'))])
      // What is replaced makes room, whoever it belonged to.
      await catalog().commit([put('q1', 'a', owned('a2', 6, 'anna'))])
      await catalog().commit([put('q1', 'a', owned('a3', 20, 'bert'))])
      await catalog().commit([put('q1', 'd', owned('d1', 6, 'anna'))])
      assert.deepEqual(await shown('q1-v'), ['user - anna: 10, 2'])
    })

    void it('default limits hold for each who has none, and for nobody who has some', async () => {
      await openBucket(catalog(), 'q2')
      await set('q2-v', { type: 'user', name: '' }, { hardFiles: 1 })
      await set('q2-v', { type: 'user', name: 'bert' }, {})
      await catalog().commit([put('q2', 'a', owned('a1', 1, 'anna'))])
      await refused('full', catalog().commit([put('q2', 'b', owned('b1', 1, 'anna'))]), { scope: 'quota:user' })
      await catalog().commit([put('q2', 'b', owned('b2', 1, 'bert')), put('q2', 'c', owned('c1', 1, 'bert'))])
      const rows = await catalog().quotas('q2-v')
      assert.deepEqual(
        rows
          .map(({ name, isRuled, usedFiles, limits }) => [name, isRuled, usedFiles, limits])
          .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
        [
          ['', true, 0, { hardFiles: 1 }],
          ['anna', false, 1, { hardFiles: 1 }],
          ['bert', true, 2, {}],
        ],
      )
      await set('q2-v', { type: 'user', name: 'bert' }, null)
      await refused('full', catalog().commit([put('q2', 'd', owned('d1', 1, 'bert'))]))
    })

    void it('what hard limits leave to an owner is told, whoever they are set for', async () => {
      await openBucket(catalog(), 'q0')
      const room = (owner: string) => catalog().quotaRoom('q0-v', owner)
      assert.deepEqual(await room('anna'), [])
      await set('q0-v', { type: 'user', name: '' }, { hardBytes: 10 })
      await set('q0-v', { type: 'user', name: 'bert' }, { hardFiles: 1, softBytes: 1 })
      await set('q0-v', { type: 'tree', tree: 0 }, { hardBytes: 100 })
      await catalog().commit([put('q0', 'a', owned('a1', 7, 'anna')), put('q0', 'b', owned('b1', 50, 'bert'))])
      const tree = { type: 'tree', bytes: 43, files: Infinity }
      assert.deepEqual(await room('anna'), [tree, { type: 'user', bytes: 3, files: Infinity }])
      assert.deepEqual(await room('bert'), [tree, { type: 'user', bytes: Infinity, files: 0 }])
      assert.deepEqual(await room('carl'), [tree, { type: 'user', bytes: 10, files: Infinity }])
      assert.deepEqual(await room(''), [tree])
      await set('q0-v', { type: 'user', name: 'anna' }, { hardBytes: 5 })
      assert.deepEqual(await room('anna'), [tree, { type: 'user', bytes: -2, files: Infinity }])
      assert.deepEqual(await catalog().quotaRoom('no-volume', 'anna'), [])
    })

    void it('copies of one object may count for more than 2^53 bytes, which are exact again when they go', async () => {
      const object = owned('b', 2 ** 52 - 1, 'anna')
      const buckets = ['a', 'b', 'c', 'd'].map((letter) => `q19-${letter}`)
      await catalog().commit([{ do: 'open-volume', volume: 'q19-v', sizeBytes: 2 ** 52 }])
      await set('q19-v', { type: 'user', name: 'anna' }, { softBytes: 1 })
      for (const bucket of buckets) {
        await catalog().commit([
          { do: 'open-bucket', bucket, volume: 'q19-v', limitBytes: 2 ** 52 },
          put(bucket, 'k', object),
        ])
      }
      assert.deepEqual(await shown('q19-v'), [`user - anna: ${Number.MAX_SAFE_INTEGER}, 4`])
      await reopen()
      await refused('full', catalog().commit([put('q19-a', 'l', owned('c', 2, 'anna'))]), { scope: 'bucket' })
      await set('q19-v', { type: 'user', name: 'anna' }, { hardBytes: Number.MAX_SAFE_INTEGER })
      await refused('full', catalog().commit([put('q19-a', 'l', owned('c', 1, 'anna'))]), { scope: 'quota:user' })
      for (const bucket of buckets.slice(1)) {
        await catalog().commit([{ do: 'delete-object', bucket, key: bytes('k') }])
      }
      assert.deepEqual(await shown('q19-v'), [`user - anna: ${2 ** 52 - 1}, 1`])
    })

    void it('objects lie in the default qtree, for which the default limits of qtrees hold', async () => {
      await openBucket(catalog(), 'q3')
      await catalog().commit([put('q3', 'a', owned('a1', 6, ''))])
      assert.deepEqual(await shown('q3-v'), [])
      await set('q3-v', { type: 'tree' }, { hardBytes: 10 })
      await refused('full', catalog().commit([put('q3', 'b', owned('b1', 5, ''))]), { scope: 'quota:tree' })
      assert.deepEqual((await shown('q3-v')).toSorted(), ['tree - -: 0, 0', 'tree 0 -: 6, 1'])
    })

    void it('limits below what is held refuse what grows, and nothing else', async () => {
      await openBucket(catalog(), 'q4')
      await catalog().commit([put('q4', 'a', owned('a1', 6, 'anna')), put('q4', 'b', owned('b1', 6, 'anna'))])
      await set('q4-v', { type: 'user', name: 'anna' }, { hardBytes: 5, hardFiles: 1 })
      await catalog().commit([put('q4', 'a', owned('a2', 5, 'anna'))])
      await refused('full', catalog().commit([put('q4', 'a', owned('a3', 6, 'anna'))]))
      await catalog().commit([{ do: 'delete-object', bucket: 'q4', key: bytes('a') }])
      await catalog().commit([{ do: 'clear-quotas', volume: 'q4-v' }])
      await catalog().commit([put('q4', 'a', owned('a4', 60, 'anna'))])
      assert.deepEqual(await shown('q4-v'), [])
    })

    void it('an index stays the same, also when what it names holds more', async () => {
      await openBucket(catalog(), 'q5')
      await set('q5-v', { type: 'user', name: 'anna' }, {})
      const [before] = await catalog().quotas('q5-v')
      await catalog().commit([put('q5', 'a', owned('a1', 6, 'anna'))])
      await set('q5-v', { type: 'user', name: 'anna' }, { softBytes: 1 })
      const [after] = await catalog().quotas('q5-v')
      assert.deepEqual(after, { ...before, usedBytes: 6, usedFiles: 1, limits: { softBytes: 1 } })
    })

    void it('a volume that is closed takes its quotas with it', async () => {
      await openBucket(catalog(), 'q6')
      await set('q6-v', { type: 'user', name: 'anna' }, { hardBytes: 1 })
      await catalog().commit([
        { do: 'close-bucket', bucket: 'q6' },
        { do: 'close-volume', volume: 'q6-v' },
      ])
      await refused('missing', set('q6-v', { type: 'user', name: 'anna' }, {}))
      await openBucket(catalog(), 'q6')
      assert.deepEqual(await shown('q6-v'), [])
      await catalog().commit([put('q6', 'a', owned('a1', 6, 'anna'))])
    })

    void it(`sums are those of the rows, and limits hold, whatever is done (SEED=${SEED})`, async () => {
      let runs = 0
      const property = fc.asyncProperty(fc.array(step, { maxLength: 40, size: 'max' }), async (steps) => {
        const run = new Run(catalog(), `quotas-${++runs}`)
        await run.open()
        for (const one of steps) await run.take(one)
      })
      await fc.assert(property, { seed: SEED, numRuns })
    })
  })
}

const bucket = fc.nat(BUCKETS - 1)
const key = fc.constantFrom(...KEYS)
const owner = fc.constantFrom(...USERS)
const size = fc.integer({ min: 0, max: 9 })
const which = fc.nat(2)
const limit = fc.integer({ min: 0, max: 30 })
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('put' as const), bucket, key, owner, size }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), bucket, key }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('delete version' as const), bucket, key, which }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('version' as const),
      bucket,
      state: fc.constantFrom('enabled' as const, 'suspended' as const),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('amend' as const), bucket, key }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('part' as const), bucket, number: which, size }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('complete' as const), bucket, last: which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('abort' as const), bucket, owner }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('set' as const),
      quota: fc.oneof(
        fc.record({ type: fc.constant('tree' as const) }),
        fc.record({ type: fc.constant('tree' as const), tree: fc.constant(0) }),
        fc.record({ type: fc.constant('user' as const), name: owner }),
      ),
      limits: fc.option(fc.record({ hardBytes: limit, hardFiles: fc.nat(4) }, { requiredKeys: [] }), { freq: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('snapshot' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('drop' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('go back' as const), which, limit: fc.integer({ min: 1, max: 3 }) }),
  },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

interface Sums {
  bytes: number
  files: number
}

class Run {
  readonly #catalog: Catalog
  readonly #name: string
  readonly #limits = new Map<string, QuotaLimits>()
  readonly #uploaders: string[] = Array.from({ length: BUCKETS }, () => 'anna')
  #snapshots: string[] = []
  #made = 0

  constructor(catalog: Catalog, name: string) {
    this.#catalog = catalog
    this.#name = name
  }

  #bucket = (n: number) => `${this.#name}-${n}`
  #openUpload = (n: number): Change => ({
    do: 'open-upload',
    bucket: this.#bucket(n),
    upload: { upload: 'u', key: bytes('a'), startedMs: 1, details: { owner: this.#uploaders[n] ?? '' } },
  })
  #draft = (sizeBytes: number, owner: string): ObjectDraft => ({
    ...draft(`${this.#name}:${++this.#made}`, sizeBytes, { owner }),
    version: `v${this.#made}`,
  })

  async open(): Promise<void> {
    await this.#catalog.commit([{ do: 'open-volume', volume: this.#name, sizeBytes: 1e9 }])
    for (let n = 0; n < BUCKETS; n++) {
      await this.#catalog.commit([
        { do: 'open-bucket', bucket: this.#bucket(n), volume: this.#name, limitBytes: 1e9 },
        this.#openUpload(n),
      ])
    }
  }

  async take(step: Step): Promise<void> {
    const volume = this.#name
    switch (step.do) {
      case 'put':
        await this.#attempt(put(this.#bucket(step.bucket), step.key, this.#draft(step.size, step.owner)))
        break
      case 'delete': {
        const marker = { version: `m${++this.#made}`, modifiedMs: 1, details: { owner: 'anna' } }
        await this.#attempt({ do: 'delete-object', bucket: this.#bucket(step.bucket), key: bytes(step.key), marker })
        break
      }
      case 'delete version': {
        const rows = await this.#rowsOf(step.bucket)
        const row = rows.filter((one) => text(one.key) === step.key)[step.which]
        const version = row?.version ?? 'never'
        await this.#attempt({ do: 'delete-object', bucket: this.#bucket(step.bucket), key: bytes(step.key), version })
        break
      }
      case 'version':
        await this.#attempt({ do: 'version-bucket', bucket: this.#bucket(step.bucket), state: step.state })
        break
      case 'amend': {
        const change = {
          do: 'amend-object',
          bucket: this.#bucket(step.bucket),
          key: bytes(step.key),
          nowMs: 1,
        } as const
        await this.#catalog.commit([{ ...change, details: { tag: 'new' } }]).catch(insistOnRefusal)
        break
      }
      case 'part': {
        const bucket = this.#bucket(step.bucket)
        const blob = `${this.#name}:${++this.#made}`
        const row = {
          ...part(step.number, blob, step.size),
          blobs: step.size === 0 ? [] : [{ blob, sizeBytes: step.size }],
        }
        await this.#attempt({ do: 'put-part', bucket, upload: 'u', part: row, maxTotalBytes: 1e9 })
        break
      }
      case 'complete': {
        const [n, bucket] = [step.bucket, this.#bucket(step.bucket)]
        const parts = (await this.#catalog.parts(bucket, 'u', -1, 100)).filter(({ number }) => number <= step.last)
        const object = this.#draft(0, this.#uploaders[n] ?? '')
        const names = parts.map(({ number, etag }) => ({ number, etag }))
        await this.#attempt({ do: 'complete-upload', bucket, upload: 'u', parts: names, object })
        if ((await this.#catalog.upload(bucket, 'u')) === undefined) await this.#catalog.commit([this.#openUpload(n)])
        break
      }
      case 'abort':
        this.#uploaders[step.bucket] = step.owner
        await this.#catalog.commit([
          { do: 'abort-upload', bucket: this.#bucket(step.bucket), upload: 'u' },
          this.#openUpload(step.bucket),
        ])
        break
      case 'set': {
        const { quota, limits } = step
        await this.#catalog.commit([{ do: 'set-quota', volume, quota, limits }])
        if (limits === null) this.#limits.delete(nameOf(quota))
        else this.#limits.set(nameOf(quota), { ...limits })
        break
      }
      case 'clear':
        await this.#catalog.commit([{ do: 'clear-quotas', volume }])
        this.#limits.clear()
        break
      case 'snapshot': {
        const uuid = `${volume}:s${++this.#made}`
        await takeSnapshot(this.#catalog, volume, uuid)
        this.#snapshots.push(uuid)
        break
      }
      case 'drop': {
        const [snapshot] = this.#snapshots.splice(step.which, 1)
        if (snapshot !== undefined) await this.#catalog.commit([{ do: 'drop-snapshot', volume, snapshot }])
        await reclaimAll(this.#catalog, volume, 2)
        break
      }
      case 'go back': {
        const snapshot = this.#snapshots[step.which]
        if (snapshot === undefined) break
        this.#snapshots = this.#snapshots.slice(0, step.which + 1)
        await this.#catalog.commit([{ do: 'begin-restore', volume, snapshot }])
        for (let after: string | undefined; ;) {
          const from = after === undefined ? {} : { after }
          const [outcome] = await this.#catalog.commit([{ do: 'restore-rows', volume, limit: step.limit, ...from }])
          after = outcome?.next
          if (after === undefined) break
        }
        await this.#catalog.commit([{ do: 'finish-restore', volume }])
        break
      }
    }
    await this.#check()
  }

  /** Commits a change; when it is refused, it must have been for a hard limit, and without a trace. */
  async #attempt(change: Change): Promise<void> {
    const before = await this.#held()
    try {
      await this.#catalog.commit([change])
    } catch (failure) {
      insistOnRefusal(failure)
      if (!(failure instanceof CommitRefused) || failure.reason !== 'full') return
      assert.deepEqual(await this.#held(), before)
      // What would have been, had nobody refused it.
      const limits = [...this.#limits.entries()]
      await this.#catalog.commit([{ do: 'clear-quotas', volume: this.#name }])
      await this.#catalog.commit([change])
      const exceeding = this.#exceeding(before, await this.#held())
      assert.ok(exceeding.includes(failure.scope), `${failure.scope} of ${exceeding.join(', ')}`)
      this.#limits.clear()
      for (const [name, given] of limits) {
        this.#limits.set(name, given)
        await this.#catalog.commit([{ do: 'set-quota', volume: this.#name, quota: targetOf(name), limits: given }])
      }
      return
    }
    assert.deepEqual(this.#exceeding(before, await this.#held()), [])
  }

  /** The scopes of hard limits that were passed by growth. */
  #exceeding(before: ReadonlyMap<string, Sums>, after: ReadonlyMap<string, Sums>): string[] {
    return [...after].flatMap(([name, now]) => {
      const then = before.get(name) ?? { bytes: 0, files: 0 }
      const { hardBytes = Infinity, hardFiles = Infinity } = this.#limitsOf(name)
      const isOver =
        (now.bytes > then.bytes && now.bytes > hardBytes) || (now.files > then.files && now.files > hardFiles)
      return isOver ? [`quota:${name.split(' ')[0] ?? ''}`] : []
    })
  }

  #limitsOf = (name: string): QuotaLimits =>
    this.#limits.get(name) ?? this.#limits.get(name.startsWith('tree') ? 'tree -' : 'user - ') ?? {}

  async #rowsOf(n: number) {
    const { rows } = await this.#catalog.scan(this.#bucket(n), undefined, 1000)
    return rows
  }

  /** By adding up everything. */
  async #held(): Promise<Map<string, Sums>> {
    const held = new Map<string, Sums>()
    const add = (name: string, sizeBytes: number, files: number) => {
      const sums = held.get(name) ?? { bytes: 0, files: 0 }
      held.set(name, { bytes: sums.bytes + sizeBytes, files: sums.files + files })
    }
    const addOf = (owner: unknown, sizeBytes: number, files: number) => {
      add('tree 0', sizeBytes, files)
      if (typeof owner === 'string' && owner !== '') add(`user - ${owner}`, sizeBytes, files)
    }
    for (let n = 0; n < BUCKETS; n++) {
      for (const row of await this.#rowsOf(n)) {
        if (!row.isMarker) addOf(row.details['owner'], row.sizeBytes, 1)
      }
      for (const { sizeBytes } of await this.#catalog.parts(this.#bucket(n), 'u', -1, 100)) {
        addOf(this.#uploaders[n], sizeBytes, 0)
      }
    }
    return held
  }

  async #check(): Promise<void> {
    const held = await this.#held()
    const rows = new Map((await this.#catalog.quotas(this.#name)).map((row) => [nameOf(row), row]))
    const isDefault = (type: string) => this.#limits.has(type === 'tree' ? 'tree -' : 'user - ')
    const wanted = new Set(this.#limits.keys())
    for (const [name, { bytes: b, files }] of held) {
      if (isDefault(name.split(' ')[0] ?? '') && b + files > 0) wanted.add(name)
    }
    assert.deepEqual(new Set(rows.keys()), wanted)
    for (const [name, row] of rows) {
      const { bytes: usedBytes, files: usedFiles } = held.get(name) ?? { bytes: 0, files: 0 }
      const { isRuled } = row
      assert.deepEqual(
        { usedBytes: row.usedBytes, usedFiles: row.usedFiles, isRuled, limits: row.limits },
        { usedBytes, usedFiles, isRuled: this.#limits.has(name), limits: this.#limitsOf(name) },
        name,
      )
    }
  }
}

function nameOf({ type, tree, name }: QuotaTarget | QuotaRow): string {
  return `${type} ${tree ?? '-'}${type === 'tree' ? '' : ` ${name ?? ''}`}`
}

function targetOf(name: string): QuotaTarget {
  const [type, tree, user = ''] = name.split(' ')
  if (type === 'user') return { type, name: user }
  return { type: 'tree', ...(tree === '-' ? {} : { tree: Number(tree) }) }
}

function insistOnRefusal(failure: unknown): void {
  if (!(failure instanceof CommitRefused)) throw failure
}
