import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedRandom } from '../../engines/simulated/random.ts'
import { RequestIds } from './request-ids.ts'

test('no two requests have the same names', () => {
  const ids = new RequestIds(new SimulatedRandom(1))
  const requests = 1000
  const seen = new Set<string>()
  for (let request = 0; request < requests; request++) {
    const { 'x-amz-request-id': id = '', 'x-amz-id-2': second = '' } = ids.next()
    assert.match(id, /^[0-9A-F]{16}$/)
    assert.match(second, /^[0-9A-Za-z+/]{32}$/)
    seen.add(id).add(second)
  }
  assert.equal(seen.size, 2 * requests)
})
