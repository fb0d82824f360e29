/** Every example of the OpenAPI document is sent to a cluster, which has to accept it. */
import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import type { Behaviour } from '../../src/core/behaviour.ts'
import { openApi } from '../../src/faces/openapi/document.ts'
import { documentPath } from '../../src/faces/openapi/operations.ts'
import { behaviours } from '../../src/resources/index.ts'
import { asText, recordsOf } from '../support/body.ts'
import { startTestCluster } from '../support/cluster.ts'
import { Examples } from '../support/examples.ts'

interface Parameter {
  readonly $ref?: string
  readonly name: string
  readonly in: string
  readonly example?: string
}
interface Operation {
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly example?: Body } } }
}
type Body = Record<string, unknown>

suite('examples of the OpenAPI document', async () => {
  const cluster = await startTestCluster()
  const { paths } = openApi(cluster.cluster) as unknown as { paths: Record<string, Record<string, Operation>> }
  const call = async (method: string, target: string, body?: unknown) => {
    const reply = await cluster.call(method, target, body)
    return { ...reply, about: `${method} ${target} ${JSON.stringify(body)}: ${JSON.stringify(reply.body)}` }
  }
  after(() => cluster.close())

  const places: Record<string, string> = {}
  const examples = new Examples(call, places)

  /** What no example makes: a server's volumes in an SVM without one, a deleted volume, a tag, a job that waits. */
  const prepare = async () => {
    const make = async (path: string, body: Body) => {
      const reply = await call('POST', `/api/${path}?return_timeout=15&return_records=true`, body)
      assert.ok(reply.status === 201, reply.about)
      return recordsOf(reply.body)[0] ?? {}
    }
    const svm = await make('svm/svms', { name: 'svm_servers' })
    const servers = '/svm/svms/{svm.uuid}/object-store/servers'
    places[servers] = `/api${servers.replace('{svm.uuid}', asText(svm['uuid']))}`
    for (const name of ['vol_root', 'vol1']) {
      await make('storage/volumes', { name, 'svm.name': 'svm_servers', size: '100m' })
    }
    for (const name of ['deleted1', 'deleted2', 'deleted3']) {
      const volume = await make('storage/volumes', { name, 'svm.name': 'svm1', size: '100m' })
      await call('DELETE', `/api/storage/volumes/${asText(volume['uuid'])}?return_timeout=15`)
    }
    const vol1 = await cluster.uuidOf('/api/storage/volumes', 'vol1')
    await call('PATCH', `/api/storage/volumes/${vol1}?return_timeout=15`, { _tags: ['owner:example'] })
  }

  /** Names in examples that are of this cluster's making. */
  const settled = async (behaviour: Behaviour, body: Body | undefined): Promise<Body | undefined> => {
    if (body === undefined || !behaviour.resource.path.startsWith('/private/cli/volume/recovery-queue/')) return body
    const { body: queue } = await call('GET', '/api/private/cli/volume/recovery-queue?fields=volume')
    return { ...body, volume: recordsOf(queue)[0]?.['volume'] }
  }

  const operationsOf = ({ resource }: Behaviour) => {
    const collection = paths[documentPath(resource.path)] ?? {}
    const instance = `${resource.path}/${resource.key.map((key) => `{${key}}`).join('/')}`
    return resource.isSingleton
      ? { collection: {}, one: collection }
      : { collection, one: paths[documentPath(instance)] ?? {} }
  }

  /** The operation with its example, as a request; a key in the example becomes that of the record. */
  const send = async (behaviour: Behaviour, method: string, path: string, operation: Operation, instance = '') => {
    const { resource } = behaviour
    const words = instance.split('/').slice(-resource.key.length).map(decodeURIComponent)
    const key: Record<string, string> = Object.fromEntries(resource.key.map((name, at) => [name, words[at] ?? '']))
    const query = operation.parameters
      .filter(({ in: place, example }) => place === 'query' && example !== undefined)
      .map(({ name, example = '' }) => `${name}=${encodeURIComponent(key[name] ?? example)}`)
    const example = operation.requestBody?.content['application/json'].example
    if (operation.requestBody !== undefined) assert.notEqual(example, undefined, `${method} ${path} has no example.`)
    const listed = (example as { records?: readonly Body[] } | undefined)?.records
    const body = listed === undefined ? example : { records: listed.map((record) => Object.assign({}, record, key)) }
    const waiting = method === 'GET' ? [] : ['return_timeout=15']
    const reply = await call(method, `${path}?${[...waiting, ...query].join('&')}`, await settled(behaviour, body))
    assert.ok(reply.status === 200 || (reply.status === 201 && /POST|PUT/.test(method)), reply.about)
    return reply.headers['location']
  }

  /** Deletes the record of an earlier example of this name: two paths may show the same records. */
  const forget = async (behaviour: Behaviour) => {
    const name = behaviour.create?.example?.['name']
    if (behaviour.remove === undefined || typeof name !== 'string') return
    const instance = await examples.found(behaviour, [name])
    if (instance !== undefined) await call('DELETE', `${instance}?return_timeout=15`)
  }

  /** A job of many records, which waits before its first one. */
  const jobThatCanHalt = async (): Promise<string> => {
    const path = '/api/storage/volumes'
    const late = { type: 'job_delay', method: 'POST', path, delay_ms: 60_000, times: 1 }
    const fault = await call('POST', '/api/private/faults', late)
    assert.equal(fault.status, 201, fault.about)
    const records = [{ name: 'late', 'svm.name': 'svm1', size: '100m' }]
    const made = await call('POST', `${path}?return_timeout=0`, { records })
    const job = `/api/cluster/jobs/${asText(made.body['job']?.['uuid'])}`
    while (asText((await call('GET', job)).body['state']) !== 'running') await cluster.cluster.system.turn()
    return job
  }

  /** Records that examples made, by the path of the resource. */
  const instances = new Map<string, string>()

  test('what no example makes is prepared', prepare)

  for (const behaviour of behaviours) {
    const { collection: many, one } = operationsOf(behaviour)
    const { path, createMethod } = behaviour.resource
    const made = many[createMethod.toLowerCase()]
    test(`examples of reading and writing at ${path} are accepted`, async () => {
      const collection = await examples.collectionOf(behaviour)
      await forget(behaviour)
      const location = made === undefined ? undefined : await send(behaviour, createMethod, collection, made)
      if (many['get'] !== undefined) await send(behaviour, 'GET', collection, many['get'])
      // What changes something else, and leaves no record of its own.
      const isOrder = location === undefined && behaviour.modify === undefined && behaviour.remove === undefined
      if (made !== undefined && isOrder) return
      const instance = location ?? (await examples.instanceOf(behaviour))
      if (instance === undefined) return
      instances.set(path, instance)
      if (one['get'] !== undefined) await send(behaviour, 'GET', instance, one['get'])
      const changed = () => (path === '/cluster/jobs' ? jobThatCanHalt() : Promise.resolve(instance))
      for (const [at, operation] of [
        ['one', one['patch']],
        ['many', many['patch']],
      ] as const) {
        if (operation === undefined) continue
        const record = await changed()
        await send(behaviour, 'PATCH', at === 'one' ? record : collection, operation, record)
      }
    })
  }

  for (const behaviour of behaviours.toReversed()) {
    const { collection: many, one } = operationsOf(behaviour)
    const { path, createMethod } = behaviour.resource
    const [made, removed, removedMany] = [many[createMethod.toLowerCase()], one['delete'], many['delete']]
    if (removed === undefined || removedMany === undefined) continue
    test(`examples of deleting at ${path} are accepted`, async () => {
      const collection = await examples.collectionOf(behaviour)
      const instance = instances.get(path)
      const isThere = instance !== undefined && (await call('GET', instance)).status === 200
      if (isThere) await send(behaviour, 'DELETE', instance, removed, instance)
      const location = made === undefined ? undefined : await send(behaviour, createMethod, collection, made)
      const another = location ?? (await examples.instanceOf(behaviour))
      // What comes and goes with its parts went with them.
      assert.ok(another !== undefined || made === undefined, `There is a ${behaviour.resource.noun} to delete.`)
      if (another !== undefined) await send(behaviour, 'DELETE', collection, removedMany, another)
    })
  }
})
