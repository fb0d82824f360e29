/** Section 3 of the specification: jobs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asList, asText, recordsOf } from '../support/body.ts'
import { fresh } from '../support/product.ts'
import { ended, Made, openTargetHere } from './target.ts'

const { api } = await openTargetHere()
const made = new Made(api)
const svm = await made.svm()

test('3 an operation that finishes ends its job with success, and the record stays readable', async () => {
  const volume = await made.volume(svm.name)
  const reply = await api.call('PATCH', `${volume.path}?return_timeout=0`, { size: '128m' })
  assert.equal(reply.status, 202)
  const location = reply.headers['location'] ?? ''
  assert.equal((await ended(api, location))['state'], 'success')
  assert.equal((await api.get(location)).status, 200)
  assert.equal((await api.get(`${volume.path}?fields=size`)).body['size'], 128 * 2 ** 20)
})

test('3 an operation that fails ends its job with failure, and message and code tell why', async () => {
  // Two volumes of one name, asked for at the same time: both are accepted, one cannot be made.
  const [one, other] = [await made.volume(svm.name), await made.volume(svm.name)]
  const name = fresh('same')
  const replies = await Promise.all(
    [one, other].map(({ path }) => api.call('PATCH', `${path}?return_timeout=0`, { name })),
  )
  const jobs = []
  for (const reply of replies) {
    if (reply.status === 202) jobs.push(await ended(api, reply.headers['location'] ?? ''))
    else assert.equal(reply.status, 409)
  }
  const failed = jobs.find((job) => asText(job['state']) === 'failure')
  if (failed === undefined) {
    assert.equal(jobs.length, 1)
    return
  }
  assert.notEqual(failed['code'], 0)
  assert.match(asText(failed['message']), /exists/)
})

test('3 a running job has a message; its states are those of the table', async () => {
  const { body } = await api.get('/api/cluster/jobs?fields=state,message&max_records=1000')
  for (const job of recordsOf(body)) {
    assert.ok(['queued', 'running', 'success', 'failure'].includes(asText(job['state'])))
    assert.notEqual(asText(job['message']), '')
  }
})

test('3 jobs can be found by their state', async () => {
  const { body } = await api.get('/api/cluster/jobs?state=success&fields=state&max_records=5')
  assert.ok(asList(body['records']).length > 0)
  for (const job of recordsOf(body)) assert.equal(job['state'], 'success')
})
