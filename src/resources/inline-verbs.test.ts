/** Inline verbs and the audit trail: what is done and the entry that tells it are one commit. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestCluster, type TestCluster } from '../../test/support/cluster.ts'
import type { Behaviour } from '../core/behaviour.ts'
import { flatten } from '../model/shape.ts'
import type { Row } from '../model/value.ts'
import { CatalogUnavailable, type Change } from '../ports/catalog.ts'
import { behaviours } from './index.ts'

const inlineCreates = behaviours.filter(({ create }) => create?.isJob === false && create.example !== undefined)

/** Calls `create` with its example, under the first record of each parent. */
async function createExample({ cluster, actions }: TestCluster, behaviour: Behaviour): Promise<void> {
  const { resource, create } = behaviour
  const path: Record<string, string> = {}
  for (const key of resource.pathKeys) {
    const type = resource.fields.get(key)?.reference?.type
    const [parent] = type === undefined ? [] : await cluster.catalog.records(type)
    path[key] = parent?.key ?? 'example'
  }
  const draft: Row = flatten(resource, create?.example ?? {}, 'create', cluster.release)
  const caller = { user: 'admin', role: 'admin', from: 'test' }
  await actions.perform(behaviour, 'create', { caller, draft, path, args: {}, description: `POST ${resource.path}` })
}

const isAudit = (change: Change) => change.do === 'append-log' && change.log === 'audit'

test('what an inline verb makes and its entry in the audit trail are one commit', async () => {
  let checked = 0
  const test = await startTestCluster()
  const { catalog } = test.cluster
  const commit = catalog.commit.bind(catalog)
  let commits: (readonly Change[])[] = []
  catalog.commit = (changes) => {
    commits.push(changes)
    return commit(changes)
  }
  for (const { resource } of inlineCreates) {
    commits = []
    const made = await createExample(test, test.cluster.behaviour(resource.type)).then(
      () => true,
      () => false,
    )
    // Some examples need what others make; a seed file calls further verbs.
    if (!made || resource.path === '/private/imports') continue
    assert.equal(commits.length, 1, `${resource.path}: ${JSON.stringify(commits)}`)
    assert.equal(commits[0]?.filter(isAudit).length, 1, resource.path)
    checked++
  }
  catalog.commit = commit
  await test.close()
  assert.ok(checked >= 20, `${checked} of ${inlineCreates.length} were checked`)
})

test('a catalog that fails after one commit makes no request that was done a failure', async () => {
  for (const [method, target, body, status] of [
    ['POST', '/api/protocols/nfs/export-policies', { name: 'policy1', 'svm.name': 'svm1' }, 201],
    ['PATCH', '/api/svm/svms/SVM', { comment: 'x' }, 200],
    ['PATCH', '/api/svm/svms/SVM', { nonsense: 1 }, 422],
    ['DELETE', '/api/svm/svms/SVM', undefined, 409],
  ] as const) {
    const cluster = await startTestCluster()
    const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
    const { catalog } = cluster.cluster
    const commit = catalog.commit.bind(catalog)
    let left = status < 300 ? 1 : 0
    catalog.commit = (changes) =>
      left-- > 0 ? commit(changes) : Promise.reject(new CatalogUnavailable('The writer is away.'))
    const reply = await cluster.call(method, target.replace('SVM', svm), body)
    assert.equal(reply.status, status, `${method} ${target}: ${JSON.stringify(reply.body)}`)
    const lost = cluster.logged.filter(({ message }) => message.includes('audit trail could not be written'))
    assert.equal(lost.length, status < 300 ? 0 : 1)
    catalog.commit = commit
    await cluster.close()
  }
})

test('a change whose commit fails is not done, and 503 says so', async () => {
  const cluster = await startTestCluster()
  const svm = await cluster.uuidOf('/api/svm/svms', 'svm1')
  const { catalog } = cluster.cluster
  const commit = catalog.commit.bind(catalog)
  catalog.commit = () => Promise.reject(new CatalogUnavailable('The writer is away.'))
  const { status } = await cluster.call('PATCH', `/api/svm/svms/${svm}`, { comment: 'new' })
  assert.equal(status, 503)
  catalog.commit = commit
  const { body } = await cluster.call('GET', `/api/svm/svms/${svm}?fields=comment`)
  assert.equal(body['comment'], undefined)
  await cluster.close()
})
