/**
 * Every kind of file of a data folder, damaged in every way. Each run lists all files of a folder that has everything in it,
 * and fails at one that `damaged-folder/kinds.ts` does not know. Then it damages a file of each kind in some way, and asks
 * of the cluster what the table says. `HOLDFAST_TEST_WHOLE=1` does all ways, the others some that a seed chooses: to repeat
 * a run, set DAMAGE_SEED to what it printed.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { places } from '../../bin/parts.ts'
import { putBack } from '../../src/engines/backup/put-back.ts'
import { BackupStore } from '../../src/engines/backup/store.ts'
import { takeBackup } from '../../src/engines/backup/take.ts'
import { send } from '../../src/s3/test-plane.ts'
import { asText, recordsOf } from '../support/body.ts'
import { killAll, run, SMALL, startWith, type Started } from '../support/started.ts'
import { addChanges, restCatalog } from './damaged-folder/catalog.ts'
import { diceOf } from './damaged-folder/dice.ts'
import { KINDS, kindOf, LEFT, VICTIMS, type Victim } from './damaged-folder/kinds.ts'
import { damage, WAYS, type Way } from './damaged-folder/ways.ts'
import { ENVIRONMENT, filesIn, makeWhole, withoutSockets, type Whole } from './damaged-folder/whole.ts'
import { canSeeProcesses, until } from './processes.ts'

const isWhole = process.env['HOLDFAST_TEST_WHOLE'] === '1'
const seed = process.env['DAMAGE_SEED'] ?? String(Date.now())
const dice = diceOf(seed)
/** Starts that are refused, of all, where not all are tried. */
const REFUSED_TRIED = 3
const skip = canSeeProcesses ? false : 'the processes of the product are found in /proc'

const REFUSED = KINDS.flatMap((kind) =>
  (kind.end === 'refused' ? WAYS : []).map((way) => ({ kind, way, sorted: dice(2 ** 32) })),
)
  .toSorted((a, b) => a.sorted - b.sorted)
  .slice(0, isWhole ? undefined : REFUSED_TRIED)
const firstRound = dice(WAYS.length)
const ROUNDS = Array.from({ length: isWhole ? WAYS.length : 1 }, (_, n) => firstRound + n)

describe('a data folder with everything in it', { skip }, () => {
  const root = mkdtempSync(join(tmpdir(), 'holdfast-damaged-'))
  let whole: Whole

  before(async () => {
    process.stdout.write(`DAMAGE_SEED=${seed}\n`)
    whole = await makeWhole(root, dice)
  })
  after(async () => {
    await killAll()
    rmSync(root, { recursive: true, force: true, maxRetries: 5 })
  })
  const copyOf = (): string => {
    rmSync(whole.folder, { recursive: true, force: true })
    cpSync(whole.kept, whole.folder, withoutSockets)
    return whole.folder
  }
  const insistOnKinds = (folder: string): void => {
    const strange = filesIn(folder).filter((file) => kindOf(file) === undefined)
    assert.deepEqual(strange, [], 'a file is of no kind: say in damaged-folder/kinds.ts how its damage is found')
  }

  it('has a file of each kind that is damaged below, and none of another kind', () => {
    insistOnKinds(whole.kept)
    const kinds = new Set(filesIn(whole.kept).map((file) => kindOf(file)?.name))
    const missing = [...KINDS, ...LEFT].filter(({ name, end }) => end !== 'unread' && !kinds.has(name))
    assert.deepEqual(missing, [])
  })

  for (const { kind, way } of REFUSED) {
    it(`ends the start with one sentence, and is left as it is: ${kind.name}, ${way}`, async () => {
      const folder = copyOf()
      const file = join(folder, kind.file ?? '')
      const older = join(root, 'older-file')
      if (kind.name === 'catalog') {
        // What the log has hides what is damaged in the catalog itself, and replaces it.
        restCatalog(folder)
        cpSync(file, older)
        addChanges(folder)
      } else if (existsSync(join(whole.older, kind.file ?? ''))) cpSync(join(whole.older, kind.file ?? ''), older)
      const partner = join(folder, kind.partner ?? '')
      const flips = kind.flips === undefined ? {} : { flips: kind.flips }
      if (damage(way, file, dice, { older, partner, ...flips })) {
        await refused(folder, kind.says ?? /./, way === 'flipped' && kind.mayMeanTheSame === true)
      }
    })
  }

  it('is not served while a restore into it is half-done', async () => {
    const folder = copyOf()
    for (const left of ['restoring', 'replaced-1000']) rmSync(join(folder, left), { recursive: true })
    const store = BackupStore.forWriting(join(root, 'backup-to-restore'))
    const identify = () => Promise.resolve({ uuid: 'u', name: 'n' })
    const { name } = await takeBackup(store, { data: folder, ...places }, { madeMs: 1000, identify })
    // The certificates cannot be moved aside.
    const inTheWay = join(folder, 'replaced-2000/certificates')
    mkdirSync(join(inTheWay, 'something'), { recursive: true })
    const prepare = () => Promise.resolve()
    await assert.rejects(putBack(store, { name, data: folder, nowMs: 2000, movesAside: true, prepare }), /ENOTEMPTY/)
    await refused(folder, /The catalog .* is missing, but cluster\.key is there/, false)
    for (const path of ['aggr1/volumes', 'cluster.key', 'certificates', 'credentials.env']) {
      rmSync(join(folder, path), { recursive: true, force: true })
    }
    await refused(folder, /The catalog .* is missing, but restoring is there/, false)
    rmSync(inTheWay, { recursive: true })
    await putBack(store, { name, data: folder, nowMs: 3000, movesAside: true, prepare })
    store.close()
    assert.ok(existsSync(join(folder, 'catalog/catalog.db')) && existsSync(join(folder, 'cluster.key')))
    assert.ok(!existsSync(join(folder, 'restoring')))
  })

  async function refused(folder: string, says: RegExp, mayBeServed: boolean): Promise<void> {
    const state = stateOf(folder)
    const begun = run(['start', '--data', folder], SMALL)
    let isOver = false
    void begun.ended.then(() => (isOver = true))
    await until('it ends or is served', () => isOver || begun.said().includes('/docs/api'))
    if (begun.said().includes('/docs/api')) {
      begun.kill('SIGTERM')
      await begun.gone
      assert.ok(mayBeServed, `It is served: ${begun.said()}`)
      return
    }
    assert.equal(await begun.ended, 1, begun.said())
    // The catalog writer ends after the process that began it.
    await begun.gone
    assert.match(begun.said(), /^[^\n]+\.\n$/)
    assert.match(begun.said(), says)
    assert.deepEqual(stateOf(folder), state)
  }
  const stateOf = (folder: string) =>
    KINDS.flatMap(({ end, file }) => (end === 'refused' && file !== undefined ? [file] : [])).map((file) =>
      digestOf(join(folder, file)),
    )
  // SQLite makes an empty log when it looks.
  const digestOf = (file: string) =>
    existsSync(file) && statSync(file).size > 0 ? createHash('sha256').update(readFileSync(file)).digest('hex') : ''

  it('has backups of which `backup verify` names each that is damaged, whichever file and however', async () => {
    const folder = join(root, 'backups')
    const store = BackupStore.forWriting(folder)
    const identify = () => Promise.resolve({ uuid: 'u', name: 'n' })
    await takeBackup(store, { data: copyOf(), ...places }, { madeMs: 1000, identify })
    store.close()
    const files = filesIn(folder).filter((file) => statSync(join(folder, file)).size > 0)
    for (const [n, file] of files.entries()) {
      const partner = join(folder, files[(n + 1) % files.length] ?? '')
      for (const way of WAYS) {
        const copies = [join(folder, file), partner].map((one) => [one, readFileSync(one)] as const)
        if (damage(way, join(folder, file), dice, { partner })) {
          const damaged = BackupStore.forReading(folder)
          const flaws = damaged.names().map((name) => damaged.flawOf(name, new Map()))
          damaged.close()
          assert.ok(flaws[0] !== undefined || flaws.length === 0, `${file}, ${way}`)
        }
        for (const [one, bytes] of copies) writeFileSync(one, bytes)
      }
    }
  })

  for (const round of ROUNDS) {
    const wayOf = (at: number): Way => WAYS[(at + round) % WAYS.length] ?? 'removed'
    const victims = VICTIMS.map((victim, at) => ({ victim, way: wayOf(at) }))
    const others = KINDS.map((kind, at) => ({ kind, way: wayOf(at) })).filter(({ kind }) =>
      ['renewed', 'offline'].includes(kind.end),
    )
    const what = [
      ...victims.map(({ victim, way }) => `${victim} ${way}`),
      ...others.map(({ kind, way }) => `${kind.name} ${way}`),
    ]
    it(`is served but for what is damaged, which is listed: ${what.join(', ')}`, async () => {
      const folder = copyOf()
      const at = (file: string) => join(folder, file)
      const damaged = new Map<Victim, Way>()
      for (const { victim, way } of victims) {
        const { file, partner } = whole.victims[victim]
        if (damage(way, at(file), dice, { older: join(whole.older, file), partner: at(partner) }))
          damaged.set(victim, way)
      }
      let isSecondDamaged = false
      for (const { kind, way } of others) {
        const isLabel = kind.end === 'offline'
        const file = isLabel ? `${whole.second}/aggregate.json` : (kind.file ?? '')
        const partner = at(isLabel ? 'aggr1/spare' : (kind.partner ?? ''))
        const isDamaged = damage(way, at(file), dice, { older: join(whole.older, file), partner })
        if (isLabel) isSecondDamaged = isDamaged && way !== 'flipped'
      }
      for (const [n, { file, partner }] of whole.left.files.entries()) {
        if (existsSync(at(file)))
          damage(wayOf(n), at(file), dice, { older: join(whole.older, file), partner: at(partner) })
      }
      rmSync(at('run'), { recursive: true, force: true })
      const product = await startWith(['--data', folder], ENVIRONMENT)
      const { body } = await product.rest.get('/api/storage/aggregates?fields=state&order_by=name')
      const states = recordsOf(body).map((row) => row['state'])
      assert.equal(states[0], 'online')
      if (isSecondDamaged) assert.equal(states[1], 'offline')
      await checkObjects(product, damaged)
      // Who asks what packs come to has trees listed, and with that those on their way out removed.
      await product.rest.get('/api/storage/aggregates?fields=packs')
      for (const { file } of whole.left.files) {
        if (kindOf(file)?.goes === true) await until(`${file} is gone`, () => !existsSync(at(file)))
      }
      product.kill('SIGTERM')
      assert.equal(await product.ended, 0, product.said())
      insistOnKinds(folder)
    })
  }

  async function checkObjects(product: Started, damaged: ReadonlyMap<Victim, Way>): Promise<void> {
    const { rest } = product
    const scrub = await rest.call('POST', '/api/private/scrubs?return_timeout=60', { aggregate: { name: 'aggr1' } })
    assert.equal(scrub.status, 201, JSON.stringify(scrub.body))
    const listed = async () => {
      const { body } = await rest.get('/api/private/damaged-objects?fields=file&max_records=1000')
      return recordsOf(body).map((row) => asText(row['file']))
    }
    const touched = new Map<string, Victim>()
    for (const victim of damaged.keys()) for (const path of whole.victims[victim].paths) touched.set(path, victim)
    for (const path of whole.left.paths) {
      // Where its file is swapped with one that was to take its place, that is put back.
      const isServed = async () => (await send({ url: product.s3Http }, 'GET', path, {})).status === 200
      await until(`${path} is served`, () => isServed().catch(() => false))
    }
    const failed = new Set<Victim>()
    for (const [path, content] of whole.objects) {
      const victim = touched.get(path)
      const got = await send({ url: product.s3Http }, 'GET', path, {}).catch(() => undefined)
      if (got?.status === 200) assert.equal(got.text, content, `${path} has other bytes`)
      else if (victim === undefined) assert.fail(`${path} is answered ${got?.status}, and was not damaged`)
      else failed.add(victim)
    }
    for (const [victim, way] of damaged) {
      const { file, partner } = whole.victims[victim]
      const isThere = (files: readonly string[], one: string) => files.some((each) => each.endsWith(one))
      if (victim === 'deduplicated') {
        // A twin has the same bytes.
        await until('it is repaired', async () => !isThere(await listed(), file))
        const { status, text } = await send({ url: product.s3Http }, 'GET', '/efficient/deduplicated', {})
        assert.deepEqual([status, text === whole.objects.get('/efficient/deduplicated')], [200, true])
      } else if (victim !== 'pack' || failed.has('pack')) {
        // Of a pack, a bit may be flipped that no object needs.
        assert.ok(isThere(await listed(), basename(file)), `the damage of ${victim}, ${way}, is not listed`)
        if (way === 'swapped') assert.ok(isThere(await listed(), basename(partner)))
      }
    }
  }
})
