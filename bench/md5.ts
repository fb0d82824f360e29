/**
 * What MD5 of bodies costs: OpenSSL, one lane of WebAssembly, and four lanes with four to one bodies in them. Megabytes in a
 * second of the thread, copies into the memory of WebAssembly included, and as a ratio to OpenSSL. Ways take turns, so that
 * all are slowed alike by what else the machine does; the median of the rounds counts.
 *
 *     node_modules/.bin/node bench/md5.ts [--rounds 25] [--mib 48]
 */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { assembleMd5, blockBytes, laneBytes, lanes, stateWord, statesWord, windowStart } from './md5-lanes.ts'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '25' }, mib: { type: 'string', default: '48' } },
})
const rounds = Number(values.rounds)
const bytesPerRound = Number(values.mib) * 2 ** 20
/** Until the compiler has done its best. */
const WARM_UP_ROUNDS = 5
/** As many as make whole groups of four, three, two and one; when they are large, more than lie in a core's caches. */
const PIECES = 12

const { one, four, memory } = assembleMd5()
const bytes = new Uint8Array(memory.buffer)
verify()

console.log(
  `MB in a second of a processor, pieces of      ${['OpenSSL', 'one lane', ...bodiesOf([4, 3, 2, 1])].join('   ')}`,
)
for (const pieceBytes of [2 ** 16, 2 ** 18, 2 ** 20]) {
  const pieces = Array.from({ length: PIECES }, () => randomBytes(pieceBytes))
  const rates = measure(pieces)
  const [openssl = 1] = rates
  const shown = rates.map((rate) => `${rate.toFixed(0)} (${(rate / openssl).toFixed(2)})`)
  console.log(`${String(pieceBytes / 1024).padStart(41)} KiB   ${shown.join('   ')}`)
}

function bodiesOf(numbers: readonly number[]): string[] {
  return numbers.map((number) => `four lanes, bodies: ${number}`)
}

function measure(pieces: readonly Buffer[]): number[] {
  const hashes = Array.from({ length: lanes }, () => createHash('md5'))
  const ways: (() => void)[] = [
    () => pieces.forEach((piece, at) => hashes[at % lanes]?.update(piece)),
    () => pieces.forEach((piece) => inLanes([piece], one)),
    ...[4, 3, 2, 1].map((bodies) => () => {
      for (let at = 0; at < PIECES; at += bodies) inLanes(pieces.slice(at, at + bodies), four)
    }),
  ]
  const rates = ways.map((): number[] => [])
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    for (const [at, way] of ways.entries()) {
      const rate = rateOf(pieces, way)
      if (round >= 0) rates[at]?.push(rate)
    }
  }
  return rates.map((each) => each.toSorted((a, b) => a - b)[each.length >> 1] ?? 0)
}

function rateOf(pieces: readonly Buffer[], way: () => void): number {
  const before = process.threadCpuUsage()
  let done = 0
  while (done < bytesPerRound) {
    way()
    for (const { length } of pieces) done += length
  }
  const { user, system } = process.threadCpuUsage(before)
  return done / (user + system)
}

/** As far as the windows go, again and again. */
function inLanes(pieces: readonly Buffer[], digest: (blocks: number) => void): void {
  const length = pieces[0]?.length ?? 0
  for (let at = 0; at < length; at += laneBytes) {
    for (const [lane, piece] of pieces.entries()) {
      bytes.set(piece.subarray(at, at + laneBytes), windowStart + lane * laneBytes)
    }
    digest(laneBytes / blockBytes)
  }
}

/** What is measured computes MD5. */
function verify(): void {
  const pieces = Array.from({ length: lanes }, () => randomBytes(4 * laneBytes))
  // RFC 1321, 3.3, and the padding of 3.1 and 3.2.
  const start = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]
  const padding = Buffer.alloc(blockBytes)
  padding[0] = 0x80
  padding.writeBigUInt64LE(BigInt(4 * laneBytes * 8), blockBytes - 8)
  const words = new Uint32Array(memory.buffer)
  for (const [n, word] of start.entries()) {
    words.fill(word, statesWord + n * lanes, statesWord + (n + 1) * lanes)
    words[stateWord + n] = word
  }
  inLanes(pieces, four)
  for (let lane = 0; lane < lanes; lane++) bytes.set(padding, windowStart + lane * laneBytes)
  four(1)
  inLanes(pieces.slice(0, 1), one)
  bytes.set(padding, windowStart)
  one(1)
  for (const [lane, piece] of pieces.entries()) {
    const state = [0, 1, 2, 3].map((n) => words[statesWord + n * lanes + lane] ?? 0)
    assert.deepEqual(Buffer.from(Uint32Array.from(state).buffer), createHash('md5').update(piece).digest())
  }
  const state = Buffer.from(words.slice(stateWord, stateWord + start.length).buffer)
  assert.deepEqual(
    state,
    createHash('md5')
      .update(pieces[0] ?? '')
      .digest(),
  )
}
