/**
 * Operations: GetBucketEncryption, GetBucketNotificationConfiguration, GetBucketWebsite, GetBucketReplication,
 * GetBucketLogging, GetBucketAccelerateConfiguration, GetBucketRequestPayment, ListBucketAnalyticsConfigurations,
 * ListBucketIntelligentTieringConfigurations, ListBucketInventoryConfigurations, ListBucketMetricsConfigurations,
 * GetBucketAnalyticsConfiguration, GetBucketIntelligentTieringConfiguration, GetBucketInventoryConfiguration,
 * GetBucketMetricsConfiguration, DeleteBucketEncryption, DeleteBucketReplication, DeleteBucketWebsite,
 * PutBucketAccelerateConfiguration, PutBucketLogging, PutBucketNotificationConfiguration, PutBucketRequestPayment.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Bucket } from './bucket.ts'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

/** Every call asks for what is so already, and is answered so. */
async function areDone(...calls: ((bucket: Bucket) => Parameters<Bucket['call']>)[]): Promise<void> {
  const bucket = await s3.bucket()
  for (const call of calls) {
    const [method, about] = call(bucket)
    await succeeds(bucket.call(method, about), method === 'DELETE' ? 204 : 200)
  }
}

/** Every call is refused with 501, by the name of its operation. */
async function areRefused(
  calls: Readonly<Record<string, (bucket: Bucket) => Parameters<Bucket['call']>>>,
): Promise<void> {
  const bucket = await s3.bucket()
  await bucket.hold('key', 'x')
  for (const [operation, call] of Object.entries(calls)) {
    const answer = await fails(bucket.call(...call(bucket)), 501, 'NotImplemented')
    assert.match(answer.element('Message') ?? '', new RegExp(operation))
  }
}

const atBucket = (method: string, query: string, body?: string) => (): Parameters<Bucket['call']> => [
  method,
  body === undefined ? { query } : { query, body },
]
const atObject = (method: string, query: string, body?: string) => (): Parameters<Bucket['call']> => [
  method,
  body === undefined ? { key: 'key', query } : { key: 'key', query, body },
]

test('event notifications: the configuration is empty, and may be written so; any other is 501', async () => {
  const answer = await succeeds((await s3.bucket()).read('notification'))
  assert.match(answer.text, /<NotificationConfiguration/)
  assert.equal(answer.element('NotificationConfiguration'), '')
  await areRefused({
    PutBucketNotificationConfiguration: atBucket(
      'PUT',
      'notification',
      '<NotificationConfiguration><EventBridgeConfiguration/></NotificationConfiguration>',
    ),
  })
  await areDone(atBucket('PUT', 'notification', '<NotificationConfiguration/>'))
})

test('website hosting: 404 NoSuchWebsiteConfiguration, writing one is 501, there is none to delete', async () => {
  await fails((await s3.bucket()).read('website'), 404, 'NoSuchWebsiteConfiguration')
  await areRefused({
    PutBucketWebsite: atBucket('PUT', 'website', '<WebsiteConfiguration/>'),
  })
  await areDone(atBucket('DELETE', 'website'))
})

test('replication: 404 ReplicationConfigurationNotFoundError, writing one is 501, there is none to delete', async () => {
  await fails((await s3.bucket()).read('replication'), 404, 'ReplicationConfigurationNotFoundError')
  await areRefused({
    PutBucketReplication: atBucket('PUT', 'replication', '<ReplicationConfiguration/>'),
  })
  await areDone(atBucket('DELETE', 'replication'))
})

test('encryption of the bucket: 404 ServerSideEncryptionConfigurationNotFoundError, writing one is 501, there is none to delete', async () => {
  await fails((await s3.bucket()).read('encryption'), 404, 'ServerSideEncryptionConfigurationNotFoundError')
  await areRefused({
    PutBucketEncryption: atBucket('PUT', 'encryption', '<ServerSideEncryptionConfiguration/>'),
  })
  await areDone(atBucket('DELETE', 'encryption'))
})

test('access logs: the status is empty, and may be written so; any other is 501', async () => {
  const answer = await succeeds((await s3.bucket()).read('logging'))
  assert.equal(answer.element('BucketLoggingStatus'), '')
  const logging = '<BucketLoggingStatus><LoggingEnabled/></BucketLoggingStatus>'
  await areRefused({ PutBucketLogging: atBucket('PUT', 'logging', logging) })
  await areDone(atBucket('PUT', 'logging', '<BucketLoggingStatus/>'))
})

test('acceleration: the configuration is empty, suspending it is done, enabling it is 501', async () => {
  const answer = await succeeds((await s3.bucket()).read('accelerate'))
  assert.equal(answer.element('AccelerateConfiguration'), '')
  const status = (text: string) =>
    atBucket('PUT', 'accelerate', `<AccelerateConfiguration><Status>${text}</Status></AccelerateConfiguration>`)
  await areRefused({ PutBucketAccelerateConfiguration: status('Enabled') })
  await areDone(status('Suspended'))
})

test('request payment: the owner of the bucket pays, which may be written; any other is 501', async () => {
  const answer = await succeeds((await s3.bucket()).read('requestPayment'))
  assert.equal(answer.element('Payer'), 'BucketOwner')
  const payer = (text: string) =>
    atBucket(
      'PUT',
      'requestPayment',
      `<RequestPaymentConfiguration><Payer>${text}</Payer></RequestPaymentConfiguration>`,
    )
  await areRefused({ PutBucketRequestPayment: payer('Requester') })
  await areDone(payer('BucketOwner'))
})

test('analytics: none are listed, one by its id is 404 NoSuchConfiguration, writing one is 501', async () => {
  await areNone('analytics', 'ListBucketAnalyticsConfigurationResult')
  await areRefused({ PutBucketAnalyticsConfiguration: atBucket('PUT', 'analytics&id=a', '<AnalyticsConfiguration/>') })
})

test('intelligent tiering: none are listed, one by its id is 404 NoSuchConfiguration, writing one is 501', async () => {
  await areNone('intelligent-tiering', 'ListBucketIntelligentTieringConfigurationsOutput')
  const put = atBucket('PUT', 'intelligent-tiering&id=a', '<IntelligentTieringConfiguration/>')
  await areRefused({ PutBucketIntelligentTieringConfiguration: put })
})

test('inventory: none are listed, one by its id is 404 NoSuchConfiguration, writing one is 501', async () => {
  await areNone('inventory', 'ListInventoryConfigurationsResult')
  await areRefused({ PutBucketInventoryConfiguration: atBucket('PUT', 'inventory&id=a', '<InventoryConfiguration/>') })
})

test('request metrics: none are listed, one by its id is 404 NoSuchConfiguration, writing one is 501', async () => {
  await areNone('metrics', 'ListMetricsConfigurationsResult')
  await areRefused({ PutBucketMetricsConfiguration: atBucket('PUT', 'metrics&id=a', '<MetricsConfiguration/>') })
})

test('metadata tables are 501 by name', () =>
  areRefused({
    CreateBucketMetadataConfiguration: atBucket('POST', 'metadataConfiguration', '<MetadataConfiguration/>'),
    GetBucketMetadataConfiguration: atBucket('GET', 'metadataConfiguration'),
    GetBucketMetadataTableConfiguration: atBucket('GET', 'metadataTable'),
  }))

test('directory buckets, their sessions and attribute-based access are 501 by name', () =>
  areRefused({
    CreateSession: atBucket('GET', 'session'),
    GetBucketAbac: atBucket('GET', 'abac'),
    RenameObject: () => ['PUT', { key: 'new', query: 'renameObject', headers: { 'x-amz-rename-source': '/key' } }],
  }))

test('restore, torrents, select and annotations are 501 by name', () =>
  areRefused({
    RestoreObject: atObject('POST', 'restore', '<RestoreRequest/>'),
    GetObjectTorrent: atObject('GET', 'torrent'),
    SelectObjectContent: atObject('POST', 'select&select-type=2', '<SelectObjectContentRequest/>'),
    ListObjectAnnotations: atObject('GET', 'annotation'),
    UpdateObjectEncryption: atObject('PUT', 'encryption', '<ObjectEncryption/>'),
  }))

/** Lists of configurations are empty and whole, and there is none of any id. */
async function areNone(subresource: string, root: string): Promise<void> {
  const bucket = await s3.bucket()
  const answer = await succeeds(bucket.read(subresource))
  assert.match(answer.text, new RegExp(`<${root}[ />]`))
  assert.equal(answer.element('IsTruncated'), 'false')
  await fails(bucket.read(`${subresource}&id=a`), 404, 'NoSuchConfiguration')
}
