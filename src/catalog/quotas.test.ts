import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedRandom } from '../engines/simulated/random.ts'
import { seedOf } from '../../test/support/seed.ts'
import { quotaReads } from './reads/quota-reads.ts'
import { quotaChanges } from './quotas.ts'
import type { Holder } from './quotas.ts'
import { Ledger } from './ledger.ts'
import { Refusal } from './refusal.ts'
import { openForWriting } from './schema.ts'

const STEPS = 400
const LIMIT = 40

test('what lies in qtrees counts to the qtree, and to its user and group in it and in the whole volume', (context) => {
  const random = new SimulatedRandom(seedOf(context))
  const db = openForWriting(':memory:')
  const ledger = new Ledger(db)
  const quotas = quotaChanges(db, ledger)
  ledger.write("INSERT INTO volumes (uuid, tree, size) VALUES ('v', 'v', 1000)")()
  const volume = ledger.volume('v')
  const ruled = [
    { type: 'tree', tree: 1 },
    { type: 'user', name: 'anna' },
    { type: 'user', tree: 1, name: 'anna' },
    { type: 'group', tree: 2, name: 'staff' },
    { type: 'group', name: '' },
  ] as const
  for (const quota of ruled) quotas.set({ do: 'set-quota', volume: 'v', quota, limits: { hardBytes: LIMIT } })

  const held = new Map<string, number>()
  const names = ({ tree, user, group }: Holder) => [
    `tree ${tree} `,
    ...(user === '' ? [] : [`user -1 ${user}`, ...(tree === 0 ? [] : [`user ${tree} ${user}`])]),
    ...(group === '' ? [] : [`group -1 ${group}`, ...(tree === 0 ? [] : [`group ${tree} ${group}`])]),
  ]
  const isLimited = (name: string) =>
    ['tree 1 ', 'user -1 anna', 'user 1 anna', 'group 2 staff'].includes(name) || name.startsWith('group -1 ')
  const chosen = <T>(list: readonly T[]): T => list[random.below(list.length)] as T
  let refusals = 0
  for (let step = 0; step < STEPS; step++) {
    const holder = {
      tree: chosen([0, 1, 2]),
      user: chosen(['anna', 'bert', '']),
      group: chosen(['staff', 'guests', '']),
    }
    const all = names(holder)
    const bytes = random.below(20) - Math.min(9, ...all.map((name) => held.get(name) ?? 0))
    const mustFit = all.every((name) => bytes <= 0 || !isLimited(name) || (held.get(name) ?? 0) + bytes <= LIMIT)
    try {
      quotas.check(volume, [{ holder, bytes, files: 0 }])
      assert.ok(mustFit, all.join())
      quotas.move(volume, [{ holder, bytes, files: 0 }])
      for (const name of all) held.set(name, (held.get(name) ?? 0) + bytes)
    } catch (failure) {
      assert.ok(failure instanceof Refusal && !mustFit, String(failure))
      refusals++
    }
    if (random.chance(0.1)) ledger.flush()
    if (random.chance(0.1)) {
      ledger.flush()
      ledger.forget()
    }
  }
  assert.ok(refusals > 0)

  ledger.flush()
  const rows = db.prepare('SELECT type, tree, target, bytes FROM quotas WHERE bytes <> 0').all()
  const sums = rows.map(({ type, tree, target, bytes }) => [`${String(type)} ${String(tree)} ${String(target)}`, bytes])
  assert.deepEqual(new Map(sums as [string, number][]), new Map([...held].filter(([, bytes]) => bytes !== 0)))
  const shown = quotaReads(db)('v').filter(({ isRuled, type }) => !isRuled && type !== 'group')
  assert.deepEqual(shown, [], 'Users and qtrees have no default limits here.')
  db.close()
})
