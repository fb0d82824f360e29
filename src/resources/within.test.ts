/** What `within` of the resources says of references: no record names what is not there, whoever deletes what when. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestCluster } from '../../test/support/cluster.ts'
import type { Behaviour, VerbName } from '../core/behaviour.ts'
import { explainFailure } from '../core/explain.ts'
import { failureOf } from '../core/jobs/jobs.ts'
import { openSqliteCatalog } from '../engines/sqlite/catalog.ts'
import type { Failure } from '../model/failure.ts'
import { type Field, recordKey, type Resource, type TypeName } from '../model/resource.ts'
import { flatten } from '../model/shape.ts'
import { type Row, textAt, textOf } from '../model/value.ts'
import type { Catalog, Change } from '../ports/catalog.ts'
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
const here = await startTestCluster({ catalog: watched })
/** Another process that serves the same cluster, with locks of its own. */
const other = await startTestCluster({ catalog: watched, isUsed: true })
after(async () => {
  await other.jobs.drain(5000)
  other.clock.stop()
  await here.close()
})

const CALLER = { user: 'admin', role: 'admin', from: 'test' }
const behaviourOf = (type: string) => here.cluster.behaviour(type)

async function perform(
  type: string,
  verb: VerbName,
  call: { draft?: Row; row?: Row; args?: Record<string, string> },
  by = here,
): Promise<{ key: string } | Failure> {
  const { draft = {} } = call
  const path = Object.fromEntries(behaviourOf(type).resource.pathKeys.map((key) => [key, textAt(draft, key)]))
  const whole = { caller: CALLER, draft, path, args: {}, description: 'test', ...call }
  try {
    const { key, job } = await by.actions.perform(behaviourOf(type), verb, whole)
    const ended = job === undefined ? undefined : await by.jobs.wait(job['uuid'], 60_000)
    return ended?.['state'] === 'failure' ? failureOf(ended) : { key }
  } catch (failure) {
    return explainFailure(failure)
  }
}

const remove = async (type: TypeName, key: string, by = here) =>
  perform(type, 'remove', { row: await by.cluster.row(type, key), args: { force: 'true' } }, by)

function keyOf(done: { key: string } | Failure): string {
  if (!('key' in done)) assert.fail(done.message)
  return done.key
}

let made = 0
/** A new record that others can name. */
async function newNamed(type: TypeName): Promise<Row> {
  const name = `named_${++made}`
  const { resource } = behaviourOf(type)
  const draft = await exampleOf(resource, {
    ...(resource.fields.has('name') ? { name } : {}),
    ...OF_NAMED[type]?.(name),
  })
  return here.cluster.row(type, keyOf(await perform(type, 'create', { draft })))
}

/** What is not in the example of a type of which there are to be several. */
const OF_NAMED: Readonly<Record<string, (name: string) => Row>> = {
  'security/certificates': (name) => ({ common_name: name }),
  'support/snmp/users': () => ({ authentication_method: 'usm' }),
}

/** The fields by which a record names another one, where these are no reference. */
const NAMED_BY: Readonly<Record<string, (named: Row) => Row>> = {
  'storage/snapshot-policies copies': ({ uuid = '' }) => ({ copies: [{ count: 1, schedule: { uuid } }] }),
  'storage/volumes nas.export_policy': ({ id = 0 }) => ({ 'nas.export_policy.id': id }),
  'storage/qtrees export_policy': ({ id = 0 }) => ({ 'export_policy.id': id }),
  'security/accounts role': ({ name = '' }) => ({ 'role.name': name }),
  'support/ems/destinations filters': ({ name = '' }) => ({ filters: [{ name }] }),
  'protocols/s3/services/{svm.uuid}/groups users': ({ name = '' }) => ({ users: [{ name }] }),
  'protocols/s3/services/{svm.uuid}/groups policies': ({ name = '' }) => ({ policies: [{ name }] }),
  'security/authentication/keys user': ({ name = '' }) => ({ 'user.name': name }),
  'storage/quota/rules qtree': ({ name = '' }) => ({ type: 'tree', 'qtree.name': name, users: null }),
  'support/snmp/traphosts user': ({ name = '' }) => ({ host: `host-of-${textOf(name)}`, 'user.name': name }),
  'protocols/fpolicy/{svm.uuid}/policies engine': ({ name = '' }) => ({ 'engine.name': name }),
  'protocols/fpolicy/{svm.uuid}/policies events': ({ name = '' }) => ({ events: [{ name }] }),
}

/** Records that name others and are not made by their example alone. */
const NOT_BY_EXAMPLE: ReadonlySet<string> = new Set([
  // Numbers are the names: the tests beside it delete one that is in use.
  'cluster/ntp/servers key',
  // One of its own for each SVM, which its buckets hold.
  'protocols/s3/services certificate',
  'protocols/s3/services root_volume',
  'protocols/s3/services data_volumes',
  // Each process has the folders of its aggregates.
  'storage/volumes aggregates',
  'svm/svms aggregates',
  'private/cli/volume/recovery-queue aggregates',
  // In an SVM of another IPspace.
  'network/ip/routes ipspace',
  // Part of what the parent has.
  'protocols/cifs/shares server',
  // A port of the machine holds it: the tests of ports have one that the machine does not have any more.
  'network/ethernet/ports broadcast_domain',
])

const namings = behaviours
  .filter(({ resource }) => resource.rowsOf === resource.type)
  .flatMap(({ resource }) => resource.within.map((naming) => ({ resource, naming })))
const byExample = namings.filter(
  ({ resource, naming }) => !naming.isParent && !NOT_BY_EXAMPLE.has(`${resource.type} ${naming.path}`),
)
const blocking = byExample.filter(({ naming }) => naming.fate === 'blocks')
/** Those that go with what they name, or let go of it. */
const following = byExample.filter(({ naming }) => naming.fate !== 'blocks')

let users = 0
/** Has a record name another one: a new one, or where only a change may say so, one that is there. */
async function nameIt({ resource, naming }: (typeof byExample)[number], named: Row, by = here) {
  const given = NAMED_BY[`${resource.type} ${naming.path}`]?.(named) ?? { [`${naming.path}.uuid`]: named['uuid'] ?? '' }
  const behaviour = behaviourOf(resource.type)
  const field = resource.fields.get(Object.keys(given)[0] ?? '')
  if (behaviour.create?.example === undefined || field?.set === 'modify') {
    const row = (await by.cluster.rows(resource.type)).at(-1) ?? {}
    return perform(resource.type, 'modify', { row, draft: given }, by)
  }
  const draft = await exampleOf(resource, { name: `user-${++users}`, ...INSTEAD[resource.type], ...given })
  return perform(resource.type, 'create', { draft }, by)
}

/** What is said instead of the fields of an example, where a record of it is to name another one. */
const INSTEAD: Readonly<Record<string, Row>> = {
  'storage/volumes': { size: 32 * 2 ** 20, 'guarantee.type': 'none' },
  'storage/volume-efficiency-policies': { type: 'scheduled', start_threshold_percent: null },
}

/** The draft of an example, of `svm1` where its path says of which SVM it is. */
async function exampleOf(resource: Resource, given: Row): Promise<Row> {
  const example = behaviourOf(resource.type).create?.example ?? {}
  const isWithinPath = resource.pathKeys.includes('svm.uuid')
  const svm = isWithinPath ? ((await here.cluster.keyOfName('svm/svms', 'svm1')) ?? '') : undefined
  const row: Row = {
    ...flatten(resource, example, 'create', here.cluster.release),
    // What the example names by its name is another one.
    ...Object.fromEntries(Object.keys(given).map((path) => [path.replace(/\.uuid$/, '.name'), null])),
    ...(svm === undefined ? {} : { 'svm.uuid': svm }),
    ...given,
  }
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
}

/** All that is named by records and is not there. */
async function dangling(): Promise<string[]> {
  const lost: string[] = []
  for (const { resource, naming } of namings) {
    if (naming.isLoose === true) continue
    for (const row of await here.cluster.rows(resource.type)) {
      for (const key of naming.keys(row)) {
        const types = naming.isParent ? resource.parentTypes : [naming.type]
        const found = await Promise.all(types.map((type) => catalog.record(type, key)))
        if (found.every((one) => one === undefined)) lost.push(`${resource.type} ${naming.path} ${naming.type}/${key}`)
      }
    }
  }
  return lost
}

const keyOfNamed = ({ naming }: (typeof byExample)[number], named: Row) =>
  recordKey(behaviourOf(naming.type).resource, named)

for (const one of following) {
  const { resource, naming } = one
  const says = `${resource.path} ${naming.path}`
  /** What became of the record that named another one: it is gone, or it names that no more. */
  const insistOnFate = async (user: string, named: string) => {
    const left = await catalog.record(resource.type, user)
    assert.equal(left === undefined, naming.fate === 'deleted')
    assert.deepEqual(left === undefined ? [] : naming.keys(left.body).filter((key) => key === named), [])
    assert.deepEqual(await dangling(), [])
  }

  test(`what names another one by ${says} ${naming.fate === 'kept' ? 'names it no more' : 'goes'} when that is deleted`, async () => {
    const named = await newNamed(naming.type)
    const user = keyOf(await nameIt(one, named))
    const key = keyOfNamed(one, named)
    assert.ok((await catalog.record(resource.type, user)) !== undefined)
    keyOf(await remove(naming.type, key))
    await insistOnFate(user, key)
  })

  test(`so does what comes to name it by ${says} while another process deletes it`, async () => {
    const named = await newNamed(naming.type)
    const key = keyOfNamed(one, named)
    let user: { key: string } | Failure | undefined
    beforeCommit = async (changes) => {
      if (!changes.some((change) => change.do === 'remove-record' && change.key === key)) return
      beforeCommit = undefined
      user = await nameIt(one, named)
    }
    keyOf(await remove(naming.type, key, other))
    beforeCommit = undefined
    assert.ok(user !== undefined, 'it was not asked for')
    await insistOnFate(keyOf(user), key)
  })

  test(`${says} is refused when another process deletes that before the commit, unless it may lead nowhere`, async () => {
    const named = await newNamed(naming.type)
    const key = keyOfNamed(one, named)
    let isRemoved = false
    beforeCommit = async (changes) => {
      if (!changes.some((change) => change.do === 'put-record' && change.type === resource.type)) return
      beforeCommit = undefined
      keyOf(await remove(naming.type, key, other))
      isRemoved = true
    }
    const done = await nameIt(one, named)
    beforeCommit = undefined
    assert.ok(isRemoved)
    assert.equal('key' in done, naming.isLoose === true, JSON.stringify(done))
    assert.deepEqual(await dangling(), [])
  })
}

for (const one of blocking) {
  const { resource, naming } = one
  const says = `${resource.path} ${naming.path}`
  const namedKey = (named: Row) => keyOfNamed(one, named)

  test(`what is named by ${says} is not deleted before`, async () => {
    const named = await newNamed(naming.type)
    keyOf(await nameIt(one, named))
    const refused = await remove(naming.type, namedKey(named))
    assert.ok(!('key' in refused), 'it was deleted')
    assert.deepEqual([refused.kind, await dangling()], ['conflict', []])
  })

  test(`what is named by ${says} while another process deletes it stays, or is refused as if it had gone before`, async () => {
    const named = await newNamed(naming.type)
    const key = namedKey(named)
    let users: { key: string } | Failure | undefined
    beforeCommit = async (changes) => {
      if (!changes.some((change) => change.do === 'remove-record' && change.key === key)) return
      beforeCommit = undefined
      users = await nameIt(one, named)
    }
    const removed = await remove(naming.type, key, other)
    beforeCommit = undefined
    assert.ok(users !== undefined, 'message' in removed ? removed.message : 'it was not asked for')
    assert.ok('key' in users, 'message' in users ? users.message : '')
    assert.ok(!('key' in removed), 'it was deleted')
    assert.deepEqual([removed.kind, await dangling()], ['conflict', []])
  })

  test(`${says} is refused when another process deletes that before the commit`, async () => {
    const named = await newNamed(naming.type)
    const key = namedKey(named)
    let removed: { key: string } | Failure | undefined
    beforeCommit = async (changes) => {
      const puts = (change: Change) => change.do === 'put-record' && change.type === resource.type
      if (!changes.some(puts)) return
      beforeCommit = undefined
      removed = await remove(naming.type, key, other)
    }
    const done = await nameIt(one, named)
    beforeCommit = undefined
    assert.ok(removed !== undefined, 'nothing was deleted')
    assert.ok('key' in removed, 'message' in removed ? removed.message : '')
    assert.ok(!('key' in done), 'it was made')
    assert.deepEqual([done.kind, await dangling()], ['invalid', []])
  })
}

test('a volume that an object store server takes while another process deletes it stays', async () => {
  const volume = textAt(await newNamed(behaviourOf('storage/volumes').resource.type), 'uuid')
  let taken: { key: string } | Failure | undefined
  beforeCommit = async (changes) => {
    if (!changes.some((change) => change.do === 'remove-record' && change.key === volume)) return
    beforeCommit = undefined
    const [row = {}] = (await here.cluster.rows('protocols/s3/services')) as readonly Row[]
    const others = (row['data_volumes'] ?? []) as readonly Row[]
    taken = await perform('protocols/s3/services', 'modify', {
      row,
      draft: { data_volumes: [...others, { uuid: volume }] },
    })
  }
  const removed = await remove(behaviourOf('storage/volumes').resource.type, volume, other)
  beforeCommit = undefined
  assert.ok(taken !== undefined && 'key' in taken, 'the server has it')
  assert.ok(!('key' in removed), 'it was deleted')
  assert.deepEqual(await dangling(), [])
})

/** References that nothing follows from when what they name is deleted, each with the reason. */
const OF_NO_CONSEQUENCE: Readonly<Record<string, string>> = {
  'cluster/jobs svm.uuid': 'a job tells of what was',
  'storage/volumes movement.destination_aggregate.uuid': 'an order, which is not kept',
  'storage/volumes/{volume.uuid}/snapshots svm.uuid': 'that of its volume, with which it goes',
  'application/applications nas.exclude_aggregates': 'an order, which is not kept',
  'application/consistency-groups/{consistency_group.uuid}/snapshots svm.uuid': 'that of its group, with which it goes',
  'storage/quota/rules svm.uuid': 'that of its volume, with which it goes',
  'network/ip/subnets ipspace.uuid': 'that of its broadcast domain, which keeps the IPspace',
  'protocols/s3/buckets svm.uuid': 'that of its volume, which keeps the SVM',
  'protocols/s3/buckets server.uuid': 'the server looks for buckets',
  'protocols/s3/buckets aggregates': 'says where the volume is to be made, and is not kept',
  'protocols/s3/services/{svm.uuid}/buckets/{s3_bucket.uuid}/snapshots svm.uuid':
    'that of its bucket, with which it goes',
  'private/damaged-objects aggregate.uuid': 'where the volume lay when the damage was found',
  'private/damaged-objects svm.uuid': 'that of its volume, with which it goes',
  'private/damaged-objects bucket.uuid': 'a damage tells of what was, until its volume goes',
}

test('each reference that is stored says what becomes of it when what it names is deleted', () => {
  const unsaid = behaviours
    .filter(({ resource, rows }) => resource.rowsOf === resource.type && rows === undefined)
    .flatMap((behaviour) =>
      [...behaviour.resource.fields.values()]
        .filter((field) => isStored(behaviour, field) && !saysOf(behaviour.resource, field))
        .map((field) => `${behaviour.resource.type} ${field.path}`),
    )
    .filter((one) => OF_NO_CONSEQUENCE[one] === undefined)
  assert.deepEqual(unsaid, [])
})

function isStored({ derive = [] }: Behaviour, { path, reference }: Field): boolean {
  if (reference === undefined || reference.part === 'name') return false
  return !derive.some(({ gives }) => gives.includes(path) || gives.includes(reference.base))
}

function saysOf({ within }: Resource, { reference }: Field): boolean {
  return within.some(({ path }) => path === reference?.base)
}
