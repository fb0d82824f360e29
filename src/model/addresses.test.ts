import assert from 'node:assert/strict'
import { test } from 'node:test'
import { familyOf, fromNumber, isWithin, toNumber } from './addresses.ts'

test('an address is a number, and its shortest text comes back', () => {
  const texts = [
    '0.0.0.0',
    '10.7.125.5',
    '255.255.255.255',
    '::',
    '::1',
    'fd20:13::',
    '2001:db8::1:0:0:1',
    '1:2:3:4:5:6:7:8',
  ]
  for (const text of texts) assert.equal(fromNumber(toNumber(text), familyOf(text)), text)
  assert.equal(fromNumber(toNumber('2001:0DB8:0:0:1:0:0:1'), 'ipv6'), '2001:db8::1:0:0:1')
  assert.equal(toNumber('10.0.0.9') - toNumber('10.0.0.1'), 8n)
})

test('an address lies in a network of its own family alone', () => {
  assert.ok(isWithin('10.7.125.5', '10.7.112.0', 20))
  assert.ok(!isWithin('10.7.128.1', '10.7.112.0', 20))
  assert.ok(isWithin('198.51.100.1', '0.0.0.0', 0))
  assert.ok(isWithin('fd20:13::5', 'fd20:13::', 64))
  assert.ok(!isWithin('fd20:13::5', '0.0.0.0', 0))
})
