import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asText, recordsOf } from '../../../../test/support/body.ts'
import { startTestCluster } from '../../../../test/support/cluster.ts'
import { wireCode } from '../../../../test/support/codes.ts'

const LICENSES = '/api/cluster/licensing/licenses'
const TOOL = { headers: { 'x-dot-client-app': 'netapp.ontap' } }

const file = (more: object = {}) =>
  JSON.stringify({
    statusResp: {
      product: 'Enterprise Edition',
      serialNumber: '12345678',
      licenses: { package: ['SnapMirror', 'FabricPool'], HostID: '12345678', licenseScope: 'cluster', ...more },
    },
    Signature: 'a signature',
  })

test('what the product has needs no license; what it has not is told as unlicensed', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const stateOf = async (name: string) => (await cluster.call('GET', `${LICENSES}/${name}`)).body['state']
  assert.deepEqual([await stateOf('s3'), await stateOf('volume_encryption')], ['compliant', 'unlicensed'])
  assert.equal((await cluster.call('GET', `${LICENSES}/nothing`)).status, 404)
  const { body } = await cluster.call('GET', `${LICENSES}?state=compliant,%20unlicensed&fields=name,state,licenses`)
  assert.deepEqual(new Set(recordsOf(body).map((row) => row['state'])), new Set(['compliant', 'unlicensed']))
  await cluster.close()
})

test('a license file is installed for each package that it names, and deleted by package and serial number', async () => {
  const cluster = await startTestCluster({ isBare: true })
  for (let round = 0; round < 2; round++) {
    assert.equal((await cluster.call('POST', LICENSES, { keys: [file()] }, TOOL)).status, 201)
  }
  const { body } = await cluster.call('GET', `${LICENSES}?licenses.serial_number=12345678&fields=*`, undefined, TOOL)
  assert.deepEqual(
    recordsOf(body).map((row) => [row['name'], row['state'], row['licenses']?.[0]?.['installed_license']]),
    [
      ['fabricpool', 'compliant', 'Enterprise Edition'],
      ['snapmirror', 'compliant', 'Enterprise Edition'],
    ],
  )
  assert.ok(!JSON.stringify([body, await cluster.cluster.rows('cluster/licensing/licenses')]).includes('a signature'))
  assert.equal((await cluster.call('DELETE', `${LICENSES}/snapmirror?serial_number=1`, undefined, TOOL)).status, 404)
  assert.equal(
    (await cluster.call('DELETE', `${LICENSES}/snapmirror?serial_number=12345678`, undefined, TOOL)).status,
    200,
  )
  assert.equal((await cluster.call('GET', `${LICENSES}/fabricpool`)).body['state'], 'unlicensed')
  await cluster.close()
})

test('a license that has expired is not kept to', async () => {
  const cluster = await startTestCluster({ isBare: true })
  await cluster.call('POST', LICENSES, { keys: [file({ endDate: '2020-01-01T00:00:00Z' })] })
  const { body } = await cluster.call('GET', `${LICENSES}/snapmirror`)
  const [license] = recordsOf({ records: body['licenses'] ?? {} })
  assert.deepEqual([body['state'], license?.['active']], ['noncompliant', false])
  assert.equal(license?.['expiry_time'], '2020-01-01T00:00:00Z')
  await cluster.close()
})

test('what is no license file is refused with its place', async () => {
  const cluster = await startTestCluster({ isBare: true })
  const { status, body } = await cluster.call(
    'POST',
    LICENSES,
    { keys: [file(), 'ABCDEFGHIJKLMNOPQRSTUVWXYZAB'] },
    TOOL,
  )
  assert.deepEqual([status, body['error']?.['code']], [400, wireCode('licenseRefused')])
  assert.match(asText(body['error']?.['message']), /^Failed to install the license at index 1: /)
  for (const keys of [[], ['{}'], [file({ package: [] })]]) {
    assert.equal((await cluster.call('POST', LICENSES, { keys })).status, 422)
  }
  await cluster.close()
})
