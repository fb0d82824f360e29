import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestCluster } from '../../../test/support/cluster.ts'
import { openApi } from './document.ts'

type Document = Readonly<Record<string, unknown>>

test('every reference in the document leads somewhere, and every operation has a name of its own', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const document = JSON.parse(JSON.stringify(openApi(cluster.cluster))) as Document
  const references: string[] = []
  const names: string[] = []
  walk(document, (key, value) => {
    if (key === '$ref') references.push(value as string)
    if (key === 'operationId') names.push(value as string)
  })
  for (const reference of new Set(references)) {
    const found = reference
      .slice(2)
      .split('/')
      .reduce<unknown>((at, word) => (at as Document | undefined)?.[word], document)
    assert.notEqual(found, undefined, reference)
  }
  assert.ok(names.length > 60)
  assert.deepEqual(
    names.filter((name, at) => names.indexOf(name) !== at),
    [],
  )
  await cluster.close()
})

test('every parameter in a path is declared, and none twice', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const { paths } = openApi(cluster.cluster) as unknown as { paths: Record<string, { parameters: { name: string }[] }> }
  for (const [path, { parameters }] of Object.entries(paths)) {
    const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map((match) => match[1])
    assert.deepEqual(new Set(parameters.map(({ name }) => name)), new Set(inPath), path)
    assert.equal(new Set(inPath).size, inPath.length, `${path} names a parameter twice`)
  }
  await cluster.close()
})

test('a release shows what it serves and nothing later', async () => {
  const [old, current] = await Promise.all(
    ['9.8', '9.16.1'].map((release) => startTestCluster({ isBare: true, release })),
  )
  const pathsOf = (cluster: typeof old) =>
    Object.keys((cluster === undefined ? {} : openApi(cluster.cluster))['paths'] ?? {})
  assert.ok(pathsOf(current).includes('/cluster/counter/tables'))
  assert.ok(!pathsOf(old).includes('/cluster/counter/tables'))
  assert.doesNotMatch(JSON.stringify(openApi((old as NonNullable<typeof old>).cluster)), /Since 9\.(9|1\d)/)
  await old?.close()
  await current?.close()
})

function walk(value: unknown, visit: (key: string, value: unknown) => void): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    visit(key, inner)
    walk(inner, visit)
  }
}
