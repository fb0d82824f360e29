import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { checksumAlgorithms } from './algorithms.ts'
import { xxhashDigests } from './xxhash.ts'

const names = ['XXHASH64', 'XXHASH3', 'XXHASH128'] as const
type Name = (typeof names)[number]

function hash(name: Name, ...chunks: readonly Uint8Array[]): string {
  const digest = xxhashDigests[name]()
  for (const chunk of chunks) digest.update(chunk)
  return digest.value().toString('hex')
}

test('values are those that Amazon’s SDK for C++ expects in the headers', () => {
  // aws-sdk-cpp, ChecksumInterceptorTest.
  const expected = { XXHASH64: 'gpWjYMLp9XA=', XXHASH3: '9RrF7krhuOI=', XXHASH128: 'AW5DBY+18wW7VuSsFyNFAg==' }
  for (const name of names) {
    const digest = checksumAlgorithms[name].begin()
    digest.update(Buffer.from('Memento Mori'))
    assert.equal(digest.value().toString('base64'), expected[name], name)
  }
})

test('values of lengths on both sides of every branch are those of libxxhash 0.8.1', () => {
  const text = Buffer.from(Array.from({ length: 70_000 }, (_, i) => i * i * 7 + Math.floor(i / 3)))
  for (const [sizeBytes, ...values] of reference) {
    for (const [at, name] of names.entries()) {
      assert.equal(hash(name, text.subarray(0, sizeBytes)), values[at], `${name} of ${sizeBytes} bytes`)
    }
  }
})

test('any bytes have the same value in any chunks', () => {
  const chunks = fc.array(fc.uint8Array({ maxLength: 700 }), { maxLength: 5 })
  fc.assert(
    fc.property(chunks, (pieces) => {
      for (const name of names) assert.equal(hash(name, ...pieces), hash(name, Buffer.concat(pieces)), name)
    }),
  )
})

test('digests that take turns in any order do not disturb each other', () => {
  const turns = fc.array(fc.record({ who: fc.nat(5), chunk: fc.uint8Array({ maxLength: 700 }), ends: fc.boolean() }), {
    maxLength: 40,
  })
  fc.assert(
    fc.property(turns, (order) => {
      for (const name of names) {
        const open = new Map<number, { digest: ReturnType<(typeof xxhashDigests)[Name]>; chunks: Uint8Array[] }>()
        const end = (who: number): void => {
          const one = open.get(who)
          if (one === undefined) return
          assert.equal(one.digest.value().toString('hex'), hash(name, Buffer.concat(one.chunks)), name)
          open.delete(who)
        }
        for (const { who, chunk, ends } of order) {
          const one = open.get(who) ?? { digest: xxhashDigests[name](), chunks: [] }
          open.set(who, one)
          one.digest.update(chunk)
          one.chunks.push(chunk)
          if (ends) end(who)
        }
        for (const who of open.keys()) end(who)
      }
    }),
  )
})

const reference = [
  [0, 'ef46db3751d8e999', '2d06800538d394c2', '99aa06d3014798d86001c324468d497f'],
  [1, 'e934a84adb052768', 'c44bdff4074eecdb', 'a6cd5e9392000f6ac44bdff4074eecdb'],
  [3, '2df787a32136c8e8', 'c18747dd6a92c907', 'ea71935c563c9d19c18747dd6a92c907'],
  [8, '958d76337957992d', 'fcebd701dfecbc13', 'e96d23ba1b5f4d852de278c71dc28bac'],
  [16, '6c5a79a73b9d404f', 'e087db3d5d03ae53', '1c5185e31b9d3423f0c8618630aad25b'],
  [17, '5097e8711e170eb5', '97fc5e49160a44f7', '1309136a07a4e0668d2a8ef7781391ad'],
  [128, '8b5953f24d537c72', 'e7e694cc41fed4a6', '96cb6743acfa25d74e9e6660b65403d3'],
  [129, '1ac122dd3c3244fa', '813fd953c2ae6c62', '94001dadf97c0916c875a635bfbc1072'],
  [240, '554fb3856d132e6f', '9ec48d06749fd3cd', '7a50b88b78e71f741f8aeb753db65731'],
  [241, 'c2ceccbb6ca53fa5', '7822064bc3b1053e', '8e4d8c735f1e67497822064bc3b1053e'],
  [1024, 'fd2b10ce8a81466e', 'e7ba1bc9411738a8', '82c583f590c509b9e7ba1bc9411738a8'],
  [1025, '680f238812eda6ac', 'e638fd088dcf92f5', 'dea25e0d5df96bb5e638fd088dcf92f5'],
  [65_536, 'e118b4cee92d4ce4', 'a66283a0f3ace259', '0395421c41316d64a66283a0f3ace259'],
  [70_000, '59b650ecdfc6670e', '0488e69594358c7d', 'eb4488df736ea2c90488e69594358c7d'],
] as const
