import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressGroup } from './address-group.ts'

test('all addresses of a machine count as one', () => {
  assert.equal(addressGroup('192.0.2.9'), '192.0.2.9')
  assert.equal(addressGroup('::ffff:192.0.2.9'), '192.0.2.9')
  assert.equal(addressGroup('2001:db8:0:1::7'), addressGroup('2001:db8:0:1:ffff:ffff:ffff:ffff'))
  assert.notEqual(addressGroup('2001:db8:0:1::7'), addressGroup('2001:db8:0:2::7'))
  assert.equal(addressGroup('::1'), '0:0:0:0::/64')
  assert.equal(addressGroup('fe80::1%eth0'), 'fe80:0:0:0::/64')
})
