/** Every action is called by its name with its example, and then as the REST interface spells it: which is the same action. */
import assert from 'node:assert/strict'
import { after, mock, suite, test } from 'node:test'
import { spelledPaths } from '../../src/core/action.ts'
import { listActions, type ListedAction } from '../../src/core/action-list.ts'
import { realSystem } from '../../src/engines/system.ts'
import type { Verb } from '../../src/core/verb.ts'
import { argumentsOf } from '../../src/model/arguments.ts'
import { flatten } from '../../src/model/shape.ts'
import { type Row, textAt, textOf } from '../../src/model/value.ts'
import { behaviours } from '../../src/resources/index.ts'
import { allowAnyAggregate } from '../support/any-aggregate.ts'
import { asText, recordsOf } from '../support/body.ts'
import { startTestCluster } from '../support/cluster.ts'
import { Examples } from '../support/examples.ts'

const VOLUMES = '/api/storage/volumes'
const LOOKS_MAX = 2000

suite('actions', async () => {
  const cluster = await startTestCluster()
  after(() => cluster.close())
  const call = (method: string, target: string, body?: unknown) => cluster.call(method, target, body)
  const done = async (method: string, target: string, body?: unknown) => {
    const reply = await call(method, `${target}${target.includes('?') ? '&' : '?'}return_timeout=15`, body)
    assert.ok(reply.status === 200 || reply.status === 201, `${method} ${target}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  const examples = new Examples(call)
  await allowAnyAggregate(cluster.cluster)
  let made = 0
  let looks = 0
  const turn = async () => {
    if (++looks > LOOKS_MAX) throw new Error('What the example needs does not come about.')
    await realSystem.clock.sleep(5)
  }

  const madeVolume = async (body: Readonly<Record<string, unknown>>) => {
    const name = `vol_action_${++made}`
    await done('POST', VOLUMES, { 'svm.name': 'svm1', size: '64m', ...body, name })
    return `${VOLUMES}/${await cluster.uuidOf(VOLUMES, name)}`
  }

  /** What no example of a resource makes. */
  const needs: Readonly<Record<string, () => Promise<string>>> = {
    'a job that can halt': jobThatCanHalt,
    async 'a paused job'() {
      const job = await jobThatCanHalt()
      await done('PATCH', `${job}?action=pause`)
      while (asText((await call('GET', job)).body['state']) !== 'paused') await turn()
      return job
    },
    async 'a deleted volume'() {
      const { body } = await call('GET', `${VOLUMES}?name=vol_recovered`)
      for (const { uuid } of recordsOf(body)) await done('DELETE', `${VOLUMES}/${asText(uuid)}?force=true`)
      const volume = await madeVolume({})
      await done('DELETE', volume)
      return `/api/private/cli/volume/recovery-queue/${volume.split('/').at(-1)}`
    },
    async 'a volume with a snapshot "snap_example"'() {
      const volume = await madeVolume({})
      await done('POST', `${volume}/snapshots`, { name: 'snap_example' })
      return volume
    },
    async 'a bucket with a snapshot "snap-example"'() {
      const buckets = '/api/protocols/s3/buckets'
      const name = `bucket-action-${++made}`
      await done('POST', buckets, { name, 'svm.name': 'svm1', 'volume.name': 'vol1', size: '1g' })
      const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
      const bucket = `/api/protocols/s3/services/${svm}/buckets/${await cluster.uuidOf(buckets, name)}`
      await done('POST', `${bucket}/snapshots`, { name: 'snap-example' })
      return bucket
    },
    'an aggregate "aggr2"': async () => {
      const aggregates = '/api/storage/aggregates'
      const { body } = await call('GET', `${aggregates}?name=aggr2`)
      if (recordsOf(body).length === 0) {
        await done('POST', aggregates, { name: 'aggr2', block_storage: { path: '/disk2/a' } })
      }
      return madeVolume({ 'aggregates.name': ['aggr1'] })
    },
    async 'a volume that waits for its cutover'() {
      const volume = (await needs['an aggregate "aggr2"']?.()) ?? ''
      await call('PATCH', `${volume}?return_timeout=0`, {
        movement: { destination_aggregate: { name: 'aggr2' }, state: 'cutover_wait' },
      })
      const state = async (): Promise<unknown> =>
        (await call('GET', `${volume}?fields=movement`)).body['movement']?.['state']
      while ((await state()) !== 'cutover_pending') await turn()
      return volume
    },
    async 'a volume whose efficiency run is about to start'() {
      const volume = await madeVolume({ 'efficiency.compression': 'inline' })
      await done('PATCH', volume, { 'efficiency.scanner.state': 'active' })
      return volume
    },
    async 'a domain with the port node1:eth0'() {
      const [port] = recordsOf((await call('GET', '/api/network/ethernet/ports?name=eth0')).body)
      const domain = { name: 'Default', ipspace: { name: 'Default' } }
      await done('PATCH', `/api/network/ethernet/ports/${asText(port?.['uuid'])}`, { broadcast_domain: domain })
      const domains = '/api/network/ethernet/broadcast-domains'
      return `${domains}/${await cluster.uuidOf(domains, 'Default')}`
    },
  }

  /** A job of many records, which waits before its first one. */
  async function jobThatCanHalt(): Promise<string> {
    for (const { uuid } of recordsOf((await call('GET', '/api/cluster/jobs?state=running|paused')).body)) {
      await call('PATCH', `/api/cluster/jobs/${asText(uuid)}?action=cancel`)
    }
    while (cluster.jobs.activeCount > 0) await turn()
    const late = { type: 'job_delay', method: 'POST', path: VOLUMES, delay_ms: 60_000, times: 1 }
    await done('POST', '/api/private/faults', late)
    const records = [{ name: `late_${++made}`, 'svm.name': 'svm1', size: '64m' }]
    const { body } = await call('POST', `${VOLUMES}?return_timeout=0`, { records })
    const job = `/api/cluster/jobs/${asText(body['job']?.['uuid'])}`
    while (asText((await call('GET', job)).body['state']) !== 'running') await turn()
    return job
  }

  const recordFor = async ({ behaviour, action }: ListedAction): Promise<string> => {
    if (action.needs !== undefined) {
      const prepare = needs[action.needs]
      assert.ok(prepare, `No test prepares ${action.needs}.`)
      return prepare()
    }
    const { create } = behaviour
    const example = action.exampleOf === undefined ? create?.example : create?.moreExamples?.[action.exampleOf]?.body
    if (behaviour.resource.path === '/storage/volumes') return madeVolume(example ?? {})
    const instance = await examples.instanceOf(behaviour)
    assert.ok(instance, `There is no ${behaviour.resource.noun}.`)
    return instance
  }

  const rowAt = async (
    { behaviour: { resource } }: ListedAction,
    instance: string,
  ): Promise<[Row, Record<string, string>]> => {
    const words = instance.split('/').slice(2).map(decodeURIComponent)
    const [shape, path] = [
      `${resource.path}/${resource.key.map((key) => `{${key}}`).join('/')}`,
      {} as Record<string, string>,
    ]
    for (const [at, word] of shape.slice(1).split('/').entries()) {
      if (word.startsWith('{')) path[word.slice(1, -1)] = words[at] ?? ''
    }
    const row = await cluster.cluster.find(resource.rowsOf, resource.recordKey.map((key) => path[key]).join('/'))
    assert.ok(row, instance)
    return [row, path]
  }

  const callByName = async (listed: ListedAction) => {
    const { behaviour, name, action } = listed
    const [row, path] = await rowAt(listed, await recordFor(listed))
    const fields = { fields: argumentsOf(action.args) }
    const args = flatten(fields, action.example, () => true, cluster.cluster.release)
    const caller = { user: 'admin', role: 'admin', from: 'test' }
    const { job } = await cluster.actions.act(behaviour, name, { caller, row, path, args, description: `test ${name}` })
    if (job === undefined) return
    assert.equal(job['$verb'], name)
    const ended = await cluster.jobs.wait(textAt(job, 'uuid'), 15_000)
    assert.equal(ended['state'], 'success', JSON.stringify(ended))
  }

  /** A change that asks for the action by the first of its spellings, with the arguments of the example. */
  const spelledRequest = ({ behaviour: { resource }, action: { spelled, example } }: ListedAction) => {
    const [body, query]: [Record<string, unknown>, string[]] = [{}, []]
    const say = (path: string, value: unknown) => {
      const isField = [path, `${path}.name`].some((one) => resource.fields.has(one))
      if (isField) body[path] = value
      else query.push(`${path}=${encodeURIComponent(String(value))}`)
    }
    const [first] = Object.entries(spelled?.asks ?? {})
    if (first !== undefined && first[1] !== 'any') say(first[0], first[1][0])
    for (const [argument, value] of Object.entries(example)) {
      const at = Object.entries(spelled?.args ?? {}).find(([base]) => argument === base || argument === `${base}.name`)
      assert.ok(at, `No spelling gives ${argument}.`)
      say(argument === at[0] ? at[1] : `${at[1]}.name`, value)
    }
    return { query: query.join('&'), body }
  }

  const callElsewhere = async (listed: ListedAction, path: string, verb: Verb, method: string) => {
    const [row] = await rowAt(listed, await recordFor(listed))
    const named = row['volume'] === undefined ? {} : { volume: row['volume'] }
    const query = Object.entries(verb.exampleArgs?.[0] ?? {}).map(([name, value]) => `${name}=${textOf(value)}`)
    await done(method, `/api${path}?${query.join('&')}`, { ...verb.example, ...named, ...listed.action.example })
  }

  for (const listed of listActions(behaviours)) {
    const { behaviour, name, action, spellings } = listed
    test(`${name} of ${behaviour.resource.path} can be called by its name, and as requests spell it`, async () => {
      const plan = mock.method(action, 'plan')
      const argsOf = (at: number) => plan.mock.calls[at]?.arguments[1].args
      await callByName(listed)
      assert.equal(plan.mock.callCount(), 1)
      assert.ok(spellings.length > 0, 'No request spells it.')
      if (action.spelled !== undefined) {
        const { query, body } = spelledRequest(listed)
        await done('PATCH', `${await recordFor(listed)}?${query}`, body)
      }
      for (const { resource, ...verbs } of behaviours) {
        for (const [verb, method] of [
          [verbs.create, 'POST'],
          [verbs.modify, 'PATCH'],
        ] as const) {
          if (verb?.spells?.type !== behaviour.resource.type || verb.spells.name !== name) continue
          await callElsewhere(listed, resource.path, verb, method)
        }
      }
      plan.mock.restore()
      assert.ok(plan.mock.callCount() > 1, 'No spelling reached it.')
      for (let at = 1; at < plan.mock.callCount(); at++) assert.deepEqual(argsOf(at), argsOf(0))
    })
  }

  test('a field or an argument that spells an action is there', () => {
    for (const { behaviour, action } of listActions(behaviours)) {
      const { resource, modify } = behaviour
      for (const path of spelledPaths(action)) {
        assert.ok(resource.fields.has(path) || argumentsOf(modify?.args).has(path), `${resource.type}: ${path}`)
      }
    }
  })
})
