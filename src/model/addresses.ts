/** Arithmetic with IP addresses, as numbers of 32 or 128 bits. Texts are such as the kind `address` took. */
export type Family = 'ipv4' | 'ipv6'

export function familyOf(address: string): Family {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

export function bitsOf(family: Family): number {
  return family === 'ipv4' ? 32 : 128
}

export function toNumber(address: string): bigint {
  return familyOf(address) === 'ipv4' ? fromDotted(address) : fromGroups(address)
}

/** The shortest text: of the longest run of zeros in IPv6, the first such is left out. */
export function fromNumber(number: bigint, family: Family): string {
  if (family === 'ipv4') return [24n, 16n, 8n, 0n].map((shift) => String((number >> shift) & 0xffn)).join('.')
  const groups = Array.from({ length: 8 }, (_, at) => ((number >> BigInt(112 - 16 * at)) & 0xffffn).toString(16))
  const runs = [...groups.join(':').matchAll(/(?<![0-9a-f])0(?::0)+(?![0-9a-f])/g)]
  const longest = runs.toSorted((a, b) => b[0].length - a[0].length)[0]
  if (longest === undefined) return groups.join(':')
  const text = groups.join(':')
  return `${text.slice(0, longest.index).replace(/:$/, '')}::${text.slice(longest.index + longest[0].length).replace(/^:/, '')}`
}

/** Whether an address lies in the network that another one with a prefix is in. */
export function isWithin(address: string, network: string, prefixLength: number): boolean {
  const family = familyOf(network)
  if (familyOf(address) !== family) return false
  const shift = BigInt(bitsOf(family) - prefixLength)
  return toNumber(address) >> shift === toNumber(network) >> shift
}

function fromDotted(address: string): bigint {
  return address.split('.').reduce((sum, octet) => sum * 256n + BigInt(octet), 0n)
}

function fromGroups(address: string): bigint {
  const [head = '', tail] = address.split('::')
  const words = (part: string) => (part === '' ? [] : part.split(':').map((group) => BigInt(`0x${group}`)))
  const [first, last] = [words(head), words(tail ?? '')]
  const between = tail === undefined ? [] : Array.from({ length: 8 - first.length - last.length }, () => 0n)
  return [...first, ...between, ...last].reduce((sum, group) => sum * 65_536n + group, 0n)
}
