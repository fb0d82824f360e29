import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { thisMachine } from './machine.ts'

/** A folder as Linux shows its network interfaces in. */
function interfaces(context: TestContext, files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-machine-'))
  context.after(() => rmSync(folder, { recursive: true }))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), `${content}\n`)
  }
  return folder
}

test('the machine has a loopback, which is up', async () => {
  const ports = await thisMachine().ports()
  const loopback = ports.find(({ isLoopback }) => isLoopback)
  assert.ok(loopback?.isUp)
  assert.ok(loopback.addresses.includes('127.0.0.1'))
})

test('an interface is hardware, has an address, or stands for others; the rest is not seen', async (context) => {
  const folder = interfaces(context, {
    'eth0/operstate': 'up',
    'eth0/mtu': '9000',
    'eth0/speed': '10000',
    'eth0/address': '02:00:00:00:00:01',
    'eth0/device/vendor': '0x1',
    'eth1/operstate': 'down',
    'eth1/speed': '-1',
    'eth1/device/vendor': '0x1',
    'veth9/operstate': 'up',
    'docker0/operstate': 'unknown',
  })
  const machine = thisMachine(folder, () => ({
    docker0: [{ address: '172.17.0.1', mac: '02:42:00:00:00:02', internal: false }],
  }))
  assert.deepEqual(await machine.ports(), [
    {
      name: 'docker0',
      isUp: true,
      isLoopback: false,
      mtuBytes: 1500,
      macAddress: '02:42:00:00:00:02',
      addresses: ['172.17.0.1'],
    },
    {
      name: 'eth0',
      isUp: true,
      isLoopback: false,
      mtuBytes: 9000,
      macAddress: '02:00:00:00:00:01',
      megabitsPerSecond: 10_000,
      addresses: [],
    },
    { name: 'eth1', isUp: false, isLoopback: false, mtuBytes: 1500, addresses: [] },
  ])
})

test('a VLAN tells its tag and what it lies on; a bond its members and how they share', async (context) => {
  const folder = interfaces(context, {
    'bond0/operstate': 'up',
    'bond0/bonding/mode': '802.3ad 4',
    'bond0/bonding/xmit_hash_policy': 'layer3+4 1',
    'bond0/bonding/slaves': 'eth1 eth2',
    'eth0.20/operstate': 'up',
    'eth0.20/uevent': 'DEVTYPE=vlan\nINTERFACE=eth0.20',
    'eth0.20/lower_eth0': '',
  })
  const [bond, vlan] = await thisMachine(folder, () => ({})).ports()
  const lag = { mode: 'multimode_lacp', distribution: 'port', members: ['eth1', 'eth2'], active: ['eth1', 'eth2'] }
  assert.deepEqual(bond?.lag, lag)
  assert.deepEqual(vlan?.vlan, { base: 'eth0', tag: 20 })
})

test('a machine that does not show its interfaces in files has those with addresses', async () => {
  const machine = thisMachine('/nowhere', () => ({
    en0: [{ address: '192.0.2.7', mac: '02:00:00:00:00:01', internal: false }],
  }))
  assert.deepEqual(
    (await machine.ports()).map(({ name, isUp }) => [name, isUp]),
    [['en0', true]],
  )
})

test('the processors of the machine are busy for a part of the time that they have', () => {
  const { busyMs, wholeMs } = thisMachine().processors()
  assert.ok(busyMs > 0 && busyMs < wholeMs)
})
