/**
 * The bytes of a block of samples:
 *
 *     01                    the format
 *     05 0342 ...           one sample: its slot, a mask of what is not 0, and those numbers
 *
 * All are variable-length integers, seven bits a byte, the lowest first. Bit 0 of the mask is the time covered (in
 * milliseconds; only the row that tells which samples were taken has it), bit n + 1 is the n-th of `FIGURES`. An idle
 * sample of that row takes 4 bytes, a sample of reads and writes some 25.
 */
import { FIGURES, type Growth } from './figures.ts'

const FORMAT = 1

export interface Sample {
  readonly slot: number
  readonly coveredMs: number
  readonly growth: Growth
}

export function encodeSamples(samples: readonly Sample[]): Uint8Array {
  const bytes: number[] = [FORMAT]
  for (const { slot, coveredMs, growth } of samples) {
    const numbers = [coveredMs, ...growth].map((value) => Math.max(0, Math.round(value)))
    writeInteger(bytes, slot)
    writeInteger(
      bytes,
      numbers.reduce((mask, value, at) => (value === 0 ? mask : mask | (1 << at)), 0),
    )
    for (const value of numbers) if (value !== 0) writeInteger(bytes, value)
  }
  return Uint8Array.from(bytes)
}

/** What cannot be read is as if it had not been measured: a history is no reason to fail. */
export function decodeSamples(bytes: Uint8Array | undefined): Sample[] {
  const samples: Sample[] = []
  if (bytes === undefined || bytes[0] !== FORMAT) return samples
  const at = { byte: 1 }
  while (at.byte < bytes.length) {
    const slot = readInteger(bytes, at)
    const mask = readInteger(bytes, at)
    const [coveredMs = 0, ...growth] = Array.from({ length: FIGURES.length + 1 }, (_, bit) =>
      (mask & (1 << bit)) === 0 ? 0 : readInteger(bytes, at),
    )
    samples.push({ slot, coveredMs, growth })
  }
  return samples
}

function writeInteger(bytes: number[], value: number): void {
  let rest = value
  while (rest >= 128) {
    bytes.push((rest % 128) + 128)
    rest = Math.floor(rest / 128)
  }
  bytes.push(rest)
}

function readInteger(bytes: Uint8Array, at: { byte: number }): number {
  let value = 0
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes[at.byte++] ?? 0
    value += (byte % 128) * scale
    if (byte < 128) return value
  }
}
