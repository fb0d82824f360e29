/** What lives under a record goes with it, or keeps it from going: nothing refers to what is not there any more. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestCluster } from '../../test/support/cluster.ts'
import { until } from '../../test/support/until.ts'
import type { Behaviour, VerbName } from '../core/behaviour.ts'
import { explainFailure } from '../core/explain.ts'
import { failureOf, JOBS } from '../core/jobs/jobs.ts'
import { LOCK_CLAIMS } from '../core/jobs/lock-claims.ts'
import { insistOnParents } from '../core/read/read.ts'
import type { Failure } from '../model/failure.ts'
import { flatten } from '../model/shape.ts'
import type { Catalog, Change } from '../ports/catalog.ts'
import { openSqliteCatalog } from '../engines/sqlite/catalog.ts'
import { type Row, textAt } from '../model/value.ts'
import { behaviours } from './index.ts'

const catalog = openSqliteCatalog({ file: ':memory:', commit: 'in-process' })
/** What happens while a commit of one of the two is on its way. */
let beforeCommit: ((changes: readonly Change[]) => Promise<void>) | undefined
const watched = new Proxy(catalog, {
  get(target, name: keyof Catalog) {
    if (name !== 'commit') return target[name].bind(target)
    return async (changes: readonly Change[]) => {
      await beforeCommit?.(changes)
      return target.commit(changes)
    }
  },
})
const cluster = await startTestCluster({ catalog: watched })
/** Another process that serves the same cluster: it does not know what this one is at, nor its locks. */
const other = await startTestCluster({ catalog: watched, isUsed: true })
after(async () => {
  await other.jobs.drain(5000)
  other.clock.stop()
  await cluster.close()
})

const CALLER = { user: 'admin', role: 'admin', from: 'test' }
/** What is done with records that are about something, and not what these are. */
const HISTORY: ReadonlySet<string> = new Set([JOBS])

const children = behaviours.filter(
  ({ resource, create }) =>
    resource.parentType !== undefined && resource.rowsOf === resource.type && create?.example !== undefined,
)

/** Calls a verb and waits for its job. Gives the key, or why it was refused. */
async function perform(
  behaviour: Behaviour,
  verb: VerbName,
  call: {
    draft?: Row
    row?: Row
    path?: Record<string, string>
    args?: Record<string, string>
  },
  by = cluster,
): Promise<{ key: string } | Refused> {
  const whole = { caller: CALLER, draft: {}, path: {}, args: {}, description: 'test', ...call }
  try {
    if (verb === 'create') await insistOnParents(by.cluster, behaviour, whole.path)
    const { key, job } = await by.actions.perform(behaviour, verb, whole)
    const ended = job === undefined ? undefined : await by.jobs.wait(job['uuid'], 60_000)
    return ended?.['state'] === 'failure' ? refusalOf(failureOf(ended)) : { key }
  } catch (failure) {
    return refusalOf(explainFailure(failure))
  }
}

interface Refused {
  readonly refused: string
  readonly kind: string
  readonly code: number
}

function refusalOf({ message, kind, code }: Failure): Refused {
  return { refused: message, kind, code }
}

const behaviourOf = (type: string) => cluster.cluster.behaviour(type)

/** Why a parent may have to stay. */
const HELD = /still has|has snapshots|has the|holds|Delete|Take it off/
/** Types whose making is over when their parent goes. */
const OVER_WITH_PARENT: ReadonlySet<string> = new Set([
  'storage/volumes/{volume.uuid}/efficiency-runs',
  'private/scrubs',
])
/** An owner that is not there has a code of its own. */
const OTHER_CODE: ReadonlySet<string> = new Set(['support/snmp/users', 'security/authentication/keys'])

let made = 0
/** A new record that others can live under. */
async function newParent(type: string): Promise<string> {
  const behaviour = behaviourOf(type)
  const name = `parent_${++made}`
  const drafts: Record<string, Record<string, unknown>> = {
    'svm/svms': { name },
    'storage/volumes': { name, 'svm.name': 'svm1', size: '32m', 'guarantee.type': 'none' },
    'network/ipspaces': { name },
    'storage/aggregates': { name, 'block_storage.path': `/srv/${name}` },
    'protocols/s3/buckets': { name: `parent-${made}`, 'svm.name': 'svm1', 'volume.name': 'vol1', size: 2 ** 30 },
  }
  const body = drafts[type] ?? { ...behaviour.create?.example, name }
  const draft = flatten(behaviour.resource, body, 'create', cluster.cluster.release)
  const done = await perform(behaviour, 'create', { draft })
  assert.ok('key' in done, `${type}: ${JSON.stringify(done)}`)
  return done.key
}

/** The types of the records that have this word anywhere in them. */
async function whereFound(word: string): Promise<string[]> {
  const found: string[] = []
  for (const { resource } of cluster.cluster.behaviours.values()) {
    if (resource.rowsOf !== resource.type || HISTORY.has(resource.type)) continue
    const records = await cluster.cluster.catalog.records(resource.type)
    if (records.some((record) => JSON.stringify(record).includes(word))) found.push(resource.type)
  }
  return found
}

/** Makes a volume one of those that buckets can be in. */
async function serveVolume(volume: string): Promise<void> {
  const svm = textAt(await cluster.cluster.row('storage/volumes', volume), 'svm.uuid')
  const [row] = await cluster.cluster.rows('protocols/s3/services', svm)
  assert.ok(row !== undefined)
  const draft: Row = { data_volumes: [...(row['data_volumes'] ?? []), { uuid: volume }] }
  assert.ok('key' in (await perform(behaviourOf('protocols/s3/services'), 'modify', { row, draft })))
}

const CIFS_SERVER = { first: ['protocols/cifs/services'] }
/** What an example needs in a parent of its own, and what it says that is of another. */
const NEEDS: Readonly<
  Record<
    string,
    {
      first?: readonly string[]
      instead?: Row
      without?: readonly string[]
      before?: (parent: string) => Promise<void>
    }
  >
> = {
  'protocols/cifs/shares': CIFS_SERVER,
  'protocols/cifs/local-users': CIFS_SERVER,
  'protocols/cifs/local-groups': CIFS_SERVER,
  'protocols/cifs/users-and-groups/privileges': CIFS_SERVER,
  'protocols/s3/buckets': { without: ['aggregates'], before: serveVolume },
  'protocols/s3/services/{svm.uuid}/groups': {
    first: ['protocols/s3/services/{svm.uuid}/users', 'protocols/s3/services/{svm.uuid}/policies'],
    instead: { users: [{ name: 'user_example' }], policies: [{ name: 'policy_example' }] },
  },
  'security/accounts': { instead: { 'role.name': 'vsadmin' } },
}

/** Makes the example of a type under a parent. */
async function makeUnder(type: string, parent: string): Promise<string> {
  const done = await perform(behaviourOf(type), 'create', await requestUnder(type, parent))
  assert.ok('key' in done, `${type}: ${JSON.stringify(done)}`)
  return done.key
}

/** What asks for that, when all else that it needs is there. */
async function requestUnder(type: string, parent: string): Promise<{ draft: Row; path: Record<string, string> }> {
  const child = behaviourOf(type)
  const { resource } = child
  const { first = [], instead = {}, without = [], before } = NEEDS[type] ?? {}
  await before?.(parent)
  for (const other of first) await makeUnder(other, parent)
  const base = (resource.parent ?? '').replace(/\.[^.]+$/, '')
  const body = flatten(resource, child.create?.example ?? {}, 'create', cluster.cluster.release)
  const others = Object.entries(body).filter(([path]) => !path.startsWith(`${base}.`) && !without.includes(path))
  const isReference = resource.fields.get(resource.parent ?? '')?.reference !== undefined
  const parentRow = await cluster.cluster.row(behaviourOf(resource.parentType ?? '').resource.type, parent)
  const name = textAt(parentRow, 'name')
  const itsParent = isReference ? { [resource.parent ?? '']: parent } : { [`${base}.name`]: name }
  const draft: Row = { ...Object.fromEntries(others), ...instead, ...itsParent }
  const path: Record<string, string> = {}
  for (const key of resource.pathKeys) path[key] = key === resource.parent ? parent : textAt(parentRow, key)
  return { draft, path }
}

const remove = async (type: string, key: string, by = cluster) =>
  perform(
    behaviourOf(type),
    'remove',
    { row: await by.cluster.row(behaviourOf(type).resource.type, key), args: { force: 'true' } },
    by,
  )

/** Waits for it, or until its job waits for a lock that another job has; gives whether it does. */
async function unlessHeldBack(doing: Promise<unknown>): Promise<boolean> {
  let isDone = false
  void doing.finally(() => (isDone = true))
  let isHeldBack = false
  await until('it is done, or waits for a job', async () => {
    const { catalog } = cluster.cluster
    const holders = new Map((await catalog.records(LOCK_CLAIMS)).map(({ key, body }) => [key, body['job']]))
    const queued = (await catalog.records(JOBS)).filter(({ body }) => body['state'] === 'queued')
    isHeldBack = queued.some(({ key, body }) =>
      (body['$locks'] as readonly string[]).some((lock) => holders.has(lock) && holders.get(lock) !== key),
    )
    return isDone || isHeldBack
  })
  return !isDone
}

for (const { resource } of children) {
  const parentType = resource.parentType ?? ''
  test(`${resource.path} goes with the ${behaviourOf(parentType).resource.noun} it lives under, or holds it`, async () => {
    const parent = await newParent(parentType)
    const key = await makeUnder(resource.type, parent)
    const removed = await remove(parentType, parent)
    if ('key' in removed) {
      assert.deepEqual(await whereFound(parent), [])
      return
    }
    assert.match(removed.refused, HELD)
    assert.notEqual(await cluster.cluster.find(resource.type, key), undefined)
    assert.notEqual(await cluster.cluster.find(behaviourOf(parentType).resource.type, parent), undefined)
    if (behaviourOf(resource.type).remove !== undefined) assert.ok('key' in (await remove(resource.type, key)))
  })
}

for (const { resource } of children) {
  const parentType = resource.parentType ?? ''
  const { noun } = behaviourOf(parentType).resource
  test(`${resource.path} is refused when another process removes its ${noun} before the commit, as if that had gone before`, async () => {
    const parent = await newParent(parentType)
    const request = await requestUnder(resource.type, parent)
    let removing: Promise<{ key: string } | Refused> | undefined
    let isHeldBack = false
    beforeCommit = async (changes) => {
      const makes = (change: Change) => change.do === 'put-record' && change.type === resource.type
      if (!changes.some(makes)) return
      beforeCommit = undefined
      removing = remove(parentType, parent, other)
      isHeldBack = await unlessHeldBack(removing)
    }
    const done = await perform(behaviourOf(resource.type), 'create', request)
    beforeCommit = undefined
    const removed = await removing
    assert.ok(removed !== undefined, JSON.stringify(done))
    if (isHeldBack) {
      // Its job waited for the lock of the other: nobody can be quicker.
      assert.ok('key' in done, JSON.stringify(done))
      if ('key' in removed) assert.deepEqual(await whereFound(parent), [])
      else assert.match(removed.refused, HELD)
      return
    }
    if ('refused' in removed) {
      // What the record needs beside holds the parent: nobody can be quicker.
      assert.match(removed.refused, HELD)
      assert.ok('key' in done, JSON.stringify(done))
      return
    }
    assert.deepEqual(await whereFound(parent), [])
    if ('key' in done && OVER_WITH_PARENT.has(resource.type)) return
    assert.ok('refused' in done, 'it was refused')
    const late = await perform(behaviourOf(resource.type), 'create', request)
    assert.ok('refused' in late, 'the parent has gone')
    const codes = OTHER_CODE.has(resource.type) ? [] : [done.code, late.code]
    assert.deepEqual([done.kind, codes[0]], [late.kind, codes[1]], `${done.refused} Not: ${late.refused}`)
  })
}

for (const { resource } of children) {
  const parentType = resource.parentType ?? ''
  const { noun } = behaviourOf(parentType).resource
  test(`${resource.path} that comes while another process removes its ${noun} keeps it, or goes with it`, async () => {
    const parent = await newParent(parentType)
    const request = await requestUnder(resource.type, parent)
    let making: Promise<{ key: string } | Refused> | undefined
    beforeCommit = async (changes) => {
      const removes = (change: Change) =>
        change.do === 'remove-record' && change.type === parentType && change.key === parent
      if (!changes.some(removes)) return
      beforeCommit = undefined
      making = perform(behaviourOf(resource.type), 'create', request)
      await unlessHeldBack(making)
    }
    const removed = await remove(parentType, parent, other)
    beforeCommit = undefined
    const made = await making
    if ('key' in removed) {
      assert.deepEqual(await whereFound(parent), [])
      return
    }
    assert.match(removed.refused, HELD)
    if (made !== undefined) assert.ok('key' in made, JSON.stringify(made))
    assert.notEqual(await cluster.cluster.find(behaviourOf(parentType).resource.type, parent), undefined)
    if (made !== undefined && 'key' in made && behaviourOf(resource.type).remove !== undefined) {
      assert.ok('key' in (await remove(resource.type, made.key)))
    }
  })
}

test('most types that declare a parent are checked', () => {
  assert.ok(children.length >= 20, `${children.length}`)
})
