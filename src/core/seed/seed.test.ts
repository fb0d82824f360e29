import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { parse } from 'yaml'
import { asText, recordsOf } from '../../../test/support/body.ts'
import { startTestCluster, type TestCluster } from '../../../test/support/cluster.ts'
import { textAt } from '../../model/value.ts'
import { seed } from './apply.ts'
import { SeedError } from './document.ts'
import { exportSeed } from './export.ts'

const SVM = '0b4a9a0e-6a5c-11ef-8f0c-00a098d39e12'
const VOLUME = '0b4a9a0e-6a5c-11ef-8f0c-00a098d39e13'

const LAB = `
cluster:
  name: lab
  contact: storage team
cluster/ntp/servers:
  - server: time.example.com
storage/volumes:                      # before the SVM it is in: the order does not matter
  - name: data
    uuid: ${VOLUME}
    svm: lab1
    size: 10g
    guarantee: { type: none }
    snapshot_policy.name: nightly
    comment: made by a seed
svm/svms:
  - { name: lab1, uuid: ${SVM}, comment: for tests, state: running }
storage/snapshot-policies:
  - name: nightly
    copies: [{ schedule: { name: daily }, count: 5, prefix: nightly }]
protocols/s3/services:
  - { name: s3, svm: lab1, enabled: true, data_volumes: [data] }
protocols/s3/buckets:
  - { name: papers, svm: lab1, volume: data, size: 1073741824 }
protocols/s3/services/users:
  - { name: anna, svm: lab1, access_key: ANNASACCESSKEY, secret_key: annas-secret-key }
  - { name: ben, svm: lab1 }
protocols/s3/services/groups:
  - { name: all, svm: lab1, users: [{ name: anna }], policies: [{ name: FullAccess }] }
storage/volumes/snapshots:
  - { name: first, svm: lab1, volume: data }
storage/qtrees:
  - { name: home, svm: lab1, volume: data }
storage/quota/rules:
  - { svm: lab1, volume: data, type: user, users: [{ name: anna }], space.hard_limit: 1073741824 }
security/accounts:
  - { name: watcher, role.name: readonly, password: a password of the lab }
security/authentication/keys:
  - { user.name: watcher, role.name: readonly }
`

const file = (text: string) => ({ name: 'lab.yaml', text })

describe('a seed file', () => {
  let lab: TestCluster
  before(async () => {
    lab = await startTestCluster({ isBare: true })
  })
  after(() => lab.close())

  it('makes what it says, in whatever order, with the uuids it says', async () => {
    const seeded = await seed(lab.actions, file(LAB))
    assert.deepEqual([seeded.made, seeded.changed, seeded.same], [14, 1, 0])
    const volume = await lab.call('GET', `/api/storage/volumes/${VOLUME}?fields=*`)
    assert.equal(volume.status, 200)
    assert.equal(volume.body['size'], 10 * 2 ** 30)
    assert.deepEqual(volume.body['svm'], { name: 'lab1', uuid: SVM })
    const snapshots = await lab.call('GET', `/api/storage/volumes/${VOLUME}/snapshots?name=first`)
    assert.equal(snapshots.body['num_records'], 1)
    assert.equal((await lab.call('GET', '/api/cluster')).body['name'], 'lab')
  })

  it('tells keys that it did not say, and only those', async () => {
    const again = await startTestCluster({ isBare: true })
    const { revealed } = await seed(again.actions, file(LAB))
    assert.deepEqual(
      revealed.map(({ title, fields }) => [title, Object.keys(fields)]),
      [
        ['protocols/s3/services/users "ben"', ['access_key', 'secret_key']],
        ['security/authentication/keys', ['key']],
      ],
    )
    await again.close()
  })

  it('changes nothing the second time', async () => {
    const before = await exportSeed(lab.cluster, { withSecrets: true })
    const commits = lab.cluster.catalog.commit.bind(lab.cluster.catalog)
    let count = 0
    lab.cluster.catalog.commit = (changes) => {
      count++
      return commits(changes)
    }
    const seeded = await seed(lab.actions, file(LAB))
    lab.cluster.catalog.commit = commits
    assert.deepEqual([seeded.made, seeded.changed, seeded.same], [0, 0, 15])
    assert.equal(count, 0)
    assert.equal(await exportSeed(lab.cluster, { withSecrets: true }), before)
  })

  it('changes what differs, and leaves what it does not name', async () => {
    const text = `storage/volumes: { name: data, svm: lab1, size: 20g }`
    const seeded = await seed(lab.actions, file(text))
    assert.deepEqual([seeded.made, seeded.changed, seeded.same], [0, 1, 0])
    const { body } = await lab.call('GET', `/api/storage/volumes/${VOLUME}?fields=size,comment`)
    assert.equal(body['size'], 20 * 2 ** 30)
    assert.equal(body['comment'], 'made by a seed')
  })

  it('is in the audit trail, with file and line', async () => {
    const { body } = await lab.call('GET', '/api/security/audit/messages?location=seed&fields=input')
    assert.ok(recordsOf(body).some(({ input }) => asText(input) === 'seed lab.yaml:8: create storage/volumes "data"'))
  })

  it('tells everything that is wrong with its form, with file and line, and makes nothing then', async () => {
    const text = [
      'storage/volumes:',
      '  - name: good',
      '    svm: lab1',
      '    size: 10g',
      '  - name: bad',
      '    size: many',
      '  - name: odd',
      '    colour: red',
      'storage/volumess: []',
      'svm/svms:',
      '  - name: x',
      '    uuid: 12',
      '    state: sleeping',
      'cluster/jobs: [{ name: x }]',
      'storage/volumes/snapshots: [7]',
    ]
    await rejects(text.join('\n'), [
      /^lab.yaml:6: storage\/volumes "bad": Invalid value for field "size": /,
      /^lab.yaml:8: storage\/volumes "odd": Unexpected argument "colour"\.$/,
      /^lab.yaml:9: There is no collection "storage\/volumess" that records can be made in\.$/,
      /^lab.yaml:12: svm\/svms "x": Invalid value for field "uuid": "12" is not a UUID\.$/,
      /^lab.yaml:14: There is no collection "cluster\/jobs"/,
      /^lab.yaml:15: storage\/volumes\/snapshots: It is no record/,
    ])
    const { body } = await lab.call('GET', '/api/storage/volumes?name=good')
    assert.equal(body['num_records'], 0)
  })

  it('tells what is wrong with the YAML', async () => {
    await rejects('svm/svms:\n  - name: a\n name: b', [/^lab.yaml:3: /])
    await rejects('svm/svms: []\nsvm/svms: []', [/^lab.yaml:2: Map keys must be unique/])
    await rejects('- a', [/^lab.yaml:1: It is no map of paths/])
    await rejects('svm/svms:\n  - name: *nobody', [/^lab.yaml:2: /])
  })

  it('tells what the cluster refuses, with file and line', async () => {
    await rejects('\nstorage/volumes:\n  - name: v\n    svm: nobody\n    size: 10g', [
      /^lab.yaml:4: storage\/volumes "v": There is no SVM "nobody"\.$/,
    ])
    await rejects('storage/volumes:\n  - name: data\n    svm: lab1\n    type: dp', [
      /^lab.yaml:4: storage\/volumes "data": Field "type" of what is there is "rw", and cannot be changed\.$/,
    ])
    await rejects(`svm/svms:\n  - name: lab1\n    uuid: ${VOLUME}`, [
      /^lab.yaml:3: svm\/svms "lab1": The SVM is there with another UUID/,
    ])
    await rejects('storage/volumes/snapshots:\n  - name: x', [/^lab.yaml:2: .*"volume.name" is required/])
  })

  it('takes no orders to what is there', async () => {
    await rejects('storage/volumes:\n  - name: data\n    svm: lab1\n    movement: { state: paused }', [
      /^lab.yaml:4: .*"movement.state" cannot be set/,
    ])
  })

  async function rejects(text: string, expected: readonly RegExp[]): Promise<void> {
    await assert.rejects(seed(lab.actions, file(text)), (failure) => {
      assert.ok(failure instanceof SeedError, String(failure))
      const lines = failure.message.split('\n')
      assert.equal(lines.length, expected.length, failure.message)
      for (const [at, pattern] of expected.entries()) assert.match(lines[at] ?? '', pattern)
      return true
    })
  }
})

describe('an export', () => {
  it('is a seed that makes the same cluster again, whatever resources it has', async () => {
    const first = await startTestCluster()
    // One more of everything that can be made by a record of its own.
    for (const behaviour of first.cluster.behaviours.values()) {
      const { create, modify, resource } = behaviour
      const isRecord = resource.rowsOf === resource.type && modify !== undefined && behaviour.rows === undefined
      if (create?.example === undefined || !isRecord || resource.isContent) continue
      let path = resource.path
      for (const key of resource.pathKeys) {
        const type = resource.fields.get(key)?.reference?.type
        const [parent] = type === undefined ? [] : await first.cluster.rows(type)
        path = path.replace(`{${key}}`, textAt(parent, 'uuid'))
      }
      const { status, body } = await first.call(resource.createMethod, `/api${path}?return_timeout=30`, create.example)
      assert.ok(status === 201, `${path}: ${status} ${JSON.stringify(body)}`)
    }
    const exported = await exportSeed(first.cluster, { withSecrets: true })
    const second = await startTestCluster({ isBare: true })
    await seed(second.actions, file(withPasswords(exported)))
    assert.equal(await exportSeed(second.cluster, { withSecrets: true }), exported)
    const seeded = await seed(second.actions, file(exported))
    assert.deepEqual([seeded.made, seeded.changed], [0, 0])
    await first.close()
    await second.close()
  })

  it('holds secrets only when they are asked for', async () => {
    const lab = await startTestCluster({ isBare: true })
    await seed(lab.actions, file(LAB))
    const plain = await exportSeed(lab.cluster, { withSecrets: false })
    assert.doesNotMatch(plain, /annas-secret-key|ANNASACCESSKEY|a password of the lab|\$secret|\$password/)
    const [anna] = (parse(plain) as Record<string, Record<string, unknown>[]>)['protocols/s3/services/users'] ?? []
    assert.deepEqual(anna, { name: 'anna', svm: 'lab1' })
    const whole = await exportSeed(lab.cluster, { withSecrets: true })
    assert.match(whole, /access_key: ANNASACCESSKEY\n\s+secret_key: annas-secret-key\n/)
    assert.doesNotMatch(whole, /a password of the lab|quick:/)
    await lab.close()
  })

  /** As the first lines of an export say: passwords are added by hand. */
  function withPasswords(exported: string): string {
    return exported.replace(/^security\/accounts:\n(?:.+\n)+/m, (accounts) =>
      accounts.replaceAll(/^ {2}- /gm, '  - password: a password for tests\n    '),
    )
  }
})
