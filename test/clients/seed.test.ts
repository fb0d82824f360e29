/** Clusters for a test run: seeded at the start, gone at the end, exported while they run. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { recordsOf } from '../support/body.ts'
import { killAll, run, SMALL, startWith, type Started } from '../support/started.ts'
import { kill, descendants, canSeeProcesses } from './processes.ts'
import { reasonUnlessWhole } from './programs.ts'

const LAB = `
svm/svms:
  - name: lab1
network/ip/interfaces:
  - { name: data1, svm: lab1, ip: { address: 127.0.0.1, netmask: 8 } }
storage/volumes:
  - { name: data, svm: lab1, size: 10g, guarantee.type: none }
protocols/s3/services:
  - { name: s3, svm: lab1, enabled: true, data_volumes: [data] }
protocols/s3/buckets:
  - { name: papers, svm: lab1, volume: data, size: 1073741824 }
protocols/s3/services/users:
  - { name: anna, svm: lab1, access_key: ANNASACCESSKEY, secret_key: annas-secret-key }
`

describe('a seeded start', () => {
  let folder: string
  let seed: string
  /** The one that runs: the tests follow each other on it. */
  let lab: Started
  const at = (name: string) => join(folder, name)
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-seed-'))
    seed = at('lab.yaml')
    await writeFile(seed, LAB)
  })
  after(async () => {
    await killAll()
    await rm(folder, { recursive: true, force: true })
  })

  it('has what the file says when it is ready, over REST and over S3', async () => {
    lab = await startWith(['--bare', '--ephemeral', '--seed', seed])
    assert.match(lab.said(), /Seeded: 6 made, 0 changed, 0 as they should be\./)
    const { body } = await lab.rest.call('GET', '/api/storage/volumes?fields=name,svm.name,size')
    assert.deepEqual(
      recordsOf(body).map((volume) => [volume['name'], volume['size']]),
      [['data', 10 * 2 ** 30]],
    )
    const answered = await fetch(`${lab.s3Http}/papers`)
    assert.equal(answered.status, 403, 'the bucket is there, and private')
    assert.equal((await fetch(`${lab.s3Http}/livez`)).status, 200)
  })

  it('is brought to a file while it runs, by a command that changes nothing the second time', async () => {
    const more = at('more.yaml')
    const another = '  - { name: berta, svm: lab1, access_key: BERTASACCESSKEY, secret_key: bertas-secret-key }'
    await writeFile(more, `${LAB.replace('size: 10g', 'size: 12g')}${another}\n`)
    const args = ['import', more, '--to', lab.management, '--insecure']
    const password = { HOLDFAST_ADMIN_PASSWORD: SMALL['HOLDFAST_ADMIN_PASSWORD'] ?? '' }
    const first = run(args, password)
    assert.equal(await first.ended, 0, first.said())
    assert.match(first.said(), /Seeded: 1 made, 1 changed, 5 as they should be\./)
    const second = run(args, password)
    assert.equal(await second.ended, 0, second.said())
    assert.match(second.said(), /Seeded: 0 made, 0 changed, 7 as they should be\./)
    const wrong = at('wrong.yaml')
    await writeFile(wrong, 'storage/volumes:\n  - { name: v, svm: nobody }\n')
    const third = run(['import', wrong, ...args.slice(2)], password)
    assert.equal(await third.ended, 2)
    assert.match(third.said(), /wrong\.yaml:2: storage\/volumes "v"/)
  })

  it('an ephemeral cluster leaves nothing after SIGKILL', { skip: !canSeeProcesses }, () => leavesNothing('SIGKILL'))

  const inProcess = reasonUnlessWhole('src/core/seed/seed.test.ts')
  it('changes nothing when it starts again, and exports what it has while it runs', { skip: inProcess }, async () => {
    const data = ['--data', at('data')]
    await stop(await startWith([...data, '--bare', '--seed', seed]))
    const lab = await startWith([...data, '--seed', seed])
    assert.match(lab.said(), /Seeded: 0 made, 0 changed, 6 as they should be\./)

    const plain = run(['export', ...data])
    assert.equal(await plain.ended, 0, plain.said())
    assert.match(plain.said(), /^storage\/volumes:\n {2}- name: data\n/m)
    assert.doesNotMatch(plain.said(), /annas-secret-key/)

    await writeFile(at('whole.yaml'), 'what was there before', { mode: 0o644 })
    const whole = run(['export', ...data, '--with-secrets', '--to', at('whole.yaml')])
    assert.equal(await whole.ended, 0, whole.said())
    assert.equal((await stat(at('whole.yaml'))).mode & 0o777, 0o600)
    assert.match(await readFile(at('whole.yaml'), 'utf8'), /secret_key: annas-secret-key/)

    const refused = run(['export', ...data, '--with-secrets'])
    assert.equal(await refused.ended, 2)
    assert.match(refused.said(), /say --to FILE/)
    await stop(lab)

    const again = await startWith(['--ephemeral', '--bare', '--seed', at('whole.yaml')])
    const { body } = await again.rest.call('GET', '/api/protocols/s3/buckets?fields=name')
    assert.deepEqual(
      recordsOf(body).map(({ name }) => name),
      ['papers'],
    )
    await stop(again)
  })

  it('ends with file, line and mistake when it cannot be had; the next start is the first again', async () => {
    await writeFile(at('bad.yaml'), 'svm/svms:\n  - name: lab1\nstorage/volumes:\n  - name: v\n    svm: lab2\n')
    const data = { ...SMALL, HOLDFAST_DATA: at('bad') }
    const refused = run(['start', '--bare', '--seed', at('bad.yaml')], data)
    assert.equal(await refused.ended, 2)
    assert.equal(refused.said(), `${at('bad.yaml')}:5: storage/volumes "v": There is no SVM "lab2".\n`)
    const lab = await startWith(['--bare', '--seed', seed], data)
    assert.match(lab.said(), /-u "admin:\$HOLDFAST_ADMIN_PASSWORD"/, 'it is the first start')
    assert.match(lab.said(), /Seeded: 5 made, 0 changed, 1 as they should be\./)
    await stop(lab)

    const missing = run(['start', '--seed', at('nothing.yaml')], data)
    assert.equal(await missing.ended, 2)
    assert.match(missing.said(), /nothing.yaml cannot be read/)
  })

  it(
    'is recorded in a trace that only its owner reads, and replayed against another cluster',
    { skip: reasonUnlessWhole('src/faces/rest/trace.test.ts') },
    async () => {
      const trace = at('trace.jsonl')
      const first = await startWith(['--ephemeral', '--bare', '--seed', seed, '--trace', trace])
      await first.rest.call('GET', '/api/svm/svms?name=lab1')
      await first.rest.call('POST', '/api/security/accounts', { name: 'ann', password: 'never in a trace' })
      await first.rest.call('POST', '/api/storage/volumes', { name: 'v1', svm: 'lab1', size: '20m' })
      await stop(first)
      const text = await readFile(trace, 'utf8')
      assert.equal(text.trimEnd().split('\n').length, 3)
      assert.equal((await stat(trace)).mode & 0o777, 0o600)
      assert.doesNotMatch(text, /never in a trace/)

      const second = await startWith(['--ephemeral', '--bare', '--seed', seed])
      const to = ['--to', second.management, '--insecure']
      const same = run(['replay', trace, ...to], SMALL)
      assert.equal(await same.ended, 0, same.said())
      assert.equal(same.said(), '3 answered as recorded, 0 otherwise.\n')
      const again = run(['replay', trace, ...to], SMALL)
      assert.equal(await again.ended, 1)
      assert.match(
        again.said(),
        /trace.jsonl:3: POST \/api\/storage\/volumes: 201, now 409: A volume named "v1" exists already/,
      )
      await stop(second)
    },
  )

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const skip = !canSeeProcesses || reasonUnlessWhole('test/clients/seed.test.ts')
    it(`an ephemeral cluster leaves nothing after ${signal}`, { skip }, async () => {
      lab = await startWith(['--ephemeral', '--bare'])
      await leavesNothing(signal)
    })
  }

  it('an ephemeral cluster has no data folder', async () => {
    const refused = run(['start', '--ephemeral', '--data', at('data')], SMALL)
    assert.equal(await refused.ended, 2)
    assert.match(refused.said(), /An ephemeral cluster has a folder of its own/)
  })

  async function leavesNothing(signal: NodeJS.Signals): Promise<void> {
    assert.ok(existsSync(join(lab.folder, 'endpoints.json')))
    // Not the shell that is to remove the folder.
    const others = descendants(lab.pid).filter(({ part }) => part !== 'other')
    lab.kill(signal)
    assert.equal(await lab.ended, signal === 'SIGKILL' ? 'SIGKILL' : 0)
    if (signal === 'SIGKILL') for (const { pid } of others) kill(pid)
    for (let tries = 0; existsSync(lab.folder) && tries < 1200; tries++) await wait(50)
    assert.equal(existsSync(lab.folder), false)
  }

  async function stop(lab: Started): Promise<void> {
    lab.kill('SIGTERM')
    assert.equal(await lab.ended, 0, lab.said())
  }
})
