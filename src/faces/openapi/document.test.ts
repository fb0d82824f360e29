import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startTestCluster } from '../../../test/support/cluster.ts'
import { openApi, printOpenApi } from './document.ts'

type Document = Readonly<Record<string, unknown>>

test('the document that is served is the one that the other tests read', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const served = JSON.parse((await printOpenApi(cluster.cluster)).toString()) as Document
  assert.deepEqual(served, JSON.parse(JSON.stringify(openApi(cluster.cluster))))
  await cluster.close()
})

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

test('everything in the document has a description, and every body an example', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const document = JSON.parse(JSON.stringify(openApi(cluster.cluster))) as Document
  await cluster.close()
  const bare: string[] = []
  walk(document, (key, value) => {
    if (key !== 'properties' || typeof value !== 'object' || value === null) return
    // A property of that name.
    if (typeof (value as Document)['type'] === 'string') return
    for (const [name, schema] of Object.entries(value as Record<string, Document>)) {
      if (schema['$ref'] === undefined && !isSentence(schema['description'])) bare.push(`property ${name}`)
    }
  })
  const { paths } = document as { paths: Record<string, Record<string, Document>> }
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      const about = `${method} ${path}`
      const { parameters } = (method === 'parameters' ? { parameters: operation } : operation) as unknown as {
        parameters: Document[]
      }
      for (const parameter of parameters) {
        if (parameter['$ref'] === undefined && !isSentence(parameter['description'])) bare.push(`parameter of ${about}`)
      }
      if (method === 'parameters') continue
      if (!isSentence(operation['description'])) bare.push(about)
      for (const [status, response] of Object.entries(operation['responses'] as Record<string, Document>)) {
        if (response['$ref'] === undefined && !isSentence(response['description'])) bare.push(`${status} of ${about}`)
      }
      const body = operation['requestBody'] as { content: Record<string, Document> } | undefined
      if (body !== undefined && body.content['application/json']?.['example'] === undefined)
        bare.push(`body of ${about}`)
    }
  }
  assert.deepEqual(bare, [])
})

test('no list of required properties names one twice', async () => {
  const cluster = await startTestCluster({ isBare: true })
  let lists = 0
  walk(JSON.parse(JSON.stringify(openApi(cluster.cluster))), (key, value) => {
    if (key !== 'required' || !Array.isArray(value)) return
    lists++
    assert.equal(new Set(value).size, value.length, value.join())
  })
  assert.ok(lists > 10)
  await cluster.close()
})

const isSentence = (text: unknown) => typeof text === 'string' && text.trim().length > 3

function walk(value: unknown, visit: (key: string, value: unknown) => void): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    visit(key, inner)
    walk(inner, visit)
  }
}
