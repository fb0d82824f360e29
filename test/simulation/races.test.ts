/**
 * What one management plane decides while another, with locks of its own, changes what that rests on: just before the
 * commit, each time. Found by [two-planes.test.ts](two-planes.test.ts) or by thinking.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { LOCK_CLAIMS } from '../../src/core/jobs/lock-claims.ts'
import { setSize } from '../../src/resources/storage/volumes/set-size.ts'
import { asNumber, asText, recordsOf } from '../support/body.ts'
import type { Answered, TestCluster } from '../support/cluster.ts'
import { leftovers } from '../support/leftovers.ts'
import { puts, removes, startTwoPlanes, type TwoPlanes } from '../support/two-planes.ts'

const SVMS = '/api/svm/svms'
const VOLUMES = '/api/storage/volumes'
const GROUPS = '/api/application/consistency-groups'
const APPLICATIONS = '/api/application/applications'
const EXPORTS = '/api/protocols/nfs/export-policies'
const MIB = 2 ** 20

let two: TwoPlanes
let first: TestCluster
let second: TestCluster
beforeEach(async () => {
  two = await startTwoPlanes()
  ;({ first, second } = two)
  await good(first, 'POST', SVMS, { name: 's' })
})
afterEach(async () => {
  const left = await leftovers(first.cluster, 'nowhere')
  await two.close()
  assert.deepEqual(left, [])
})

/** Answered when all is done. */
async function ask(plane: TestCluster, method: string, path: string, body?: object): Promise<Answered> {
  return plane.call(method, `${path}${path.includes('?') ? '&' : '?'}return_timeout=60`, body)
}

async function good(plane: TestCluster, method: string, path: string, body?: object): Promise<Answered> {
  const answered = await ask(plane, method, path, body)
  assert.ok(answered.status < 300, `${method} ${path}: ${JSON.stringify(answered.body)}`)
  return answered
}

const volumeOf = (name: string, more: object = {}) => ({ name, svm: { name: 's' }, size: '40m', ...more })

async function makeVolume(name: string, more: object = {}): Promise<string> {
  await good(first, 'POST', VOLUMES, volumeOf(name, more))
  return first.uuidOf(VOLUMES, name)
}

async function limit(bytes: number): Promise<string> {
  const path = `${SVMS}/${await first.uuidOf(SVMS, 's')}`
  await good(first, 'PATCH', path, { storage: { limit: bytes } })
  return path
}

async function sizes(): Promise<number> {
  return (await first.cluster.rows('storage/volumes')).reduce((sum, volume) => sum + volume['size'], 0)
}

const THIN = { guarantee: { type: 'none' } }
const GROWING = { autosize: { mode: 'grow', maximum: '100m' } }

test('a volume that grows by itself stays within the limit of its SVM, though others grow meanwhile', async () => {
  const [one, other] = [await makeVolume('one', GROWING), await makeVolume('other')]
  await limit(100 * MIB)
  two.beforeCommit(puts('storage/volumes'), async () => {
    await good(second, 'PATCH', `${VOLUMES}/${other}`, { size: 58 * MIB })
  })
  await setSize(first.cluster, one, 45 * MIB)
  assert.equal(await sizes(), 100 * MIB)
})

test('a limit that is set while a volume grows is that of the volumes as they are', async () => {
  const one = await makeVolume('one')
  const svm = await limit(200 * MIB)
  two.beforeCommit(puts('svm/svms'), async () => {
    await good(second, 'PATCH', `${VOLUMES}/${one}`, { size: 150 * MIB })
  })
  const { status } = await ask(first, 'PATCH', svm, { storage: { limit: 100 * MIB } })
  assert.ok(status >= 400, String(status))
  assert.equal((await first.cluster.rows('svm/svms'))[0]?.['storage.limit'], 200 * MIB)
})

test('a volume does not grow beyond a limit that is set meanwhile', async () => {
  const one = await makeVolume('one')
  const svm = await limit(200 * MIB)
  two.beforeCommit(puts('storage/volumes'), async () => {
    await good(second, 'PATCH', svm, { storage: { limit: 100 * MIB } })
  })
  const { status } = await ask(first, 'PATCH', `${VOLUMES}/${one}`, { size: 150 * MIB })
  assert.ok(status >= 400)
  assert.equal(await sizes(), 40 * MIB)
})

test('the volumes of an application stay within the limit of their SVM, though others are made meanwhile', async () => {
  await limit(100 * MIB)
  two.beforeCommit(puts('application/applications'), async () => {
    await good(second, 'POST', VOLUMES, volumeOf('other', THIN))
  })
  const nas = { application_components: [{ name: 'part', total_size: '80m', share_count: 1 }] }
  const { status } = await ask(first, 'POST', APPLICATIONS, {
    name: 'a',
    svm: { name: 's' },
    smart_container: true,
    nas,
  })
  assert.ok(status >= 400, String(status))
  assert.equal(await sizes(), 40 * MIB)
})

test('the new volumes of a group stay within the limit of their SVM, though others are made meanwhile', async () => {
  await limit(100 * MIB)
  two.beforeCommit(puts('application/consistency-groups'), async () => {
    await good(second, 'POST', VOLUMES, volumeOf('other', THIN))
  })
  const volumes = [{ name: 'part', space: { size: '80m' }, provisioning_options: { action: 'create' } }]
  const { status } = await ask(first, 'POST', GROUPS, { name: 'g', svm: { name: 's' }, volumes })
  assert.ok(status >= 400, String(status))
  assert.equal(await sizes(), 40 * MIB)
})

for (const way of ['new', 'known'] as const) {
  test(`a ${way} group takes in no volume that is deleted meanwhile`, async () => {
    const [one, other] = [await makeVolume('one'), await makeVolume('other')]
    const members = (name: string) => [{ name, provisioning_options: { action: 'add' } }]
    if (way === 'known') await good(first, 'POST', GROUPS, { name: 'g', svm: { name: 's' }, volumes: members('other') })
    two.beforeCommit(puts('application/consistency-groups'), async () => {
      await good(second, 'DELETE', `${VOLUMES}/${one}`)
    })
    const { status } =
      way === 'new'
        ? await ask(first, 'POST', GROUPS, { name: 'g', svm: { name: 's' }, volumes: members('one') })
        : await ask(first, 'PATCH', `${GROUPS}/${await first.uuidOf(GROUPS, 'g')}`, { volumes: members('one') })
    assert.ok(status >= 400, String(status))
    const groups = await first.cluster.rows('application/consistency-groups')
    assert.deepEqual(
      groups.flatMap(({ $volumes }) => $volumes),
      way === 'new' ? [] : [other],
    )
  })
}

test('the export policy of an application that goes stays where a volume takes it up meanwhile', async () => {
  const one = await makeVolume('one')
  const nas = {
    application_components: [{ name: 'part', total_size: '80m', share_count: 1 }],
    nfs_access: [{ host: '192.0.2.0/24', access: 'rw' }],
  }
  await good(first, 'POST', APPLICATIONS, { name: 'a', svm: { name: 's' }, smart_container: true, nas })
  two.beforeCommit(removes('application/applications'), async () => {
    await good(second, 'PATCH', `${VOLUMES}/${one}`, { nas: { export_policy: { name: 'a' } } })
  })
  await good(first, 'DELETE', `${APPLICATIONS}/${await first.uuidOf(APPLICATIONS, 'a')}`)
  assert.deepEqual(await first.cluster.rows('application/applications'), [])
  const { body } = await first.call('GET', `${EXPORTS}?name=a`)
  assert.equal(recordsOf(body).length, 1)
})

test('a request that loses every race is refused as changed by another, and leaves nothing', async () => {
  await good(first, 'POST', EXPORTS, { name: 'e', svm: { name: 's' } })
  const { body } = await first.call('GET', `${EXPORTS}?name=e`)
  const path = `${EXPORTS}/${asNumber(recordsOf(body)[0]?.['id'])}`
  const rule = (match: string) => ({ clients: [{ match }], ro_rule: ['any'], rw_rule: ['any'] })
  let races = 0
  two.beforeCommit(
    puts('protocols/nfs/export-policies'),
    async () => {
      await good(second, 'POST', `${path}/rules`, rule(`other${++races}.example`))
    },
    Infinity,
  )
  const answered = await ask(first, 'POST', `${path}/rules`, rule('loser.example'))
  assert.deepEqual([answered.status, races], [409, 20])
  assert.match(asText(answered.body['error']?.['message']), /was changed by another request/)
  const policy = JSON.stringify((await first.call('GET', `${path}?fields=**`)).body)
  assert.ok(!policy.includes('loser.example') && policy.includes('other20.example'))
})

test('a job that loses every race fails as changed by another, and leaves neither a record nor a tree nor a lock', async () => {
  const other = await makeVolume('other')
  let races = 0
  two.beforeCommit(
    puts('storage/volumes'),
    async () => {
      await good(second, 'PATCH', `${VOLUMES}/${other}`, { comment: `change ${++races}` })
    },
    Infinity,
  )
  const answered = await ask(first, 'POST', VOLUMES, volumeOf('loser'))
  assert.deepEqual([answered.status, races], [409, 20])
  assert.match(asText(answered.body['error']?.['message']), /was changed by another request/)
  assert.deepEqual(
    (await first.cluster.rows('storage/volumes')).map((volume) => volume['name']),
    ['other'],
  )
  assert.deepEqual(await first.cluster.catalog.records(LOCK_CLAIMS), [])
})
