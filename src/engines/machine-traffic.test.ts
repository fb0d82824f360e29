import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readTraffic } from './machine-traffic.ts'

test('disks that are hardware are counted once, without their parts and the layers above them', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-traffic-'))
  try {
    for (const disk of ['sda', 'sdb']) await mkdir(join(folder, 'block', disk, 'device'), { recursive: true })
    await mkdir(join(folder, 'block', 'dm-0'), { recursive: true })
    await mkdir(join(folder, 'block', 'sdb', 'queue'))
    await writeFile(join(folder, 'block', 'sdb', 'queue', 'rotational'), '1\n')
    const lines = [
      '   8  0 sda 10 0 100 5 20 0 200 9 0 0 0',
      '   8  1 sda1 9 0 90 5 19 0 190 9 0 0 0',
      '   8 16 sdb 1 0 2 5 2 0 4 9 0 0 0',
      ' 253  0 dm-0 10 0 100 5 20 0 200 9 0 0 0',
    ]
    await writeFile(join(folder, 'diskstats'), `${lines.join('\n')}\n`)
    const { disks } = await readTraffic(folder, join(folder, 'diskstats'), join(folder, 'block'))
    const spinning = { readBytes: 2 * 512, writtenBytes: 4 * 512 }
    assert.deepEqual(disks, { readBytes: 102 * 512, writtenBytes: 204 * 512, spinning })
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('a network interface tells its bytes and errors, and one that does not tell is left out', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-traffic-'))
  try {
    await mkdir(join(folder, 'eth0', 'statistics'), { recursive: true })
    await mkdir(join(folder, 'eth1'))
    const counted = {
      rx_bytes: 1000,
      tx_bytes: 2000,
      rx_packets: 10,
      tx_packets: 20,
      rx_errors: 7,
      rx_frame_errors: 1,
      rx_crc_errors: 2,
      rx_length_errors: 4,
      tx_errors: 5,
      tx_carrier_errors: 2,
      tx_fifo_errors: 3,
    }
    for (const [name, value] of Object.entries(counted)) {
      await writeFile(join(folder, 'eth0', 'statistics', name), `${value}\n`)
    }
    await writeFile(join(folder, 'eth0', 'carrier_down_count'), '6\n')
    const { ports } = await readTraffic(folder, '/nowhere', '/nowhere')
    assert.deepEqual(
      [...ports],
      [
        [
          'eth0',
          {
            receivedBytes: 1000,
            sentBytes: 2000,
            receivedPackets: 10,
            sentPackets: 20,
            receiveErrors: 7,
            receiveAlignmentErrors: 1,
            receiveCrcErrors: 2,
            receiveLengthErrors: 4,
            sendErrors: 5,
            sendHardwareErrors: 5,
            linkLosses: 6,
          },
        ],
      ],
    )
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('each processor tells by itself how long it was busy', async () => {
  const { processors, disks } = await readTraffic('/nowhere', '/nowhere', '/nowhere')
  assert.equal(disks, undefined)
  assert.ok(processors.length > 0)
  for (const { busyMs, wholeMs } of processors) assert.ok(busyMs >= 0 && busyMs <= wholeMs)
})
