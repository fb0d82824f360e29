import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import { joinedCrc } from './crc.ts'

void test('the joined checksum of two pieces is that of their bytes', () => {
  const bytes = randomBytes(200_000)
  for (const cut of [0, 1, 7, 65_535, 65_536, 131_072, 199_999, 200_000]) {
    const [before, behind] = [bytes.subarray(0, cut), bytes.subarray(cut)]
    assert.equal(joinedCrc(crc32(before), crc32(behind), behind.length), crc32(bytes), String(cut))
  }
})
