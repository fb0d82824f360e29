import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asNumber } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'

const VOLUMES = '/api/storage/volumes'
const MB = 2 ** 20

test('readings that follow one another share a look at the disks, and see at once what was committed', async () => {
  const test = await startTestCluster({ capacityBytes: 1000 * MB })
  const { clock, volumes } = test
  let looks = 0
  const look = volumes.space.bind(volumes)
  volumes.space = () => {
    looks++
    return look()
  }
  const elapsed = clock.elapsed()
  clock.elapsed = () => elapsed + clock.aheadMs
  const wait = '?return_timeout=10'
  await test.call('POST', `/api/svm/svms${wait}`, { name: 'svm9' })
  const thin = { name: 'thin', svm: { name: 'svm9' }, size: '900m', guarantee: { type: 'none' } }
  await test.call('POST', `${VOLUMES}${wait}`, thin)
  const place = `${VOLUMES}/${await test.uuidOf(VOLUMES, 'thin')}?fields=space.available`
  const available = async () => {
    const { body } = await test.call('GET', place)
    return asNumber(body['space']?.['available'])
  }
  const before = await available()
  looks = 0
  for (let n = 0; n < 5; n++) assert.equal(await available(), before)
  assert.equal(looks, 0)

  await test.call('POST', `${VOLUMES}${wait}`, { ...thin, name: 'thick', guarantee: { type: 'volume' } })
  assert.equal(await available(), 100 * MB)

  looks = 0
  clock.aheadMs += 1000
  await available()
  assert.equal(looks, 1)
  await test.close()
})
