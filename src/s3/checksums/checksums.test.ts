import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  checksumAlgorithms,
  compositeChecksum,
  decodeChecksum,
  findChecksumAlgorithm,
  fullObjectChecksum,
  multipartChecksum,
} from './algorithms.ts'
import type { ChecksumAlgorithm } from './algorithms.ts'

const check = Buffer.from('123456789')
const crcs = { CRC32: [32, 0xedb88320n], CRC32C: [32, 0x82f63b78n], CRC64NVME: [64, 0x9a6c9329ac4bc9b5n] } as const
const crcNames = Object.keys(crcs) as (keyof typeof crcs)[]

function checksum(algorithm: ChecksumAlgorithm, ...chunks: readonly Uint8Array[]): Buffer {
  const digest = checksumAlgorithms[algorithm].begin()
  for (const chunk of chunks) digest.update(chunk)
  return digest.value()
}

/** The definition of a reflected CRC, bit by bit. */
function slowCrc(algorithm: keyof typeof crcs, bytes: Uint8Array): string {
  const [width, polynomial] = crcs[algorithm]
  const ones = (1n << BigInt(width)) - 1n
  let state = ones
  for (const byte of bytes) {
    state ^= BigInt(byte)
    for (let bit = 0; bit < 8; bit += 1) state = (state & 1n) === 1n ? (state >> 1n) ^ polynomial : state >> 1n
  }
  return (state ^ ones).toString(16).padStart(width / 4, '0')
}

test('CRCs of the check string are those of the catalogue of CRCs', () => {
  assert.equal(checksum('CRC32', check).toString('hex'), 'cbf43926')
  assert.equal(checksum('CRC32C', check).toString('hex'), 'e3069283')
  assert.equal(checksum('CRC64NVME', check).toString('hex'), 'ae8b14860a799888')
})

test('CRC32C of 32 zeros, ones and rising bytes are those of RFC 3720', () => {
  assert.equal(checksum('CRC32C', Buffer.alloc(32)).readUInt32BE(), 0x8a9136aa)
  assert.equal(checksum('CRC32C', Buffer.alloc(32, 0xff)).readUInt32BE(), 0x62a8ab43)
  assert.equal(checksum('CRC32C', Buffer.from([...Array(32).keys()])).readUInt32BE(), 0x46dd794e)
})

test('CRC64NVME of 4 KiB of zeros and of ones are those of the NVM command set specification', () => {
  assert.equal(checksum('CRC64NVME', Buffer.alloc(4096)).toString('hex'), '6482d367eb22b64e')
  assert.equal(checksum('CRC64NVME', Buffer.alloc(4096, 0xff)).toString('hex'), 'c0ddba7302eca3ac')
})

test('nothing has the checksum of nothing', () => {
  assert.equal(checksum('CRC32').toString('base64'), 'AAAAAA==')
  assert.equal(checksum('CRC32C').toString('base64'), 'AAAAAA==')
  assert.equal(checksum('CRC64NVME').toString('base64'), 'AAAAAAAAAAA=')
  assert.equal(checksum('SHA1').toString('hex'), createHash('sha1').digest('hex'))
  assert.equal(checksum('SHA256').toString('hex'), createHash('sha256').digest('hex'))
})

test('any bytes in any chunks have the CRC that the definition gives', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, cut) => {
      for (const name of crcNames) {
        const value = checksum(name, bytes.subarray(0, cut), bytes.subarray(cut)).toString('hex')
        assert.equal(value, slowCrc(name, bytes), name)
      }
    }),
  )
})

test('a chunk larger than the window is the same as its pieces', () => {
  const large = Buffer.alloc(200_003, 'some text of no particular length')
  for (const name of crcNames) {
    const pieces = [large.subarray(0, 1), large.subarray(1, 65_537), large.subarray(65_537)]
    assert.deepEqual(checksum(name, large), checksum(name, ...pieces), name)
    assert.equal(checksum(name, large).toString('hex'), slowCrc(name, large), name)
  }
})

test('a long chunk has the CRC of its short pieces, whatever its length', () => {
  const bytes = createHash('shake256', { outputLength: 600_000 }).digest()
  const lengths = [16_383, 16_384, 16_385, 16_399, 65_536, 262_144, 262_145, 278_527, 278_528, 600_000]
  fc.assert(
    fc.property(fc.nat(600_000), (length) => {
      const long = bytes.subarray(0, length)
      const short = Array.from({ length: Math.ceil(length / 8192) }, (_, n) => long.subarray(n * 8192, (n + 1) * 8192))
      for (const name of crcNames) assert.deepEqual(checksum(name, check, long), checksum(name, check, ...short), name)
    }),
    { examples: lengths.map((length) => [length]), numRuns: 30 },
  )
})

test('two uploads at a time do not disturb each other', () => {
  const one = checksumAlgorithms.CRC64NVME.begin()
  const other = checksumAlgorithms.CRC64NVME.begin()
  one.update(check.subarray(0, 4))
  other.update(Buffer.from('something else'))
  one.update(check.subarray(4))
  assert.equal(one.value().toString('hex'), 'ae8b14860a799888')
})

test('the CRC of a whole comes from the CRCs and lengths of its parts', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 6 }), (parts) => {
      for (const name of crcNames) {
        const whole = fullObjectChecksum(
          name,
          parts.map((part) => ({ value: checksum(name, part), sizeBytes: part.length })),
        )
        assert.deepEqual(whole, checksum(name, ...parts), name)
      }
    }),
  )
})

test('lengths above four gibibytes combine right', () => {
  // Five pieces of 2^30 zeros, joined pairwise in two orders.
  for (const name of crcNames) {
    const { combine } = checksumAlgorithms[name]
    assert.ok(combine)
    let piece = checksum(name, Buffer.alloc(1))
    for (let size = 1; size < 2 ** 30; size *= 2) piece = combine(piece, piece, size)
    const two = combine(piece, piece, 2 ** 30)
    const four = combine(two, two, 2 ** 31)
    assert.deepEqual(combine(four, piece, 2 ** 30), combine(piece, four, 2 ** 32), name)
  }
})

test('a composite checksum is that of the parts’ checksums, with their number', () => {
  const parts = [checksum('SHA256', Buffer.from('a')), checksum('SHA256', Buffer.from('b'))]
  const expected = createHash('sha256').update(Buffer.concat(parts)).digest('base64')
  assert.equal(compositeChecksum('SHA256', parts), `${expected}-2`)
})

test('composite checksums of one part are those that Amazon answers', () => {
  // The functional tests of OpenStack Swift, which also run against Amazon.
  assert.equal(compositeChecksum('CRC32', [checksum('CRC32', check)]), '7kxlUA==-1')
  assert.equal(compositeChecksum('CRC32C', [checksum('CRC32C', check)]), 'pzJFoA==-1')
})

test('hashes cannot be combined', () => {
  assert.equal(fullObjectChecksum('SHA256', []), undefined)
})

test('a checksum value must be base64 of the right length, written the usual way', () => {
  assert.ok(decodeChecksum('CRC32', 'y/Q5Jg=='))
  for (const bad of ['', 'y/Q5Jg', 'y/Q5Jg==\n', 'y/Q5Jh==', 'y_Q5Jg==', 'AAAA', 'AAAAAAAAAAA=']) {
    assert.equal(decodeChecksum('CRC32', bad), undefined, bad)
  }
})

test('names of algorithms are read in either case, and prototype members are none', () => {
  assert.equal(findChecksumAlgorithm('crc64nvme'), 'CRC64NVME')
  assert.equal(findChecksumAlgorithm('xxhash3'), 'XXHASH3')
  assert.equal(findChecksumAlgorithm('XXHASH32'), undefined)
  assert.equal(findChecksumAlgorithm('constructor'), undefined)
})

test('a multipart upload takes only the types its algorithm has', () => {
  assert.deepEqual(multipartChecksum(undefined, undefined), { algorithm: 'CRC64NVME', type: 'FULL_OBJECT' })
  assert.deepEqual(multipartChecksum('CRC32', undefined), { algorithm: 'CRC32', type: 'COMPOSITE' })
  assert.deepEqual(multipartChecksum('CRC32C', 'FULL_OBJECT'), { algorithm: 'CRC32C', type: 'FULL_OBJECT' })
  assert.throws(() => multipartChecksum('CRC64NVME', 'COMPOSITE'), { code: 'InvalidRequest' })
  assert.throws(() => multipartChecksum('SHA256', 'FULL_OBJECT'), { code: 'InvalidRequest' })
  assert.deepEqual(multipartChecksum('XXHASH3', undefined), { algorithm: 'XXHASH3', type: 'COMPOSITE' })
  assert.throws(() => multipartChecksum('XXHASH128', 'FULL_OBJECT'), { code: 'InvalidRequest' })
  assert.throws(() => multipartChecksum('XXHASH32', undefined), { code: 'InvalidRequest' })
  assert.throws(() => multipartChecksum(undefined, 'COMPOSITE'), { code: 'InvalidRequest' })
  assert.throws(() => multipartChecksum('CRC32', 'PARTIAL'), { code: 'InvalidRequest' })
})
