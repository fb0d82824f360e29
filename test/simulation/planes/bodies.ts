/** Bodies that say what they are: whoever reads one knows whether all of it is what was written. */

/** ASCII, the same for the same name. Each second one can be compressed. */
export function bodyOf(name: string, serial: number): string {
  const size = SIZES[serial % SIZES.length] ?? 1
  const head = `${name} ${serial} `
  return head + (serial % 2 === 0 ? 'again '.repeat(size / 6) : noise(serial, size))
}

/** The number of the body that this is, when it is all of it. */
export function serialOf(name: string, body: string): number | undefined {
  const serial = Number(body.slice(0, 200).split(' ')[1])
  return Number.isInteger(serial) && body === bodyOf(name, serial) ? serial : undefined
}

/** In packs and in files of their own. */
const SIZES = [600, 30_000, 90_000, 2000, 300_000]

function noise(seed: number, size: number): string {
  const bytes = Buffer.alloc(Math.ceil((size * 3) / 4))
  let state = seed + 1
  for (let at = 0; at < bytes.length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    bytes[at] = state >>> 24
  }
  return bytes.toString('base64')
}
