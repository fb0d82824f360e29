/** Operations: PutBucketOwnershipControls, GetBucketOwnershipControls, DeleteBucketOwnershipControls. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fails, succeeds } from './http.ts'
import { openEndpoint } from './target.ts'

const s3 = await openEndpoint()
const controls = (...rules: readonly string[]) =>
  `<OwnershipControls>${rules
    .map((rule) => `<Rule><ObjectOwnership>${rule}</ObjectOwnership></Rule>`)
    .join('')}</OwnershipControls>`

test('BucketOwnerEnforced is taken and given back', async () => {
  const bucket = await s3.bucket()
  await succeeds(bucket.configure('ownershipControls', controls('BucketOwnerEnforced')))
  const answer = await succeeds(bucket.read('ownershipControls'))
  assert.equal(answer.element('ObjectOwnership'), 'BucketOwnerEnforced')
})

test('a new bucket has BucketOwnerEnforced', async () => {
  const answer = await succeeds((await s3.bucket()).read('ownershipControls'))
  assert.equal(answer.element('ObjectOwnership'), 'BucketOwnerEnforced')
})

test('after DeleteBucketOwnershipControls it answers 404 OwnershipControlsNotFoundError', async () => {
  const bucket = await s3.bucket()
  await succeeds(bucket.call('DELETE', { query: 'ownershipControls' }), 204)
  await fails(bucket.read('ownershipControls'), 404, 'OwnershipControlsNotFoundError')
})

test('the others need access control lists, and are refused by name: 501', async () => {
  const bucket = await s3.bucket()
  for (const ownership of ['BucketOwnerPreferred', 'ObjectWriter']) {
    const answer = await fails(bucket.configure('ownershipControls', controls(ownership)), 501, 'NotImplemented')
    assert.match(answer.element('Message') ?? '', new RegExp(ownership))
  }
})

test('an unknown ownership, no rule or two answer 400 MalformedXML', async () => {
  const bucket = await s3.bucket()
  for (const document of [
    controls('Nobody'),
    controls(),
    controls('BucketOwnerEnforced', 'BucketOwnerEnforced'),
    'x',
  ]) {
    await fails(bucket.configure('ownershipControls', document), 400, 'MalformedXML')
  }
})
