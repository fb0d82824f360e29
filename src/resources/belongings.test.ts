/** What lives under a record goes with it, or keeps it from going: nothing refers to what is not there any more. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestCluster } from '../../test/support/cluster.ts'
import type { Behaviour, VerbName } from '../core/behaviour.ts'
import { explainFailure } from '../core/explain.ts'
import { JOBS } from '../core/jobs.ts'
import { flatten } from '../model/shape.ts'
import { type Row, textAt } from '../model/value.ts'
import { behaviours } from './index.ts'

const cluster = await startTestCluster()
after(() => cluster.close())

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
  call: { draft?: Row; row?: Row; path?: Record<string, string>; args?: Record<string, string> },
): Promise<{ key: string } | { refused: string }> {
  const whole = { caller: CALLER, draft: {}, path: {}, args: {}, description: 'test', ...call }
  try {
    const { key, job } = await cluster.actions.perform(behaviour, verb, whole)
    const ended = job === undefined ? {} : await cluster.jobs.wait(textAt(job, 'uuid'), 60_000)
    return ended['state'] === 'failure' ? { refused: textAt(ended, 'message') } : { key }
  } catch (failure) {
    return { refused: explainFailure(failure).message }
  }
}

const behaviourOf = (type: string) => cluster.cluster.behaviour(type)

let made = 0
/** A new record that others can live under. */
async function newParent(type: string): Promise<string> {
  const behaviour = behaviourOf(type)
  const name = `parent_${++made}`
  const drafts: Record<string, Record<string, unknown>> = {
    'svm/svms': { name },
    'storage/volumes': { name, 'svm.name': 'svm1', size: '32m', 'guarantee.type': 'none' },
    'network/ipspaces': { name },
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
  const [row = {}] = await cluster.cluster.rows('protocols/s3/services', svm)
  const draft: Row = { data_volumes: [...((row['data_volumes'] ?? []) as readonly Row[]), { uuid: volume }] }
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
  const child = behaviourOf(type)
  const { resource } = child
  const { first = [], instead = {}, without = [], before } = NEEDS[type] ?? {}
  await before?.(parent)
  for (const other of first) await makeUnder(other, parent)
  const base = (resource.parent ?? '').replace(/\.[^.]+$/, '')
  const body = flatten(resource, child.create?.example ?? {}, 'create', cluster.cluster.release)
  const others = Object.entries(body).filter(([path]) => !path.startsWith(`${base}.`) && !without.includes(path))
  const isReference = resource.fields.get(resource.parent ?? '')?.reference !== undefined
  const parentRow = await cluster.cluster.row(resource.parentType ?? '', parent)
  const name = textAt(parentRow, 'name')
  const itsParent = isReference ? { [resource.parent ?? '']: parent } : { [`${base}.name`]: name }
  const draft: Row = { ...Object.fromEntries(others), ...instead, ...itsParent }
  const path: Record<string, string> = {}
  for (const key of resource.pathKeys) path[key] = key === resource.parent ? parent : textAt(parentRow, key)
  const done = await perform(child, 'create', { draft, path })
  assert.ok('key' in done, `${type}: ${JSON.stringify(done)}`)
  return done.key
}

for (const { resource } of children) {
  const parentType = resource.parentType ?? ''
  test(`${resource.path} goes with the ${behaviourOf(parentType).resource.noun} it lives under, or holds it`, async () => {
    const parent = await newParent(parentType)
    const key = await makeUnder(resource.type, parent)
    const row = await cluster.cluster.row(parentType, parent)
    const removed = await perform(behaviourOf(parentType), 'remove', { row, args: { force: 'true' } })
    if ('key' in removed) {
      assert.deepEqual(await whereFound(parent), [])
      return
    }
    assert.match(removed.refused, /still has|has snapshots|has the|holds|Delete/)
    assert.notEqual(await cluster.cluster.find(resource.type, key), undefined)
    assert.notEqual(await cluster.cluster.find(parentType, parent), undefined)
  })
}

test('most types that declare a parent are checked', () => {
  assert.ok(children.length >= 20, `${children.length}`)
})
