/** Operations: GetBucketLocation. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()

test('the region is told, and us-east-1 is told by an empty element', async () => {
  const answer = await succeeds((await s3.bucket()).read('location'))
  const { region } = s3.settings
  assert.equal(answer.element('LocationConstraint'), region === 'us-east-1' ? '' : region)
})

test('a bucket that is not there answers 404 NoSuchBucket', async () => {
  await fails(s3.unmade().read('location'), 404, 'NoSuchBucket')
})
