import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { checksumAlgorithms } from '../checksums/algorithms.ts'
import {
  ChunkedDecoder,
  chunkLineBytesMax,
  decodeChunked,
  encodeChunked,
  trailerBytesMax,
  trailersMax,
} from './aws-chunked.ts'
import type { ChunkedOptions } from './aws-chunked.ts'
import { sign } from './sign.ts'

const identity = {
  accessKey: 'AKIAIOSFODNN7EXAMPLE',
  secret: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}
const now = new Date('2013-05-24T00:00:00Z')

/** The seed of Amazon's examples: a PUT of 66,560 bytes in chunks of 64 KiB. */
function exampleSigning(payload: string, extra: Record<string, string>): ReturnType<typeof sign> {
  const headers = {
    host: 's3.amazonaws.com',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    'content-encoding': 'aws-chunked',
    'x-amz-decoded-content-length': '66560',
    ...extra,
  }
  return sign({ method: 'PUT', rawPath: '/examplebucket/chunkObject.txt', headers }, identity, now, payload)
}

const plain = exampleSigning('STREAMING-AWS4-HMAC-SHA256-PAYLOAD', { 'content-length': '66824' })
const body = Buffer.alloc(66_560, 'a')
const bodyChunks = [body.subarray(0, 65_536), body.subarray(65_536)]

function decode(pieces: Iterable<Buffer>, options: Partial<ChunkedOptions> & { decodedBytes: number }) {
  const decoder = new ChunkedDecoder({ signing: undefined, trailerNames: undefined, ...options })
  const slices: Buffer[] = []
  for (const piece of pieces) slices.push(...decoder.push(piece))
  decoder.end()
  return { body: Buffer.concat(slices), trailers: Object.fromEntries(decoder.trailers) }
}

function decodeText(text: string, options: Partial<ChunkedOptions> & { decodedBytes: number }) {
  return decode([Buffer.from(text, 'latin1')], options)
}

test('Amazon’s example of signed chunks has the published signatures', () => {
  assert.equal(plain.seedSignature, '4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9')
  const encoded = Buffer.concat([...encodeChunked(bodyChunks, { signing: plain })])
  assert.equal(encoded.length, 66_824)
  assert.deepEqual(encoded.toString('latin1').match(/(?<=chunk-signature=)\w+/g), [
    'ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648',
    '0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497',
    'b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9',
  ])
  assert.deepEqual(decode([encoded], { decodedBytes: 66_560, signing: plain }).body, body)
})

test('Amazon’s example of a signed trailer has the published signatures', () => {
  const signing = exampleSigning('STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', {
    'x-amz-trailer': 'x-amz-checksum-crc32c',
  })
  assert.equal(signing.seedSignature, '106e2a8a18243abcf37539882f36619c00e2dfc72633413f02d3b74544bfeb8e')
  const trailers = { 'x-amz-checksum-crc32c': 'sOO8/Q==' }
  const encoded = Buffer.concat([...encodeChunked(bodyChunks, { signing, trailers })])
  assert.deepEqual(encoded.toString('latin1').match(/(?<=signature[=:])\w+/g), [
    'b474d8862b1487a5145d686f57f013e54db672cee1c953b3010fb58501ef5aa2',
    '1c1344b170168f8e65b41376b44b20fe354e373826ccbbe2c1d40a8cae51e5c7',
    '2ca2aba2005185cf7159c6277faf83795951dd77a3a99e6e65d5c9f85863f992',
    'd81f82fc3505edab99d459891051a732e8730629a2e4a59689829ca17fe2e435',
  ])
  const options = { decodedBytes: 66_560, signing, trailerNames: ['x-amz-checksum-crc32c'] }
  assert.deepEqual(decode([encoded], options), { body, trailers })
  // The way the example writes its trailer: a line feed, then an empty line, after each.
  const asPublished = encoded.toString('latin1').replaceAll(/(sOO8\/Q==|d81f\w+)\r\n/g, '$1\n\r\n')
  assert.deepEqual(decodeText(asPublished, options), { body, trailers })
})

test('unsigned chunks with a trailer are decoded', () => {
  const options = { decodedBytes: 9, trailerNames: ['x-amz-checksum-crc32'] }
  const text = '5\r\n12345\r\n4\r\n6789\r\n0\r\nx-amz-checksum-crc32: y/Q5Jg== \r\n\r\n'
  assert.deepEqual(decodeText(text, options), {
    body: Buffer.from('123456789'),
    trailers: { 'x-amz-checksum-crc32': 'y/Q5Jg==' },
  })
  assert.deepEqual(decodeText('0\r\n\r\n', { decodedBytes: 0, trailerNames: [] }).body, Buffer.alloc(0))
})

test('any body in any chunks, cut into any pieces, comes out as it went in', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 50 }), { maxLength: 6 }),
      fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 10 }),
      fc.boolean(),
      fc.boolean(),
      async (chunks, cuts, isSigned, hasTrailer) => {
        const whole = Buffer.concat(chunks)
        const value = checksumAlgorithms.CRC32.begin().value().toString('base64')
        const trailers = hasTrailer ? { 'x-amz-checksum-crc32': value } : undefined
        const encoded = Buffer.concat([
          ...encodeChunked(
            chunks.map((one) => Buffer.from(one)),
            {
              ...(isSigned ? { signing: plain } : {}),
              ...(trailers === undefined ? {} : { trailers }),
            },
          ),
        ])
        const decoder = new ChunkedDecoder({
          decodedBytes: whole.length,
          signing: isSigned ? plain : undefined,
          trailerNames: hasTrailer ? ['x-amz-checksum-crc32'] : undefined,
        })
        const out: Buffer[] = []
        for await (const slice of decodeChunked(piecesOf(encoded, cuts), decoder)) out.push(slice)
        assert.deepEqual(Buffer.concat(out), whole)
        assert.deepEqual(Object.fromEntries(decoder.trailers), trailers ?? {})
      },
    ),
  )
})

async function* piecesOf(bytes: Buffer, cuts: readonly number[]): AsyncGenerator<Buffer> {
  for (let at = 0, n = 0; at < bytes.length; n += 1) {
    const size = cuts[n % cuts.length] ?? 1
    yield bytes.subarray(at, at + size)
    at += size
  }
}

test('one flipped bit in a signed body never changes what is stored', () => {
  const chunks = [Buffer.from('the quick brown fox'), Buffer.from('jumps')]
  const trailers = { 'x-amz-checksum-crc32c': 'sOO8/Q==' }
  const options = { decodedBytes: 24, signing: plain, trailerNames: Object.keys(trailers) }
  const encoded = Buffer.concat([...encodeChunked(chunks, { signing: plain, trailers })])
  const unharmed: string[] = []
  for (let bit = 0; bit < encoded.length * 8; bit += 1) {
    const tampered = Buffer.from(encoded)
    tampered[bit >> 3] = (tampered[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    try {
      const decoded = decode([tampered], options)
      assert.deepEqual(decoded, { body: Buffer.concat(chunks), trailers })
      unharmed.push(tampered.toString('latin1', bit >> 3, (bit >> 3) + 1))
    } catch (error) {
      assert.ok('code' in (error as object), String(error))
      assert.notEqual((error as { code: string }).code, 'ERR_ASSERTION')
    }
  }
  // What may change without harm is how lines end and whether trailer names are capitals.
  assert.ok(
    unharmed.every((letter) => /[\sA-Z]/.test(letter)),
    JSON.stringify(unharmed),
  )
})

test('a body cut short anywhere is IncompleteBody, signed or not, with a trailer or without', () => {
  for (const signing of [undefined, plain]) {
    for (const trailers of [undefined, { 'x-amz-checksum-crc32c': 'sOO8/Q==' }]) {
      const options = { decodedBytes: 5, signing, trailerNames: trailers && Object.keys(trailers) }
      const encoded = Buffer.concat([
        ...encodeChunked([Buffer.from('jumps')], {
          ...(signing === undefined ? {} : { signing }),
          ...(trailers === undefined ? {} : { trailers }),
        }),
      ])
      assert.deepEqual(decode([encoded], options).body, Buffer.from('jumps'))
      for (let length = 0; length < encoded.length; length += 1) {
        const cut = encoded.subarray(0, length)
        assert.throws(() => decode([cut], options), { code: 'IncompleteBody', status: 400 }, cut.toString('latin1'))
      }
    }
  }
})

/** The bytes and trailers that come out, or the code of the error. */
function outcomeOf(pieces: readonly Buffer[], options: ChunkedOptions): unknown {
  try {
    return decode(pieces, options)
  } catch (failure) {
    return (failure as { code: string }).code
  }
}

/** The coding as one expression, for a body that is there as a whole. The stream must agree with it. */
function decodeWhole(text: string, decodedBytes: number, trailerName: string): unknown {
  let body = ''
  let rest = text
  for (;;) {
    const [line = '', digits] = /^([0-9a-f]{1,12})\r\n/i.exec(rest) ?? []
    const size = Number.parseInt(digits ?? '', 16)
    if (digits === undefined || body.length + size > decodedBytes) return 'IncompleteBody'
    rest = rest.slice(line.length)
    if (size === 0) break
    body += rest.slice(0, size)
    if (rest.slice(size, size + 2) !== '\r\n') return 'IncompleteBody'
    rest = rest.slice(size + 2)
  }
  if (body.length < decodedBytes) return 'IncompleteBody'
  const lines = rest
    .split('\n')
    .slice(0, -1)
    .map((line) => line.trim())
  const named = lines.filter((line) => line !== '')
  const isReadable = named.every((line) => /^[a-z0-9-]{1,100}:[ \t]*[\x20-\x7e]*$/i.test(line))
  const names = named.map((line) => line.slice(0, line.indexOf(':')).toLowerCase())
  if (!isReadable || new Set(names).size < names.length) return 'MalformedTrailerError'
  if (lines.at(-1) !== '' || !rest.endsWith('\n')) return 'IncompleteBody'
  if (names.join() !== trailerName) return 'MalformedTrailerError'
  const value = named[0]?.slice(trailerName.length + 1).trim() ?? ''
  return { body: Buffer.from(body, 'latin1'), trailers: { [trailerName]: value } }
}

test('random unsigned bodies, in any pieces, come out or are refused as the coding says', () => {
  const trailerName = 'x-amz-checksum-crc32'
  const lawful = ['5\r\nhello\r\n', '1\r\n:\r\n', '0\r\n', `${trailerName}:AAAAAA==\r\n`, '\r\n']
  const broken = ['0', '5', 'fff', '\n', '\r', ':', 'hello', 'X:y\r\n', `${trailerName}:\u0001`, '5;chunk-signature=']
  const part = fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...lawful) },
    { weight: 1, arbitrary: fc.constantFrom(...broken) },
    { weight: 1, arbitrary: fc.string({ maxLength: 3 }).map((text) => Buffer.from(text).toString('latin1')) },
  )
  const whole = fc.constant([...lawful.slice(0, 1), ...lawful.slice(2)])
  const parts = fc.oneof(
    fc.array(part, { maxLength: 12 }),
    fc.tuple(whole, fc.array(part, { maxLength: 2 })).map((two) => two.flat()),
  )
  fc.assert(
    fc.property(
      parts,
      fc.constantFrom(0, 1, 5, 6, 10),
      fc.integer({ min: 1, max: 9 }),
      (written, decodedBytes, step) => {
        const text = written.join('')
        const bytes = Buffer.from(text, 'latin1')
        const options = { decodedBytes, signing: undefined, trailerNames: [trailerName] }
        const pieces = Array.from({ length: Math.ceil(bytes.length / step) }, (_, at) =>
          bytes.subarray(at * step, (at + 1) * step),
        )
        const expected = decodeWhole(text, decodedBytes, trailerName)
        assert.deepEqual(outcomeOf([bytes], options), expected, JSON.stringify(text))
        assert.deepEqual(outcomeOf(pieces, options), expected, JSON.stringify(text))
      },
    ),
    { numRuns: 3000 },
  )
})

test('random bytes of a signed body are refused, and never more is decoded than was announced', () => {
  const codes = /^(?:IncompleteBody|MalformedTrailerError|SignatureDoesNotMatch)$/
  const token = fc.constantFrom(
    '0',
    '5',
    ';chunk-signature=',
    'f'.repeat(64),
    '\r\n',
    'hello',
    'x-amz-trailer-signature:',
  )
  fc.assert(
    fc.property(
      fc.array(fc.oneof(token, fc.string({ maxLength: 3 })), { maxLength: 30 }),
      fc.nat(20),
      (parts, bytes) => {
        const decoder = new ChunkedDecoder({ decodedBytes: bytes, signing: plain, trailerNames: [] })
        let decoded = 0
        const failing = (): void => {
          for (const slice of decoder.push(Buffer.from(parts.join('')))) decoded += slice.length
          decoder.end()
        }
        assert.throws(failing, (failure) => codes.test((failure as { code: string }).code))
        assert.ok(decoded <= bytes)
      },
    ),
    { numRuns: 1000 },
  )
})

test('a wrong signature is SignatureDoesNotMatch as soon as its chunk has ended', () => {
  const [line = Buffer.alloc(0), data = Buffer.alloc(0)] = [
    ...encodeChunked([Buffer.from('jumps')], { signing: plain }),
  ]
  const decoder = new ChunkedDecoder({ decodedBytes: 5, signing: plain, trailerNames: undefined })
  decoder.push(line)
  decoder.push(data.subarray(0, 4))
  assert.throws(() => decoder.push(Buffer.from('S')), { code: 'SignatureDoesNotMatch', status: 403 })
})

test('chunks of the same body in another order are refused', () => {
  const [line1, data1, end, line2, data2, ...rest] = [
    ...encodeChunked([Buffer.from('a'), Buffer.from('b')], { signing: plain }),
  ]
  const swapped = Buffer.concat([line2, data2, end, line1, data1, end, ...rest].filter((one) => one !== undefined))
  assert.throws(() => decode([swapped], { decodedBytes: 2, signing: plain }), { code: 'SignatureDoesNotMatch' })
})

test('a body longer or shorter than announced is IncompleteBody', () => {
  assert.throws(() => decodeText('5\r\n12345\r\n0\r\n\r\n', { decodedBytes: 4 }), { code: 'IncompleteBody' })
  assert.throws(() => decodeText('5\r\n12345\r\n0\r\n\r\n', { decodedBytes: 6 }), { code: 'IncompleteBody' })
  assert.throws(() => decodeText('fffffffffff\r\n', { decodedBytes: 6 }), { code: 'IncompleteBody' })
})

test('what is not a chunk is IncompleteBody', () => {
  const bad = [
    'x\r\n',
    '\r\n',
    '-1\r\n',
    ' 5\r\n12345\r\n',
    '5\n12345\r\n',
    '5;a=b\r\n12345\r\n',
    '5\r\n123456\r\n',
    '0'.repeat(13) + '\r\n',
  ]
  for (const text of bad) assert.throws(() => decodeText(text, { decodedBytes: 5 }), { code: 'IncompleteBody' }, text)
  assert.throws(() => decodeText('5\r\n12345\r\n', { decodedBytes: 5, signing: plain }), { code: 'IncompleteBody' })
})

test('a line that does not end is refused before it fills the memory', () => {
  const decoder = new ChunkedDecoder({ decodedBytes: 5, signing: undefined, trailerNames: undefined })
  decoder.push(Buffer.alloc(chunkLineBytesMax, '0'))
  assert.throws(() => decoder.push(Buffer.from('0')), { code: 'IncompleteBody' })
})

test('trailers must be announced, once each, well-formed and within bounds', () => {
  const options = { decodedBytes: 0, trailerNames: ['x-amz-checksum-crc32'] }
  const bad = [
    '\r\n',
    'x-amz-checksum-crc32c:AAAAAA==\r\n\r\n',
    'x-amz-checksum-crc32:a\r\nx-amz-checksum-crc32:a\r\n\r\n',
    'x-amz-checksum-crc32\r\n\r\n',
    'x-amz-checksum-crc32:\u0001\r\n\r\n',
    `${Array.from({ length: trailersMax + 1 }, (_, n) => `x-amz-checksum-${n}:a\r\n`).join('')}\r\n`,
    '\r\n'.repeat(trailerBytesMax),
  ]
  for (const text of bad)
    assert.throws(() => decodeText(`0\r\n${text}`, options), { code: 'MalformedTrailerError' }, text.slice(0, 60))
  const unannounced = { decodedBytes: 0, trailerNames: [] }
  assert.throws(() => decodeText('0\r\na:b\r\n\r\n', unannounced), { code: 'MalformedTrailerError' })
  assert.throws(() => decodeText('0\r\na:b\r\n\r\n', { decodedBytes: 0 }), { code: 'IncompleteBody' })
})

test('a signed trailer whose signature is missing or cannot be read is IncompleteBody, another trailer malformed', () => {
  const trailers = { 'x-amz-checksum-crc32c': 'sOO8/Q==' }
  const options = { decodedBytes: 5, signing: plain, trailerNames: Object.keys(trailers) }
  const encoded = Buffer.concat([...encodeChunked([Buffer.from('jumps')], { signing: plain, trailers })])
  const text = encoded.toString('latin1')
  for (const bad of [
    text.replace(/x-amz-trailer-signature:\w+\r\n/, ''),
    text.replace('x-amz-trailer-signature', 'x-amz-trailer'),
    text.replace(/(?<=x-amz-trailer-signature:)\w/, ''),
    text.replace('sOO8/Q==\r\n', 'sOO8/Q==\r'),
    `${text}more\r\n`,
  ]) {
    assert.throws(() => decodeText(bad, options), { code: 'IncompleteBody' }, bad)
  }
  const other = { ...options, trailerNames: ['x-amz-checksum-sha1'] }
  assert.throws(() => decode([encoded], other), { code: 'MalformedTrailerError' })
})

test('decoded bytes are slices of what was pushed', () => {
  const piece = Buffer.from('5\r\n12345\r\n0\r\n\r\n')
  const [slice] = new ChunkedDecoder({ decodedBytes: 5, signing: undefined, trailerNames: undefined }).push(piece)
  assert.equal(slice?.buffer, piece.buffer)
})
