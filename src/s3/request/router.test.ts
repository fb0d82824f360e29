import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as sdk from '@aws-sdk/client-s3'
import { actionOf, notImplemented, operations, route } from './router.ts'
import type { Level, Operation } from './router.ts'

function routed(method: string, level: Level, query = '', headers: readonly string[] = []): Operation {
  const map = new Map(new URLSearchParams(query))
  return route({ method, level, query: map, hasHeader: (name) => headers.includes(name) })
}

interface ModelOperation {
  readonly name: string
  readonly method: string
  readonly level: Level
  readonly query: string
  readonly status: number
  readonly headers: readonly string[]
}

/** The operations of Amazon's model, from the schemas that the SDK serialises by. */
function modelOperations(): ModelOperation[] {
  const found: ModelOperation[] = []
  for (const schema of Object.values(sdk) as unknown[]) {
    if (!Array.isArray(schema) || schema[0] !== 9) continue
    const [, , name, traits, input] = schema as [
      number,
      string,
      string,
      { http: [string, string, number] },
      () => unknown[],
    ]
    const [, , , , members = [], types = [], requiredCount = 0] = input() as [
      number,
      string,
      string,
      unknown,
      string[]?,
      unknown[]?,
      number?,
    ]
    const [method, uri, status] = traits.http
    const [path = '', fixed = ''] = uri.split('?')
    const required = members.slice(0, requiredCount).map((_, index) => {
      const type = types[index]
      return (Array.isArray(type) && typeof type[1] === 'object' ? type[1] : {}) as {
        httpQuery?: string
        httpHeader?: string
      }
    })
    const inQuery = required.flatMap(({ httpQuery }) => (httpQuery === undefined ? [] : [`${httpQuery}=1`]))
    found.push({
      name,
      method,
      level: path.includes('{Key+}') ? 'object' : members.includes('Bucket') || path !== '/' ? 'bucket' : 'service',
      query: [fixed, ...inQuery].filter((part) => part !== '').join('&'),
      status,
      headers: required.flatMap(({ httpHeader }) => (httpHeader === undefined ? [] : [httpHeader])),
    })
  }
  return found
}

test('every operation of the SDK’s model is found by its method, query and headers', () => {
  const model = modelOperations()
  assert.ok(model.length > 100, `${model.length} operations`)
  for (const { name, method, level, query, status, headers } of model) {
    const found = routed(method, level, query, headers)
    assert.equal(found.name, name)
    assert.equal(found.success, status, name)
  }
})

test('every row is reached, and only those for browsers are not in the model', () => {
  const names = new Set(modelOperations().map(({ name }) => name))
  const extra = operations.filter(({ name }) => !names.has(name)).map(({ name }) => name)
  assert.deepEqual(extra, ['PostObject', 'PreflightService', 'PreflightBucket', 'PreflightObject'])
  assert.equal(new Set(operations.map(({ name }) => name)).size, operations.length)
  for (const operation of operations) {
    const query = Object.entries(operation.query).map(([key, value]) => `${key}=${value === true ? '' : value}`)
    const headers = operation.header === undefined ? [] : [operation.header]
    assert.equal(routed(operation.method, operation.level, query.join('&'), headers).name, operation.name)
  }
})

test('requests without x-id, as most clients send them, are found too', () => {
  assert.equal(routed('GET', 'service').name, 'ListBuckets')
  assert.equal(routed('GET', 'bucket', 'prefix=a').name, 'ListObjects')
  assert.equal(routed('GET', 'bucket', 'list-type=2').name, 'ListObjectsV2')
  assert.equal(routed('GET', 'bucket', 'list-type=1').name, 'ListObjects')
  assert.equal(routed('PUT', 'object').name, 'PutObject')
  assert.equal(routed('PUT', 'object', '', ['x-amz-copy-source']).name, 'CopyObject')
  assert.equal(routed('PUT', 'object', 'uploadId=a&partNumber=1', ['x-amz-copy-source']).name, 'UploadPartCopy')
  assert.equal(routed('GET', 'object', 'partNumber=1').name, 'GetObject')
  assert.equal(routed('GET', 'object', 'response-content-type=a&versionId=b').name, 'GetObject')
  assert.equal(routed('GET', 'bucket', 'metrics').name, 'ListBucketMetricsConfigurations')
  assert.equal(routed('POST', 'bucket').name, 'PostObject')
})

test('parameters that nobody knows change nothing', () => {
  assert.equal(routed('GET', 'object', 'utm_source=x&__proto__=y').name, 'GetObject')
})

test('a subresource that the method does not have is MethodNotAllowed, never the plain operation', () => {
  for (const [method, level, query] of [
    ['DELETE', 'bucket', 'logging'],
    ['DELETE', 'bucket', 'versions'],
    ['PUT', 'bucket', 'versions'],
    ['PUT', 'object', 'uploadId=a'],
    ['DELETE', 'object', 'acl'],
    ['DELETE', 'bucket', 'metrics'],
    ['POST', 'object', ''],
    ['PUT', 'service', ''],
    ['PATCH', 'object', ''],
  ] as const) {
    assert.throws(
      () => routed(method, level, query),
      { code: 'MethodNotAllowed', status: 405 },
      `${method} ${level} ${query}`,
    )
  }
})

test('a browser may ask about any subresource beforehand', () => {
  assert.equal(routed('OPTIONS', 'object', 'uploads').name, 'PreflightObject')
})

test('two subresources at once are refused', () => {
  assert.throws(() => routed('GET', 'bucket', 'acl&policy'), { code: 'InvalidArgument', message: /acl, policy/ })
})

test('actions are those that Amazon documents', () => {
  const action = (name: string): string | undefined => operations.find((operation) => operation.name === name)?.action
  assert.equal(action('HeadObject'), 's3:GetObject')
  assert.equal(action('HeadBucket'), 's3:ListBucket')
  assert.equal(action('ListBuckets'), 's3:ListAllMyBuckets')
  assert.equal(action('CompleteMultipartUpload'), 's3:PutObject')
  assert.equal(actionOf(routed('GET', 'object', 'versionId=1'), new Map([['versionId', '1']])), 's3:GetObjectVersion')
  assert.equal(actionOf(routed('GET', 'object'), new Map()), 's3:GetObject')
})

test('what is not implemented is refused by its name', () => {
  const failure = notImplemented(routed('GET', 'bucket', 'session'))
  assert.equal(failure.message, 'CreateSession is not implemented.')
})
