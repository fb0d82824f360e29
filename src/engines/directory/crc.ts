/**
 * CRC-32 of bytes that follow one another, from the CRC-32 of each. `zlib.crc32` of the bytes is the cost of a checksum;
 * joining two is a few dozen shifts, whatever their length. So all blocks of a blob are read once for both their own
 * checksums and that of the whole.
 *
 * The polynomials are those of zlib: bit 31 is the coefficient of x^0. What stands before n bytes is multiplied by x^8n
 * modulo the polynomial of the checksum.
 */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000

/** The CRC-32 of `before` followed by `behind`, of which the second has that many bytes. */
export function joinedCrc(before: number, behind: number, behindBytes: number): number {
  return (product(before, shiftOf(behindBytes)) ^ behind) >>> 0
}

let lastBytes = -1
let lastShift = ONE

/** x^8n modulo the polynomial. Blocks have the same length nearly always. */
function shiftOf(bytes: number): number {
  if (bytes !== lastBytes) {
    lastShift = ONE
    // x^8, x^16, x^32 and so on: one for each bit of the length, which may have more than 32.
    let power = 0x00800000
    for (let rest = bytes; rest > 0; rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) lastShift = product(lastShift, power)
      power = product(power, power)
    }
    lastBytes = bytes
  }
  return lastShift
}

function product(a: number, b: number): number {
  let sum = 0
  let shifted = b
  for (let bit = 31; bit >= 0; bit--) {
    if (((a >>> bit) & 1) === 1) sum ^= shifted
    shifted = (shifted & 1) === 1 ? (shifted >>> 1) ^ POLYNOMIAL : shifted >>> 1
  }
  return sum >>> 0
}
