import { isIPv4, isIPv6 } from 'node:net'

/**
 * Whether an address lies in a range such as `10.0.0.0/8`, `192.0.2.7` or `2001:db8::/32`. Nothing when the range is none.
 * An IPv4 client of a socket for both families is seen as `::ffff:192.0.2.7`, so all are compared in eight groups of
 * sixteen bits, an IPv4 address as that.
 */
export function addressRange(text: string): ((address: string) => boolean) | undefined {
  const [base = '', length, ...more] = text.split('/')
  const groups = groupsOf(base)
  if (groups === undefined || more.length > 0) return undefined
  const isShort = isIPv4(base)
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return undefined
  const bits = length === undefined ? undefined : Number(length)
  if (bits !== undefined && bits > (isShort ? 32 : 128)) return undefined
  const prefixBits = bits === undefined ? 128 : bits + (isShort ? 96 : 0)
  return (address) => {
    if (address !== lastAddress) {
      lastGroups = groupsOf(address)
      lastAddress = address
    }
    const other = lastGroups
    return other !== undefined && sharePrefix(groups, other, prefixBits)
  }
}

/** The ranges of a policy are asked about the same address one after the other. */
let lastAddress: string | undefined
let lastGroups: readonly number[] | undefined

function sharePrefix(a: readonly number[], b: readonly number[], prefixBits: number): boolean {
  for (let group = 0, left = prefixBits; left > 0; group += 1, left -= 16) {
    const mask = left >= 16 ? 0xffff : (0xffff << (16 - left)) & 0xffff
    if (((a[group] ?? 0) & mask) !== ((b[group] ?? 0) & mask)) return false
  }
  return true
}

function groupsOf(address: string): readonly number[] | undefined {
  if (isIPv4(address)) return [0, 0, 0, 0, 0, 0xffff, ...pairs(address)]
  const zone = address.indexOf('%')
  const plain = zone < 0 ? address : address.slice(0, zone)
  if (!isIPv6(plain)) return undefined
  const [head = '', tail] = plain.split('::')
  const first = readGroups(head)
  if (tail === undefined) return first
  const last = readGroups(tail)
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last]
}

function readGroups(text: string): number[] {
  if (text === '') return []
  return text.split(':').flatMap((group) => (group.includes('.') ? pairs(group) : [Number.parseInt(group, 16)]))
}

function pairs(dotted: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = dotted.split('.').map(Number)
  return [a * 256 + b, c * 256 + d]
}
