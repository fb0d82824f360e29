/** Operations: HeadBucket. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

test('a bucket that is there answers 200 with its region [bucket-region-header]', async () => {
  const bucket = await s3.bucket()
  const { headers, body } = await succeeds(bucket.call('HEAD'))
  assert.equal(headers['x-amz-bucket-region'], s3.settings.region)
  assert.equal(body.length, 0)
})

test('a bucket that is not there answers 404, as the status alone', async () => {
  const { body } = await fails(s3.unmade().call('HEAD'), 404)
  assert.equal(body.length, 0)
})

test('without credentials it answers 403, as the status alone, with the region', async () => {
  const { headers, body } = await fails((await s3.bucket()).call('HEAD', { signing: 'anonymous' }), 403)
  assert.equal(body.length, 0)
  assert.equal(headers['x-amz-bucket-region'], s3.settings.region)
})

test('a user whom nothing allows gets 403', { skip: s3.lacksOther }, async () => {
  await fails((await s3.bucket()).call('HEAD', { as: s3.other }), 403)
})
